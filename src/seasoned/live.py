"""Follows running sessions: which history files change, the calls they add with verdicts, and failing streaks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import Event

import msgspec

from seasoned.history.discover import DATABASES, candidates
from seasoned.project import name_of, project_of
from seasoned.scan.file_reader import FileReader
from seasoned.scan.intent import users_words
from seasoned.scan.rows import CallRow, FileJob, SessionRows
from seasoned.scan.title import title_of_words
from seasoned.session import Session

_LOOK_SECONDS = 0.4
# Looking at every file takes at most this share of the time.
_SHARE_OF_TIME = 0.05


def changed_files(paths: Sequence[Path], stop: Event, *, since: float) -> Iterator[list[str]]:
    """Yield the files that changed since a time, the latest first; then those that changed since the last yield.

    It yields at least every half second, often an empty list, until `stop` is set; with very many files less often.
    """
    seen = _state(paths)
    recent = [path for path, (_, at) in seen.items() if at >= since * 1e9]
    yield sorted(recent, key=lambda path: -seen[path][1])
    wait = _LOOK_SECONDS
    while not stop.wait(wait):
        begun = time.monotonic()
        now = _state(paths)
        wait = max(_LOOK_SECONDS, (time.monotonic() - begun) / _SHARE_OF_TIME)
        yield [path for path, state in now.items() if seen.get(path) != state]
        seen = now


def _state(paths: Sequence[Path]) -> dict[str, tuple[int, int]]:
    """The size and the time of every file that could be a history."""
    present = [path for path in paths if path.exists()]
    # What cannot be opened cannot be followed.
    found = candidates(present, named=False, pass_over=lambda path, error: None)
    return {one.path: (one.size, one.mtime_ns) for one in found}


# A session that has been silent for longer is not running, or waits for a person who has left.
RUNNING_SECONDS = 900.0
# This many failures in a row are no accident.
STREAK = 3
_MOST_FILES = 50


class RunningSession(msgspec.Struct, kw_only=True):
    """A session that is being written."""

    agent: str
    native_id: str
    path: str
    title: str = ""
    folder: str | None = None
    project: str | None = None
    model: str | None = None
    relation: str | None = None
    messages: int = 0
    # When its file last changed.
    changed_at: float = 0.0
    calls: dict[int, CallRow] = {}

    @property
    def ref(self) -> str:
        return f"{self.agent}:{self.native_id}"

    @property
    def newest(self) -> list[CallRow]:
        """Its calls, the newest first; one without a result still runs."""
        return [self.calls[position] for position in sorted(self.calls, reverse=True)]

    def count(self, counts_as: str) -> int:
        """How many calls count as this."""
        return sum(one.counts_as == counts_as for one in self.calls.values())

    @property
    def streak(self) -> int:
        """How many calls failed since the last one that worked."""
        return streak_of(call.counts_as for call in self.newest)


def streak_of(newest: Iterable[str]) -> int:
    """How many calls failed since the last one that worked, the newest first; the others say nothing about it."""
    failed = 0
    for counts_as in newest:
        if counts_as == "ok":
            break
        failed += counts_as == "failed"
    return failed


class LiveNews(msgspec.Struct, frozen=True):
    """What one look found: a session, and its calls that began or ended since the last look."""

    session: RunningSession
    calls: tuple[CallRow, ...]
    # The first look at a session, which may have gone on for hours.
    is_first: bool


class LiveReader(FileReader):
    """Reads files as a scan does, and gives a session without a title the words it begins with."""

    def rows(self, session: Session) -> SessionRows:
        """The rows of a session or a stretch of it."""
        rows = super().rows(session)
        if rows.title or session.first_message:
            return rows
        said = [
            self.redactor.text(words) for one in session.messages if one.role == "user" and (words := users_words(one))
        ]
        return msgspec.structs.replace(rows, title=title_of_words(said))


class RunningSessions:
    """The running sessions of some folders. One thread reads; others may look at `running`."""

    def __init__(self, paths: Sequence[Path], reader: FileReader, *, clock: Callable[[], float] = time.time) -> None:
        self._paths = tuple(paths)
        self._reader = reader
        self._clock = clock
        self._jobs: dict[str, FileJob] = {}
        self._sessions: dict[str, RunningSession] = {}

    def follow(self, stop: Event) -> Iterator[list[LiveNews]]:
        """First the sessions that are running now; then what happens, often nothing, until `stop` is set."""
        most: int | None = _MOST_FILES
        for changed in changed_files(self._paths, stop, since=self._clock() - RUNNING_SECONDS):
            yield self.take(changed[:most])
            most = None

    def running(self) -> list[RunningSession]:
        """The sessions that are running, the one that changed last first."""
        since = self._clock() - RUNNING_SECONDS
        found = [one for one in list(self._sessions.values()) if one.changed_at >= since]
        return sorted(found, key=lambda one: -one.changed_at)

    def find(self, ref: str) -> RunningSession | None:
        """A session that was seen running."""
        return self._sessions.get(ref)

    def take(self, paths: Iterable[str]) -> list[LiveNews]:
        """Read what these files have that was not read yet."""
        return [news for path in paths for news in self._read(path)]

    def _read(self, path: str) -> Iterator[LiveNews]:
        found = next(candidates([Path(path)], named=False), None) if os.path.isfile(path) else None  # noqa: PTH113
        if found is None:
            return
        known = self._jobs.get(path)
        job = FileJob(path, found.size, found.mtime_ns, named=False)
        if known is not None:
            job = msgspec.structs.replace(
                job, format=known.format, resume=known.resume, check_digest=known.check_digest, stamps=known.stamps
            )
        changed_at = found.mtime_ns / 1e9
        for batch in self._reader.read(job):
            for rows in batch.sessions:
                # A database has sessions of years; at the first look those that ended long ago are not news.
                is_old = path.endswith(DATABASES) and (rows.ended or 0.0) < self._clock() - RUNNING_SECONDS
                if known is not None or not is_old:
                    yield self._take_rows(rows, path, changed_at)
            job = msgspec.structs.replace(
                job,
                format=batch.format or None,
                resume=batch.resume or job.resume,
                check_digest=batch.check_digest or job.check_digest,
                stamps=batch.stamps or job.stamps,
            )
        self._jobs[path] = job

    def _take_rows(self, rows: SessionRows, path: str, changed_at: float) -> LiveNews:
        ref = f"{rows.agent}:{rows.native_id}"
        known = self._sessions.get(ref)
        session = known or RunningSession(agent=rows.agent, native_id=rows.native_id, path=path)
        self._sessions[ref] = session
        session.changed_at = max(session.changed_at, changed_at)
        session.messages = max(session.messages, rows.messages)
        session.title = rows.title or session.title
        session.model = rows.model or session.model
        session.relation = rows.relation or session.relation
        if session.folder is None and (rows.cwd or rows.remote or rows.application):
            session.folder = rows.cwd
            found = project_of(rows.cwd, remote=rows.remote, application=rows.application)
            session.project = None if found is None else name_of(found.key)
        changed = [row for row in rows.calls if _state_of(session.calls.get(row.position)) != _state_of(row)]
        session.calls |= {row.position: row for row in changed}
        return LiveNews(session, tuple(changed), is_first=known is None)


def _state_of(call: CallRow | None) -> tuple[str | None, str] | None:
    """What a person follows; what is learned of a call later does not count."""
    return None if call is None else (call.result, call.counts_as)
