"""Logs in Anthropic's format: messages of content blocks, records of them, requests with responses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.chat import spoken_text
from seasoned.history.coerce import (
    anthropic_usage,
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    kind_of,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.message_log import LoggedExchange, LogStyle, read_log
from seasoned.session import Marks, Role, Session, Usage

NAME = "anthropic"
# Blocks that call a tool: of the client, of the provider, and over MCP.
_USES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


def recognises(sample: Sample) -> bool:
    """Whether the first records use Anthropic's tool blocks or are its responses."""
    return sample.kind in ("lines", "document") and any(map(_is_ours, sample.records))


def _is_ours(value: dict[str, Any]) -> bool:
    if _is_message(value):
        return _has_tool_blocks(value) or _is_response(value)
    exchange = _exchange(value)
    if exchange is None:
        return False
    return _is_response(as_object(value.get("response"))) or any(map(_has_tool_blocks, exchange.messages))


def read(path: Path) -> Iterator[Session]:
    """One session for each record, or one session of all messages."""
    return read_log(path, _STYLE)


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and string(value.get("role")) in _ROLES and "content" in value


def _has_tool_blocks(message: object) -> bool:
    blocks = as_list(as_object(message).get("content"))
    return any((kind := string(as_object(b).get("type")) or "") in _USES or _is_result(kind) for b in blocks)


def _is_result(kind: str) -> bool:
    return kind.endswith("tool_result")


def _is_response(value: dict[str, Any]) -> bool:
    return value.get("type") == "message" and "stop_reason" in value and isinstance(value.get("content"), list)


def _exchange(value: dict[str, Any]) -> LoggedExchange | None:
    request = as_object(as_object(value.get("request")).get("body")) or as_object(value.get("request")) or value
    response = as_object(as_object(value.get("response")).get("body")) or as_object(value.get("response"))
    messages = first_of(request, "messages", "conversation", "history")
    if not isinstance(messages, list) and not _is_message(response):
        return None
    found = list(as_list(messages))
    if found and (system := text_of(request.get("system"))):
        found.insert(0, {"role": "system", "content": system})
    return LoggedExchange(
        messages=found,
        replies=[response] if _is_message(response) else [],
        model=string(response.get("model")) or string(request.get("model")),
    )


class _AnthropicReader:
    """Adds messages of content blocks to a builder."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._calls = CallPairing(builder)

    def add(self, message: object, *, where: str, place: int = 0, usage: Usage | None = None) -> None:
        """Add one message: its results first, then its text, then its calls."""
        role = _ROLES.get(string(as_object(message).get("role")) or "")
        if not isinstance(message, dict) or role is None:
            reason = f"a message whose role is {str(as_object(message).get('role'))[:40]!r}"
            self._builder.unreadable(
                where, reason if isinstance(message, dict) else f"{kind_of(message)} where a message should be"
            )
            return
        time = time_of(first_of(message, "timestamp", "created_at", "time"))
        content = message.get("content")
        tools = [b for b in as_list(content) if isinstance(b, dict) and _is_tool_block(b)]
        words = [b for b in content if b not in tools] if isinstance(content, list) else content
        if role == "assistant":
            self._builder.message(
                role,
                spoken_text(words),
                time=time,
                place=place,
                key=identity(message.get("id")),
                model=string(message.get("model")),
                usage=usage or anthropic_usage(message.get("usage")),
            )
            self._calls.turn()
        for block in tools:
            self._add_block(block, where, time, place)
        if role != "assistant" and (words or not tools):
            self._builder.message(role, spoken_text(words), time=time, place=place)

    def _add_block(self, block: dict[str, Any], where: str, time: float | None, place: int) -> None:
        if string(block.get("type")) not in _USES:
            failed = block.get("is_error")
            marks = Marks(failed=failed if isinstance(failed, bool) else None)
            self._calls.answer(block.get("tool_use_id"), text_of(block.get("content")), marks, time=time, place=place)
            return
        name, arguments = string(block.get("name")), arguments_of(block.get("input"))
        self._calls.make_named(where, block.get("id"), name, arguments, time=time, place=place)


def _is_tool_block(block: dict[str, Any]) -> bool:
    kind = string(block.get("type")) or ""
    return kind in _USES or _is_result(kind)


def _signature(message: object) -> int:
    fields = as_object(message)
    content = fields.get("content")
    blocks = [as_object(block) for block in as_list(content)]
    ids = [identity(first_of(block, "id", "tool_use_id")) for block in blocks if _is_tool_block(block)]
    words = [block for block in blocks if not _is_tool_block(block)] if isinstance(content, list) else content
    return hash((str(fields.get("role")), spoken_text(words), tuple(ids)))


_STYLE = LogStyle(NAME, "anthropic", _AnthropicReader, _exchange, _is_message, _signature)
