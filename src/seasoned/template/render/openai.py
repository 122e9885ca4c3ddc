"""OpenAI chat messages: each result directly after its call, arguments as JSON in a string."""

from __future__ import annotations

from typing import Any

from seasoned.template.render.script import BlockTurn, Script


def write_turns(found: Script) -> list[dict[str, Any]]:
    """A message a turn."""
    return list(map(_message, found.turns))


def write_text(text: str) -> list[dict[str, Any]]:
    """One system message."""
    return [{"role": "system", "content": text}]


def _message(turn: BlockTurn) -> dict[str, Any]:
    call = turn.call
    if call is None:
        return {"role": turn.role, "content": turn.text}
    if turn.role == "tool":
        return {"role": "tool", "tool_call_id": call.id, "content": turn.text}
    function = {"name": call.tool, "arguments": call.text}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call.id, "type": "function", "function": function}],
    }
