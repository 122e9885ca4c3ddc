"""Puts a rendered block where it belongs: after the system messages, before everything that was said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seasoned.marks import is_synthetic_id, opens_block
from seasoned.template.render import Rendered

_SYSTEM = ("system", "developer")
_PROMPT_PARTS = ("system-prompt", "user-prompt")


def insert(messages: Sequence[Mapping[str, Any]], rendered: Rendered) -> list[dict[str, Any]]:
    """A new list with the block in it; unchanged where there is one already, or for a skill, which is a file."""
    given = [dict(message) for message in messages]
    if rendered.is_empty or rendered.format == "skill" or carries_block(given):
        return given
    if rendered.format == "text":
        block = [{"role": "system", "content": rendered.content.decode().rstrip("\n")}]
    else:
        block = json.loads(rendered.content)
    if rendered.format == "pydantic-ai":
        given = _split_request(given)
    start = next((index for index, message in enumerate(given) if not _is_system(message)), len(given))
    return [*given[:start], *block, *given[start:]]


def carries_block(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a list has a block already. What tools returned is not asked: it could say anything."""
    for message in messages:
        if any(map(is_synthetic_id, _call_ids(message))):
            return True
        if any(map(opens_block, _prompts(message))):
            return True
    return False


def _is_system(message: Mapping[str, Any]) -> bool:
    if message.get("kind") == "request":
        parts = _records(message.get("parts"))
        return bool(parts) and all(part.get("part_kind") == "system-prompt" for part in parts)
    return message.get("role") in _SYSTEM


def _split_request(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """pydantic-ai keeps the system prompt and the first question in one request: they become two."""
    for index, message in enumerate(messages):
        if _is_system(message):
            continue
        parts = _records(message.get("parts"))
        system = [part for part in parts if part.get("part_kind") == "system-prompt"]
        if message.get("kind") != "request" or not system:
            break
        # Instructions are read from the newest request, so they stay with the question.
        first = {**{key: message[key] for key in message if key != "instructions"}, "parts": system}
        rest = {**message, "parts": [part for part in parts if part.get("part_kind") != "system-prompt"]}
        return [*messages[:index], first, rest, *messages[index + 1 :]]
    return messages


def _call_ids(message: Mapping[str, Any]) -> Iterator[str]:
    """The ids of the calls that a message makes, in any format."""
    if message.get("type") == "function_call":
        yield str(message.get("call_id"))
    for call in _records(message.get("tool_calls")):
        yield str(call.get("id"))
    for block in _records(message.get("content")):
        if block.get("type") == "tool_use":
            yield str(block.get("id"))
    for part in _records(message.get("parts")):
        if part.get("part_kind") == "tool-call":
            yield str(part.get("tool_call_id"))


def _prompts(message: Mapping[str, Any]) -> Iterator[str]:
    """What was said to the model from the start of a message on, in any format."""
    parts = [part for part in _records(message.get("parts")) if part.get("part_kind") in _PROMPT_PARTS]
    contents = [part.get("content") for part in parts]
    if message.get("role") in ("user", *_SYSTEM):
        contents.append(message.get("content"))
    for content in contents:
        if isinstance(content, str):
            yield content
        for block in _records(content):
            if isinstance(text := block.get("text"), str):
                yield text


def _records(value: object) -> list[Mapping[str, Any]]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list | tuple) else []
