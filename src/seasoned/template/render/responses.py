"""Items of the OpenAI Responses API: messages, calls and their outputs side by side, joined by the call id."""

from __future__ import annotations

from typing import Any

from seasoned.template.render.script import BlockTurn, Script


def write_turns(found: Script) -> list[dict[str, Any]]:
    """An item a turn. Items have no id: the API would look for one among those it keeps itself."""
    return list(map(_item, found.turns))


def write_text(text: str) -> list[dict[str, Any]]:
    """One developer message."""
    return [{"type": "message", "role": "developer", "content": text}]


def _item(turn: BlockTurn) -> dict[str, Any]:
    call = turn.call
    if call is None:
        return {"type": "message", "role": turn.role, "content": turn.text}
    if turn.role == "tool":
        return {"type": "function_call_output", "call_id": call.id, "output": turn.text}
    return {"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": call.text}
