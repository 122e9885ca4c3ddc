"""pydantic-ai messages, as its `ModelMessagesTypeAdapter` reads them: requests and responses made of parts."""

from __future__ import annotations

from typing import Any

from seasoned.template.render.script import BlockTurn, Script

_TIME = "1970-01-01T00:00:00Z"
"""Every part has a time; a clock would make each rendering another one."""


def write_turns(found: Script) -> list[dict[str, Any]]:
    """Requests and responses by turns; a result and what is asked next share a request."""
    messages: list[dict[str, Any]] = []
    for turn in found.turns:
        kind = "response" if turn.role == "assistant" else "request"
        if not messages or messages[-1]["kind"] != kind:
            messages.append({"kind": kind, "parts": [], "timestamp": _TIME})
        messages[-1]["parts"].append(_part(turn))
    return messages


def write_text(text: str) -> list[dict[str, Any]]:
    """One request with a system prompt."""
    part = {"part_kind": "system-prompt", "content": text, "timestamp": _TIME}
    return [{"kind": "request", "parts": [part], "timestamp": _TIME}]


def _part(turn: BlockTurn) -> dict[str, Any]:
    call = turn.call
    if call is None:
        if turn.role == "assistant":
            return {"part_kind": "text", "content": turn.text}
        return {"part_kind": "user-prompt", "content": turn.text, "timestamp": _TIME}
    named = {"tool_name": call.tool, "tool_call_id": call.id}
    if turn.role == "tool":
        return {"part_kind": "tool-return", "content": turn.text, "timestamp": _TIME, **named}
    return {"part_kind": "tool-call", "args": call.text, **named}
