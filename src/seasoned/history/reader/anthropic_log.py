"""Logs in the way of Anthropic: messages whose content is blocks, records of them, requests with their responses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import said
from seasoned.history.coerce import (
    anthropic_usage,
    arguments_of,
    first_of,
    identity,
    kind_of,
    record,
    sequence,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.message_log import LoggedExchange, LogStyle, read_log
from seasoned.session import Marks, Role, Session, Usage

NAME = "anthropic"
_USES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def recognises(sample: Sample) -> bool:
    """Whether the first records use blocks that only these messages have, or are such responses."""
    return sample.kind in ("lines", "document") and any(map(_is_ours, sample.records))


def _is_ours(value: dict[str, Any]) -> bool:
    if _is_message(value):
        return _has_tool_blocks(value) or _is_response(value)
    exchange = _exchange(value)
    if exchange is None:
        return False
    return _is_response(record(value.get("response"))) or any(map(_has_tool_blocks, exchange.messages))


def read(path: Path) -> Iterator[Session]:
    """A session a record, or one of all messages."""
    return read_log(path, _WAY)


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and string(value.get("role")) in _ROLES and "content" in value


def _has_tool_blocks(message: object) -> bool:
    blocks = sequence(record(message).get("content"))
    return any((kind := string(record(b).get("type")) or "") in _USES or _is_result(kind) for b in blocks)


def _is_result(kind: str) -> bool:
    return kind.endswith("tool_result")


def _is_response(value: dict[str, Any]) -> bool:
    return value.get("type") == "message" and "stop_reason" in value and isinstance(value.get("content"), list)


def _exchange(value: dict[str, Any]) -> LoggedExchange | None:
    request = record(record(value.get("request")).get("body")) or record(value.get("request")) or value
    response = record(record(value.get("response")).get("body")) or record(value.get("response"))
    messages = first_of(request, "messages", "conversation", "history")
    if not isinstance(messages, list) and not _is_message(response):
        return None
    found = list(sequence(messages))
    if found and (system := text_of(request.get("system"))):
        found.insert(0, {"role": "system", "content": system})
    return LoggedExchange(
        messages=found,
        replies=[response] if _is_message(response) else [],
        model=string(response.get("model")) or string(request.get("model")),
    )


class _AnthropicTeller:
    """Tells a builder what messages of blocks say."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._calls = CallPairing(builder)

    def tell(self, message: object, *, where: str, place: int = 0, usage: Usage | None = None) -> None:
        """One message: its results first, then what is said, then its calls."""
        role = _ROLES.get(string(record(message).get("role")) or "")
        if not isinstance(message, dict) or role is None:
            reason = f"a message whose role is {str(record(message).get('role'))[:40]!r}"
            self._builder.unreadable(
                where, reason if isinstance(message, dict) else f"{kind_of(message)} for a message"
            )
            return
        time = time_of(first_of(message, "timestamp", "created_at", "time"))
        content = message.get("content")
        tools = [b for b in sequence(content) if isinstance(b, dict) and _is_tool_block(b)]
        words = [b for b in content if b not in tools] if isinstance(content, list) else content
        if role == "assistant":
            self._builder.message(
                role,
                said(words),
                time=time,
                place=place,
                key=identity(message.get("id")),
                model=string(message.get("model")),
                usage=usage or anthropic_usage(message.get("usage")),
            )
            self._calls.turn()
        for block in tools:
            self._tell_block(block, where, time, place)
        if role != "assistant" and (words or not tools):
            self._builder.message(role, said(words), time=time, place=place)

    def _tell_block(self, block: dict[str, Any], where: str, time: float | None, place: int) -> None:
        if string(block.get("type")) not in _USES:
            failed = block.get("is_error")
            marks = Marks(failed=failed if isinstance(failed, bool) else None)
            self._calls.answer(block.get("tool_use_id"), text_of(block.get("content")), marks, time=time, place=place)
            return
        name = string(block.get("name"))
        if name is None:
            self._builder.unreadable(where, "a tool call without the name of a tool")
            return
        self._calls.make(block.get("id"), name, arguments_of(block.get("input")), time=time, place=place)


def _is_tool_block(block: dict[str, Any]) -> bool:
    kind = string(block.get("type")) or ""
    return kind in _USES or _is_result(kind)


def _signature(message: object) -> int:
    fields = record(message)
    content = fields.get("content")
    blocks = [record(block) for block in sequence(content)]
    ids = [identity(first_of(block, "id", "tool_use_id")) for block in blocks if _is_tool_block(block)]
    words = [block for block in blocks if not _is_tool_block(block)] if isinstance(content, list) else content
    return hash((str(fields.get("role")), said(words), tuple(ids)))


_WAY = LogStyle(NAME, "anthropic", _AnthropicTeller, _exchange, _is_message, _signature)
