"""Logs in OpenAI's format: messages, records of messages, requests with responses, Responses items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.chat import ITEMS, ChatReader, is_message, signature
from seasoned.history.coerce import as_object, openai_usage, string
from seasoned.history.formats import Sample
from seasoned.history.message_log import LoggedExchange, LogStyle, read_log
from seasoned.session import Session

NAME = "openai"
# Where loggers put the messages of a record, most common first.
_LISTS = ("messages", "conversation", "history", "traj", "trajectory", "input", "items")


def recognises(sample: Sample) -> bool:
    """Whether the first records are messages or hold them."""
    return sample.kind in ("lines", "document") and any(map(_is_ours, sample.records))


def read(path: Path) -> Iterator[Session]:
    """One session for each record, or one session of all messages."""
    return read_log(path, _STYLE)


def _is_ours(value: dict[str, Any]) -> bool:
    if is_message(value):
        return True
    exchange = _exchange(value)
    if exchange is None:
        return False
    messages = exchange.messages + exchange.replies
    return any(map(is_message, messages[:3])) or (messages == [] and "messages" in value)


def _exchange(value: dict[str, Any]) -> LoggedExchange | None:
    request = _body(value.get("request"))
    response = _body(value.get("response"))
    asked = request or (value if not response else {})
    answered = response or ({} if request else value)
    messages = _messages(asked)
    replies = _replies(answered)
    if messages is None and replies is None:
        return None
    found = list(messages or [])
    if found and isinstance(instructions := asked.get("instructions"), str):
        found.insert(0, {"role": "system", "content": instructions})
    return LoggedExchange(
        messages=found,
        replies=replies or [],
        usage=openai_usage(answered.get("usage")),
        model=string(answered.get("model")) or string(asked.get("model")) or string(value.get("model")),
    )


def _body(value: object) -> dict[str, Any]:
    """A request or response, or its body if it is wrapped with headers."""
    fields = as_object(value)
    return as_object(fields.get("body")) or fields


def _messages(asked: dict[str, Any]) -> list[Any] | None:
    for key in _LISTS:
        if isinstance(found := asked.get(key), list):
            return found
    if isinstance(prompt := asked.get("input"), str):
        return [{"role": "user", "content": prompt}]
    return None


def _replies(answered: dict[str, Any]) -> list[Any] | None:
    choices = answered.get("choices")
    if isinstance(choices, list):
        # Only one of several choices continued the conversation; agents take the first.
        message = as_object(choices[0]).get("message") if choices else None
        return [message] if message is not None else []
    output = answered.get("output")
    if isinstance(output, list) and any(map(_is_item, output[:3])):
        return output
    return None


def _is_item(value: object) -> bool:
    kind = as_object(value).get("type")
    return isinstance(kind, str) and (kind in ITEMS or kind == "message")


_STYLE = LogStyle(NAME, "openai", ChatReader, _exchange, is_message, signature)
