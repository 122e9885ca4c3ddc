"""Anthropic messages: `/v1/messages`."""

from __future__ import annotations

from typing import Any

from seasoned.gateway.wire.event_stream import EventStream, error_of, fields_of, merge_usage
from seasoned.gateway.wire.request import ApiRequest, ApiResponse, RequestTurns, call_id, first_said, tools_of
from seasoned.gateway.wire.splice import insert_after
from seasoned.history.chat import spoken_text
from seasoned.history.coerce import (
    anthropic_usage,
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    integer,
    string,
    text_of,
)
from seasoned.session import Marks, Result, Role, ToolCall

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# Claude Code puts notes into the user's messages between these tags.
_NOTE = ("<system-reminder>", "</system-reminder>")
# Tools that the client runs, that Anthropic runs, and that an MCP server runs.
_USES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def read_request(body: bytes) -> ApiRequest | None:
    """The parsed request; None if it is not understood, and is passed on unchanged."""
    fields = fields_of(body)
    if fields is None or not isinstance(fields.get("messages"), list) or string(fields.get("model")) is None:
        return None
    given = [as_object(message) for message in fields["messages"]]
    # Newer models also take system messages at the head of the list.
    start = first_said(given, _is_system)
    system = [text_of(fields.get("system")), *[spoken_text(message.get("content")) for message in given[:start]]]
    turns = RequestTurns()
    for message in given[start:]:
        _tell(turns, message)
    messages, results = turns.take()
    answer_format = first_of(as_object(fields.get("output_config")), "format") or fields.get("output_format")
    return ApiRequest(
        api="anthropic",
        model=fields["model"],
        system="\n".join([text for text in system if text]),
        messages=messages,
        results=results,
        tools=tools_of(fields),
        is_stream=fields.get("stream") is True,
        max_tokens=integer(fields.get("max_tokens")),
        user_id=string(as_object(fields.get("metadata")).get("user_id")),
        answer_schema=as_object(as_object(answer_format).get("schema")),
    )


def insert_block(body: bytes, content: bytes) -> bytes:
    """The body with a block of messages after the leading system messages, and no other value changed."""
    return insert_after(body, "messages", _is_system, content)


def read_response(body: bytes) -> ApiResponse:
    """The parsed answer, from a body that is not a stream."""
    fields = fields_of(body)
    if fields is None:
        return ApiResponse(error="the answer is not a JSON object")
    return _answer(fields, error_of(fields))


class MessageStream(EventStream):
    """Reads a stream of events; the figures of its usage are running totals."""

    def __init__(self) -> None:
        super().__init__()
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._words: dict[int, list[str]] = {}

    def answer(self) -> ApiResponse:
        """What was read so far."""
        content = [self._block(at) for at in sorted(self._blocks)]
        return _answer({**self._message, "content": content, "usage": self._usage}, self.error)

    def _read(self, fields: dict[str, Any]) -> None:
        kind = fields.get("type")
        at = integer(fields.get("index")) or 0
        if kind == "content_block_delta":
            delta = as_object(fields.get("delta"))
            words = delta.get("text") if delta.get("type") == "text_delta" else delta.get("partial_json")
            if isinstance(words, str):
                self._words.setdefault(at, []).append(words)
        elif kind == "content_block_start":
            self._blocks[at] = as_object(fields.get("content_block"))
        elif kind == "message_start":
            self._message = as_object(fields.get("message"))
            self._usage = merge_usage(self._usage, self._message.get("usage"))
        elif kind == "message_delta":
            self._message = {**self._message, **as_object(fields.get("delta"))}
            self._usage = merge_usage(self._usage, fields.get("usage"))

    def _block(self, at: int) -> dict[str, Any]:
        block = self._blocks[at]
        words = "".join(self._words.get(at, ()))
        if block.get("type") == "text":
            return {**block, "text": (string(block.get("text")) or "") + words}
        # Arguments arrive as pieces of JSON text, and are parsed when they are complete.
        return {**block, "input": words} if words else block


open_stream = MessageStream


def _is_system(message: dict[str, Any]) -> bool:
    return message.get("role") == "system"


def _is_result(block: dict[str, Any]) -> bool:
    return (string(block.get("type")) or "").endswith("tool_result")


def _tell(turns: RequestTurns, message: dict[str, Any]) -> None:
    """One message: its results first, then what is said, then its calls."""
    role = _ROLES.get(string(message.get("role")) or "")
    if role is None:
        return
    content = message.get("content")
    blocks = [block for block in as_list(content) if isinstance(block, dict)]
    tools = [block for block in blocks if block.get("type") in _USES or _is_result(block)]
    notes = [block for block in blocks if _is_note(block)] if role == "user" else []
    spoken = [block for block in blocks if block not in tools and block not in notes]
    words = spoken_text(spoken if isinstance(content, list) else content)
    if role == "assistant":
        turns.say(role, words)
    for block in tools:
        if _is_result(block):
            result = _result(block)
            turns.result(block.get("tool_use_id"), result.text, result.marks)
        elif tool := string(block.get("name")):
            turns.call(block.get("id"), tool, arguments_of(block.get("input")))
    # A message of the user begins with the results of earlier calls, so these come before what is said.
    if notes:
        turns.say("system", spoken_text(notes))
    if role != "assistant" and (words or not (tools or notes)):
        turns.say(role, words)


def _is_note(block: dict[str, Any]) -> bool:
    """Whether a block is a note that Claude Code put into the user's message. The user did not write it."""
    text = string(block.get("text"))
    return text is not None and text.startswith(_NOTE[0]) and text.rstrip().endswith(_NOTE[1])


def _result(block: dict[str, Any]) -> Result:
    failed = block.get("is_error")
    return Result(text_of(block.get("content")), Marks(failed=failed if isinstance(failed, bool) else None))


def _answer(message: dict[str, Any], error: str | None) -> ApiResponse:
    blocks = [block for block in as_list(message.get("content")) if isinstance(block, dict)]
    results = {identity(block.get("tool_use_id")): _result(block) for block in blocks if _is_result(block)}
    calls = []
    for block in blocks:
        if block.get("type") in _USES and (tool := string(block.get("name"))):
            arguments = arguments_of(block.get("input"))
            name = call_id(block.get("id"), tool, arguments)
            calls.append(ToolCall(name, tool, arguments, results.get(name)))
    words = [block for block in blocks if block.get("type") not in _USES and not _is_result(block)]
    raw_usage = merge_usage(None, message.get("usage"))
    return ApiResponse(
        id=identity(message.get("id")),
        model=string(message.get("model")),
        text=spoken_text(words),
        calls=tuple(calls),
        usage=anthropic_usage(raw_usage),
        raw_usage=raw_usage,
        finish=string(message.get("stop_reason")),
        error=error,
    )
