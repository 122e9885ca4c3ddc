"""Reviews sessions of connected agents in the background: counts their turns and calls, and reviews those that are due.

The process that learns from ended sessions counts, and writes a file for each session that is due. This module, run as
a program, is the process that reviews them: one at a time, at low priority, until none is left.
"""

from __future__ import annotations

import os
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
from seasoned.connect.apply import linked_folders, reviewing_python
from seasoned.connect.plan import make_links
from seasoned.errors import CannotDo, NotFound, SourceError, UsageError
from seasoned.file_lock import locked
from seasoned.history.reader.hermes_db import added_since, lineage
from seasoned.hooks.log import log
from seasoned.review.due import ReviewCount, Topic, has_model, settings_of, topic_due

# The bytes that mark a call in the agent's history file. Hermes' database is queried instead. Sessions of other agents
# are read again after they were learned from, because not all of them say where a session is stored.
_CALLS: dict[str, tuple[bytes, ...]] = {
    "claude-code": (b'"type":"tool_use"',),
    "codex": (b'"type":"function_call"', b'"type":"custom_tool_call"'),
}
_MOST_BYTES = 50_000_000
_MOST_SESSIONS = 200
_LOCK_SECONDS = 2.0


class _CountedSession(msgspec.Struct, frozen=True):
    """How much of a session has been counted."""

    bytes: int = 0  # of its file; the last message in Hermes' database; where it was read again, its calls
    turn: str = ""  # the last one, by its id; where the session was read again, how many there were


class _AgentCount(msgspec.Struct, frozen=True):
    """Turns and calls of an agent since its last review."""

    count: ReviewCount = ReviewCount()
    seen: dict[str, _CountedSession] = {}


class DueSession(msgspec.Struct, frozen=True):
    """A session that is due for a review."""

    agent: str
    session: str
    path: str  # empty where the store knows it
    topic: Topic


def find_codex_file(config: Config, thread: str) -> Path | None:
    """The file of a session of Codex, by its id."""
    if not thread.replace("-", "").isalnum():
        return None
    found = sorted((config.codex_home / "sessions").glob(f"*/*/*/rollout-*-{thread}.jsonl"))
    return found[-1] if found else None


def is_told(agent: str) -> bool:
    """Whether an agent says where its sessions are stored, so that they are counted before they are learned from."""
    return agent == "hermes" or agent in _CALLS


def count_turn(config: Config, agent: str, session: str, path: Path | None, turn: str) -> bool:
    """Count what is new in a session, and start a review if one is due; returns whether it was started."""
    if not has_model(config):
        return False
    folder = review_folder(config)
    make_private_folder(config.home)
    make_private_folder(folder)
    try:
        with locked(folder / f".{agent}.lock", wait_seconds=_LOCK_SECONDS):
            topic = _count(config, agent, session, path, turn)
    except CannotDo:
        return False  # another hook is counting at this moment
    if topic is None:
        return False
    due = DueSession(agent, session, str(path or ""), topic)
    data = msgspec.json.encode(due)
    write_atomic(folder / f"{digest(f'{agent}:{session}')[:16]}.due", data, unfinished=folder / ".unfinished")
    begin_reviewing(config)
    return True


def review_folder(config: Config) -> Path:
    """The folder with a file for each session that is due."""
    return config.home / "connect" / ".review"


def begin_reviewing(config: Config) -> None:
    """Start the reviewing process, detached, so that the agent does not wait for it."""
    start("seasoned.hooks.reviewer", str(config.home))


def _count(config: Config, agent: str, session: str, path: Path | None, turn: str) -> Topic | None:
    file = review_folder(config) / f"{agent}.json"
    known = _load(file)
    seen = known.seen.get(session, _CountedSession())
    if path is None:
        turns, calls, size, turn = _added_to_read(config, agent, session, seen)
    elif agent == "hermes":
        turns, calls, size = _added_to_hermes(path, session, seen.bytes)
    else:
        turns = int(bool(turn) and turn != seen.turn)
        calls, size = _calls_since(agent, path, seen.bytes)
    count = ReviewCount(known.count.turns + turns, known.count.calls + calls)
    topic = topic_due(count, settings_of(config))
    if topic is not None:
        count = count.without(topic)
    others = {name: one for name, one in known.seen.items() if name != session}
    kept = dict([*others.items(), (session, _CountedSession(size, turn or seen.turn))][-_MOST_SESSIONS:])
    write_atomic(file, msgspec.json.encode(_AgentCount(count, kept)), unfinished=file.parent / ".unfinished")
    return topic


def _load(file: Path) -> _AgentCount:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_AgentCount)
    except (OSError, msgspec.DecodeError):
        return _AgentCount()


def _added_to_read(config: Config, agent: str, session: str, seen: _CountedSession) -> tuple[int, int, int, str]:
    """The turns and calls that were added to a session in the store, and how many it has."""
    try:
        with store_or_empty(config) as store:
            found = find_source(store, f"{agent}:{session}")
    except (NotFound, SourceError, UsageError):
        return 0, 0, seen.bytes, seen.turn  # it has no message yet, or was forgotten
    said = [one for one in found.messages if not (one.summary or one.synthetic)]
    turns = sum(one.role == "user" for one in said)
    calls = sum(1 for _ in found.calls())
    return max(0, turns - int(seen.turn or 0)), max(0, calls - seen.bytes), calls, str(turns)


def _added_to_hermes(path: Path, session: str, after: int) -> tuple[int, int, int]:
    try:
        # What a sub-agent did is part of the session that started it.
        if lineage(path, session)[1] != "subagent":
            return added_since(path, session, after)
    except SourceError:
        pass  # the database is gone or damaged: nothing can be reviewed
    return 0, 0, after


def _calls_since(agent: str, path: Path, start: int) -> tuple[int, int]:
    """The calls in what was added to a file, and where its last complete line ends."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = file.seek(start if start <= size else 0)
            data = file.read(_MOST_BYTES)
    except OSError:
        return 0, start
    whole = data[: data.rfind(b"\n") + 1]
    return sum(whole.count(mark) for mark in _CALLS[agent]), start + len(whole)


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
    if not has_model(config):
        return 0
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
    words = [reference, *([due.path] if due.path else []), "--topic", due.topic]
    command = [python, "-P", "-m", "seasoned.cli.main", "review", *words]
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
            for folder in linked_folders(agent, home=config.home):
                make_links(folder)
        except CannotDo as error:
            log(config.home, str(error))


if __name__ == "__main__":
    main()
