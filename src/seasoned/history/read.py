"""Reads every session under a path, each call once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from seasoned.errors import NotFound, SeasonedError, SourceError
from seasoned.history.discover import candidates
from seasoned.history.formats import named, read_file, recognise
from seasoned.session import Session, SessionRef

_RANDOM_LENGTH = 16  # shorter ids are counters and repeat between sessions


def is_unique_id(call_id: str) -> bool:
    """Whether an id is random enough to name one call anywhere: `toolu_01A…`, not `call_1_0`."""
    body = call_id.rpartition("_")[2] or call_id
    return len(body) >= _RANDOM_LENGTH and not body.isalpha() and not body.isdigit()


def without_copies(sessions: Iterable[Session]) -> Iterator[Session]:
    """The sessions with each call only in the first one that has it. Pass them oldest first."""
    seen: set[tuple[str, str]] = set()
    roots: dict[SessionRef, SessionRef] = {}
    for session in sessions:
        root = session.ref
        if session.parent is not None:
            # What continues or forks a session copies its calls, so they share one lineage.
            root = roots.get(session.parent, session.parent)
        roots[session.ref] = root
        yield _first_seen(session, str(root), seen)


def _first_seen(session: Session, root: str, seen: set[tuple[str, str]]) -> Session:
    copied = False
    messages = []
    for message in session.messages:
        kept = []
        for call in message.calls:
            # A short id such as `call_1` names a call only within its lineage.
            key = ("", call.id) if is_unique_id(call.id) else (root, call.id)
            if key not in seen:
                seen.add(key)
                kept.append(call)
        if len(kept) != len(message.calls):
            copied = True
            message = msgspec.structs.replace(message, calls=tuple(kept))
        messages.append(message)
    return msgspec.structs.replace(session, messages=tuple(messages)) if copied else session


def read(path: str | Path) -> Iterator[Session]:
    """Every session of a file, a database or a folder. Other files in a folder are skipped."""
    return read_all([Path(path)])


def read_all(
    paths: Iterable[Path], *, named: bool = True, pass_over: Callable[[str, SeasonedError], None] | None = None
) -> Iterator[Session]:
    """The same for several paths. `pass_over` is given each file that cannot be read; without it, the first raises."""
    return without_copies(_sessions(paths, named, pass_over))


def _sessions(
    paths: Iterable[Path], named_by_user: bool, pass_over: Callable[[str, SeasonedError], None] | None
) -> Iterator[Session]:
    for candidate in candidates(paths, named=named_by_user, pass_over=pass_over):
        file = Path(candidate.path)
        try:
            # A file that the user named must be a history; a folder may hold other JSON files.
            if candidate.named:
                yield from read_file(file)
            elif (module := recognise(file)) is not None:
                yield from named(module).read(file)
        except SourceError as error:
            if pass_over is None:
                raise
            pass_over(candidate.path, error)


def read_one(path: Path, ref: SessionRef) -> Session:
    """The session as its source has it; NotFound says why it is not available."""
    if not path.exists():
        raise NotFound("The file it came from no longer exists.")
    if recognise(path) is None:
        raise NotFound("The file it came from is no longer a history.")
    for session in read_file(path, [ref.native_id]):
        if session.ref == ref:
            return session
    raise NotFound("The file it came from no longer contains it.")
