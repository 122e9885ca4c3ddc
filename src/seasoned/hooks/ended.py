"""Stop and SessionEnd: a turn or session has ended, and a background process learns from it.

The agent waits for these hooks at the end of every turn, so they only note what ended.
"""

from __future__ import annotations

import json

from seasoned.environment import home_folder
from seasoned.hooks.dialect import received
from seasoned.learn_queue import begin, note

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
