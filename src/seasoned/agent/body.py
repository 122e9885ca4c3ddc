"""The body of a message: what is kept of it in the store, and how the agent library reads it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.redact import Redactor

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

Body = dict[str, Any]
_MESSAGE_FIELDS = ("kind", "timestamp", "usage", "model_name", "provider_name", "finish_reason", "state")
_PART_FIELDS = ("part_kind", "timestamp", "tool_name", "tool_call_id", "outcome")
"""What holds no words of anybody; ids of the provider, signatures and instructions are left out."""


def body_of(message: ModelMessage) -> Body:
    """A message of the agent library as JSON values, not yet redacted."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    body: Body = ModelMessagesTypeAdapter.dump_python([message], mode="json")[0]
    kept = {name: body[name] for name in _MESSAGE_FIELDS if body.get(name) is not None}
    kept["parts"] = [_part(part) for part in body["parts"]]
    return kept


def redacted(body: Mapping[str, Any], redactor: Redactor) -> Body:
    """The body without secrets. Only words are looked at: an id that is changed would lose its result."""
    return {**body, "parts": [_redacted_part(part, redactor) for part in body["parts"]]}


def without_usage(body: Mapping[str, Any]) -> Body:
    """A copy of a message that was accounted for where it happened."""
    return {name: value for name, value in body.items() if name != "usage"}


def messages_of(bodies: Sequence[Mapping[str, Any]]) -> list[ModelMessage]:
    """Bodies as messages of the agent library. Thoughts stay behind: without its signature no provider takes one."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return ModelMessagesTypeAdapter.validate_python([_without_thoughts(body) for body in bodies])


def _part(part: Mapping[str, Any]) -> Body:
    kept = {name: part[name] for name in _PART_FIELDS if part.get(name) is not None}
    return kept | {name: part[name] for name in ("content", "args") if name in part}


def _redacted_part(part: Mapping[str, Any], redactor: Redactor) -> Body:
    done = dict(part)
    if "content" in part:
        done["content"] = redactor.value(part["content"])
    if isinstance(args := part.get("args"), str):
        done["args"] = _redacted_json(args, redactor)
    elif args is not None:
        done["args"] = redactor.value(args)
    return done


def _redacted_json(text: str, redactor: Redactor) -> str:
    """Arguments are JSON in a text: the names of values say which of them are secret."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return redactor.text(text)
    cleaned = redactor.value(value)
    return text if cleaned == value else msgspec.json.encode(cleaned).decode()


def _without_thoughts(body: Mapping[str, Any]) -> Body:
    parts = [part for part in body["parts"] if part.get("part_kind") != "thinking"]
    if not parts and body.get("kind") == "response":
        parts = [{"part_kind": "text", "content": ""}]
    return {**body, "parts": parts}
