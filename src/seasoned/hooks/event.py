"""The events that agents send to hooks, in the form of Claude Code; `dialect` translates those of others."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from seasoned.hooks.exchange import received

Agent = Literal["claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cursor"]


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
    exit_code: int | None = None  # where the agent says it
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
    """The event that the agent sent."""
    return msgspec.json.decode(received(), type=HookEvent)
