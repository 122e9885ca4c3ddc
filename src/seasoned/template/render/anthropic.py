"""Anthropic messages: the sides take turns, and a result opens the turn of the user that follows its call."""

from __future__ import annotations

from typing import Any

from seasoned.marks import BLOCK_ENDS
from seasoned.template.render.script import BlockTurn, Script

ANSWER = "This conversation begins with the next message."
"""What the other side says to a text, so that the sides take turns."""


def write_turns(found: Script) -> list[dict[str, Any]]:
    """Messages of blocks; a result and what is asked next share a message."""
    messages: list[dict[str, Any]] = []
    for turn in found.turns:
        role = "assistant" if turn.role == "assistant" else "user"
        if not messages or messages[-1]["role"] != role:
            messages.append({"role": role, "content": []})
        messages[-1]["content"].append(_block(turn))
    return messages


def write_text(text: str) -> list[dict[str, Any]]:
    """A turn of each side: older models refuse system messages in the list, and the `system` field is the caller's."""
    return [
        {"role": "user", "content": [{"type": "text", "text": text.removesuffix(BLOCK_ENDS).rstrip()}]},
        {"role": "assistant", "content": [{"type": "text", "text": f"{ANSWER}\n{BLOCK_ENDS}"}]},
    ]


def _block(turn: BlockTurn) -> dict[str, Any]:
    call = turn.call
    if call is None:
        return {"type": "text", "text": turn.text}
    if turn.role == "tool":
        return {"type": "tool_result", "tool_use_id": call.id, "content": turn.text}
    return {"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
