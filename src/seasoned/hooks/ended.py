"""Stop and SessionEnd: a background process learns from what ended. SessionStart: a new session knows what that taught.

The agent waits for these hooks: an end is only noted, and a start waits a moment for the process that reads.
"""

from __future__ import annotations

import json
import os
import time

from seasoned.environment import home_folder
from seasoned.hooks.dialect import received
from seasoned.learn_queue import begin, folder, is_running, note, waiting
from seasoned.learn_queue import catch_up as finish_waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from seasoned.hooks.event import Agent
    from seasoned.learn_queue import Kind


def stop(agent: Agent, arguments: list[str]) -> int:
    """A turn has ended."""
    return _ended(agent, "turn", arguments)


def session_end(agent: Agent, arguments: list[str]) -> int:
    """A session has ended."""
    return _ended(agent, "session", arguments)


def _ended(agent: Agent, kind: Kind, arguments: list[str]) -> int:
    event: Any = json.loads(received())
    # The end of a sub-agent is not the end of its session. Some agents do not say where its file is.
    has_file = event.get("transcript_path") or agent not in ("claude-code", "codex")
    if event.get("session_id") and has_file and not event.get("agent_id"):
        fields = {"agent": agent, "session": event["session_id"], "path": event.get("transcript_path")}
        if "--no-reviews" in arguments:
            fields["reviews"] = "no"
        home = home_folder()
        note(home, kind, **{name: str(value) for name, value in fields.items() if value})
        begin(home)
    return 0


# How long a start may wait for new sessions to be learned from.
LIMIT_SECONDS = 1.0
# How often all histories of this user are read, also those of agents that are not connected and of killed sessions.
_LOOK_AGAIN_SECONDS = 3600.0
_BEGINS = ("startup", "clear")


def catch_up(home: str, event: bytes) -> None:
    """Wait a moment until sessions that ended are learned from; now and then begin to read everything."""
    begun: Any = json.loads(event)
    if begun.get("source") not in _BEGINS or begun.get("agent_id"):
        return
    if is_running(home) or waiting(home):
        finish_waiting(home, LIMIT_SECONDS)
    elif time.time() - _read_at(home) > _LOOK_AGAIN_SECONDS:
        note(home, "everything")
        begin(home)


def set_read(home: str, at: float) -> None:
    """Remember when everything was read."""
    os.makedirs(folder(home), mode=0o700, exist_ok=True)
    os.close(os.open(_stamp(home), os.O_WRONLY | os.O_CREAT, 0o600))
    os.utime(_stamp(home), (at, at))


def _read_at(home: str) -> float:
    """When everything was read; 0 if it never was."""
    try:
        return os.stat(_stamp(home)).st_mtime
    except OSError:
        return 0.0


def _stamp(home: str) -> str:
    return os.path.join(folder(home), "everything-read")
