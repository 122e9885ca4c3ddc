"""Reviews sessions of connected agents in the background: counts their turns and calls, and reviews those that are due.

The process that learns from ended sessions counts, and writes a file for each session that is due. This module, run as
a program, is the process that reviews them: one at a time, at low priority, until none is left.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from seasoned.app.stores import find_source, store_or_empty
from seasoned.atomic_write import digest, make_private_folder, write_atomic
from seasoned.background import lower_priority, start
from seasoned.config import Config, command_environment, load
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import link_skills_of, reviewing_python
from seasoned.errors import CannotDo, NotFound, SourceError, UsageError
from seasoned.file_lock import locked
from seasoned.hooks.event import log
from seasoned.review.due import ReviewCount, is_due, reviewer_of, settings_of

_MOST_SESSIONS = 200
_LOCK_SECONDS = 2.0


class _CountedSession(msgspec.Struct, frozen=True):
    """How much of a session has been counted."""

    turns: int = 0
    calls: int = 0


class _AgentCount(msgspec.Struct, frozen=True):
    """Turns and calls of an agent since its last review."""

    count: ReviewCount = ReviewCount()
    seen: dict[str, _CountedSession] = {}


class DueSession(msgspec.Struct, frozen=True):
    """A session that is due for a review."""

    agent: str
    session: str


def count_new(config: Config, agent: str, session: str) -> None:
    """Count what is new in a session that was learned from, and start a review of it if one is due."""
    if reviewer_of(config, agent) is None:
        return
    folder = review_folder(config)
    make_private_folder(config.home)
    make_private_folder(folder)
    try:
        with locked(folder / f".{agent}.lock", wait_seconds=_LOCK_SECONDS):
            due = _count(config, agent, session)
    except CannotDo:
        return  # another process is counting at this moment
    if due:
        data = msgspec.json.encode(DueSession(agent, session))
        write_atomic(folder / f"{digest(f'{agent}:{session}')[:16]}.due", data, unfinished=folder / ".unfinished")
        # Detached, so that learning does not wait for it.
        start("seasoned.hooks.reviewer", str(config.home))


def review_folder(config: Config) -> Path:
    """The folder with a file for each session that is due."""
    return config.home / "connect" / ".review"


def _count(config: Config, agent: str, session: str) -> bool:
    file = review_folder(config) / f"{agent}.json"
    known = _load(file)
    seen = known.seen.get(session, _CountedSession())
    now = _read_count(config, agent, session, seen)
    added = (max(0, now.turns - seen.turns), max(0, now.calls - seen.calls))
    count = ReviewCount(known.count.turns + added[0], known.count.calls + added[1])
    due = is_due(count, settings_of(config))
    if due:
        count = ReviewCount()
    others = {name: one for name, one in known.seen.items() if name != session}
    kept = dict([*others.items(), (session, now)][-_MOST_SESSIONS:])
    write_atomic(file, msgspec.json.encode(_AgentCount(count, kept)), unfinished=file.parent / ".unfinished")
    return due


def _load(file: Path) -> _AgentCount:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_AgentCount)
    except (OSError, msgspec.DecodeError):
        return _AgentCount()


def _read_count(config: Config, agent: str, session: str, seen: _CountedSession) -> _CountedSession:
    """The turns and calls of a session in the store."""
    try:
        with store_or_empty(config) as store:
            found = find_source(store, f"{agent}:{session}")
    except (NotFound, SourceError, UsageError):
        return seen  # it has no message yet, or was forgotten
    # What a sub-agent did is part of the session that started it.
    if found.relation == "subagent":
        return seen
    said = [one for one in found.messages if not (one.summary or one.synthetic)]
    return _CountedSession(sum(one.role == "user" for one in said), sum(1 for _ in found.calls()))


_SECONDS = 3600.0
_SAID_CHARS = 500


def main() -> None:
    """Review until nothing is due. If another process is reviewing already, it takes this session too."""
    config = load({**command_environment(), "SEASONED_HOME": sys.argv[1]})
    lower_priority()
    with suppress(CannotDo):
        review_all(config)


def review_all(config: Config) -> int:
    """Review the sessions that are due; returns their number."""
    folder = review_folder(config)
    done = 0
    while waiting := sorted(folder.glob("*.due"), key=_age):
        # Held for one session at a time, so that the next round sees sessions that were added.
        with locked(folder / ".reviewing.lock", wait_seconds=0):
            done += _take(config, waiting[0])
    return done


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0  # another process took it a moment ago


def _take(config: Config, path: Path) -> int:
    try:
        due = msgspec.json.decode(path.read_bytes(), type=DueSession)
    except FileNotFoundError:
        return 0  # another process took it
    except (OSError, msgspec.DecodeError) as error:
        path.unlink(missing_ok=True)
        log(config.home, f"a due session cannot be read: {error}")
        return 0
    # Before the review: one that kills this process must not be restarted again and again.
    path.unlink(missing_ok=True)
    log(config.home, f"review of {due.agent}:{due.session}: {_review(config, due)}")
    link_skills(config)
    return 1


def _review(config: Config, due: DueSession) -> str:
    """The output of the command that reviews."""
    reference = f"{due.agent}:{due.session}"
    try:
        # Hermes' environment has the plugin, but rarely the libraries that call models.
        python = reviewing_python(due.agent, home=config.home) or sys.executable
    except CannotDo as error:
        return str(error)
    command = [python, "-P", "-m", "seasoned.cli.main", "review", reference]
    try:
        done = subprocess.run(
            command,
            env={**command_environment(), "SEASONED_HOME": str(config.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return " ".join((done.stderr or done.stdout).split())[:_SAID_CHARS] or f"exit code {done.returncode}"


def link_skills(config: Config) -> None:
    """Link skills that a review wrote into the folders of connected agents."""
    for agent in AGENTS:
        try:
            link_skills_of(agent, home=config.home)
        except CannotDo as error:
            log(config.home, str(error))


if __name__ == "__main__":
    main()
