"""Hermes: a history with the fields that its database keeps, and the prefill file that it reads at its start."""

from __future__ import annotations

import json
from typing import Any

from seasoned.template.render import openai
from seasoned.template.render.script import BlockTurn, Script


def write_turns(found: Script) -> list[dict[str, Any]]:
    """A message a turn, as Hermes would have stored it; give it to Hermes as history, not to a provider."""
    return list(map(_message, found.turns))


def write_text(text: str) -> list[dict[str, Any]]:
    """One system message."""
    return openai.write_text(text)


def prefill(history: list[dict[str, Any]]) -> bytes:
    """The prefill file of a history. Hermes sends it as it is, so it holds only what providers know."""
    messages = [_sent(message) for message in history]
    return (json.dumps(messages, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode()


def _message(turn: BlockTurn) -> dict[str, Any]:
    (message,) = openai.write_turns(Script(turns=(turn,)))
    if turn.role == "tool":
        if turn.call is not None:
            message["tool_name"] = turn.call.tool
    elif turn.role == "assistant":
        message["finish_reason"] = "stop" if turn.call is None else "tool_calls"
        message["content"] = turn.text
        for call in message.get("tool_calls", []):
            call["call_id"] = call["id"]
    return message


def _sent(message: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in message.items() if key not in ("tool_name", "finish_reason")}
    if "tool_calls" in kept:
        kept["tool_calls"] = [
            {key: value for key, value in call.items() if key != "call_id"} for call in kept["tool_calls"]
        ]
    return kept
