"""The background process that learns from sessions that ended: one at a time, at low priority, until none is left."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from seasoned.app.learn import EndedSession, learn
from seasoned.app.stores import own_store
from seasoned.background import lower_priority
from seasoned.config import Config, command_environment, load
from seasoned.connect.agent import AGENTS
from seasoned.errors import CannotDo, SeasonedError, StoreError
from seasoned.file_lock import locked
from seasoned.history.discover import homes as known_homes
from seasoned.hooks.ended import set_read
from seasoned.hooks.event import log
from seasoned.hooks.reviewer import count_new, link_skills
from seasoned.learn_queue import lock_path, take, waiting

_LOCK_SECONDS = 0.5
# How many levels above a session's file the histories begin: Codex has folders for year, month and day.
_LEVELS = {"claude-code": 1, "codex": 4, "gemini": 1, "qwen": 1}


class EndNote(msgspec.Struct, frozen=True):
    """What is to be learned from, as it was written down."""

    kind: str
    at: float = 0.0
    agent: str = ""
    session: str = ""
    path: str = ""
    reviews: str = ""  # `no` if the agent was connected without them


def main() -> None:
    """Learn until nothing waits. If another process is learning already, it will take these sessions too."""
    # Not in the project: nothing may be written there, and its folder may be deleted meanwhile.
    os.chdir(os.path.sep)
    lower_priority()
    found = load({**command_environment(), "SEASONED_HOME": sys.argv[1]})
    # One process reads: it may take longer, and should not be noticed.
    config = msgspec.structs.replace(found, workers=1)
    # No one sees what this process prints. What was not learned from waits for the next end of a session.
    sys.excepthook = lambda kind, error, trace: log(config.home, f"learning failed: {error!r}")
    learn_all(config)


def learn_all(config: Config) -> int:
    """Learn from all that waits; returns how many ends of turns and sessions that were."""
    home, done = str(config.home), 0
    # Asked again after the lock is free: who found it held relies on that.
    while waiting(home):
        with ExitStack() as held:
            try:
                held.enter_context(locked(Path(lock_path(home)), wait_seconds=_LOCK_SECONDS))
            except CannotDo:
                return done
            done += _take_all(config, [take(path) for path in waiting(home)])
    return done


def _take_all(config: Config, files: Sequence[str]) -> int:
    notes = [one for path in files if (one := _read(config, path)) is not None]
    _learn(config, notes)
    # Only now: a process that was killed before leaves them to the next one.
    for path in files:
        Path(path).unlink(missing_ok=True)
    return len(notes)


def _read(config: Config, path: str) -> EndNote | None:
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=EndNote)
    except (OSError, msgspec.DecodeError) as error:
        log(config.home, f"the end of a session cannot be read: {error}")
        return None


def _learn(config: Config, notes: Sequence[EndNote]) -> None:
    everything = any(one.kind == "everything" for one in notes)
    # Neighbours are read too: a session that was killed reports no end.
    roots = {_root(config, one) for one in notes if one.path}
    # Some agents do not say where the session is stored: then all of their sessions are checked.
    unplaced = {one.agent for one in notes if not one.path and one.agent}
    roots |= {str(path) for agent, path in known_homes(config) if agent in unplaced and path.exists()}
    begun = time.time()
    try:
        learn(
            config,
            None if everything else sorted(map(Path, roots)),
            ended=[EndedSession(one.agent, one.session, one.at) for one in notes if one.kind == "session"],
            reads=everything or bool(roots),
            # Hermes' conversations may go on for months: the guard must not wait for their end.
            rebuilds=any(one.kind != "turn" or one.agent == "hermes" for one in notes),
        )
    except StoreError:
        raise
    except SeasonedError as error:
        # The file is not a history: trying again would not help.
        log(config.home, f"nothing was learned: {error}")
    if not {"line", "correction", "rule"}.isdisjoint(config.inbox_accepts):
        # Imported here: by default a person decides about these.
        from seasoned.app.inbox import accept_by_setting

        with own_store(config) as store:
            accept_by_setting(config, store)
    if everything:
        set_read(str(config.home), begun)
    ended = [one for one in notes if one.kind in ("turn", "session") and one.reviews != "no" and one.agent in AGENTS]
    # Two notes of one session are counted once.
    for agent, session in dict.fromkeys((one.agent, one.session) for one in ended):
        count_new(config, agent, session)
    link_skills(config)


def _root(config: Config, one: EndNote) -> str:
    """The folder of the agent's histories that holds the file, or the file alone if it is elsewhere."""
    above = [Path(one.path), *Path(one.path).parents]
    root = str(above[: _LEVELS.get(one.agent, 0) + 1][-1])
    homes = [str(path) for _, path in known_homes(config)]
    return root if any(f"{root}{os.sep}".startswith(f"{home}{os.sep}") for home in homes) else one.path


if __name__ == "__main__":
    main()
