"""The events that agents send to hooks, and the answers. Claude Code and Codex share nearly all of the format."""

from __future__ import annotations

import sys
from typing import Any, Literal

import msgspec

Agent = Literal["claude-code", "codex"]
MOST_BYTES = 20_000_000


class HookEvent(msgspec.Struct, frozen=True):
    """The fields of an event that are read."""

    session_id: str = ""
    transcript_path: str | None = None
    cwd: str = ""
    source: str = ""  # why a session starts: startup, resume, compact, clear, fork
    agent_id: str | None = None  # of a sub-agent
    prompt: str = ""
    tool_name: str = ""
    tool_input: Any = None
    tool_response: Any = None
    error: Any = None
    is_interrupt: bool = False
    turn_id: str | None = None  # Codex' name for a turn; Claude Code calls it `prompt_id`
    prompt_id: str | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        return self.tool_input if isinstance(self.tool_input, dict) else {}

    @property
    def turn(self) -> str:
        return self.turn_id or self.prompt_id or ""


def read_event() -> HookEvent:
    """The event on stdin."""
    return msgspec.json.decode(sys.stdin.buffer.read(MOST_BYTES), type=HookEvent)


def say(name: str, **fields: str) -> None:
    """Print an answer to an event of this name."""
    answer = {"hookSpecificOutput": {"hookEventName": name, **fields}}
    sys.stdout.write(msgspec.json.encode(answer).decode() + "\n")
    sys.stdout.flush()
