"""OpenAI chat completions: `/v1/chat/completions`."""

from __future__ import annotations

from typing import Any

from seasoned.gateway.wire.event_stream import EventStream, error_of, fields_of, merge_usage
from seasoned.gateway.wire.request import ApiRequest, ApiResponse, RequestTurns, call_id, first_said, tools_of
from seasoned.gateway.wire.splice import insert_after, read_fields, with_fields
from seasoned.history.chat import ROLES, spoken_text
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    integer,
    openai_usage,
    string,
    text_of,
)
from seasoned.session import ToolCall

_SYSTEM = ("system", "developer")


def read_request(body: bytes) -> ApiRequest | None:
    """The parsed request; None if it is not understood, and is passed on unchanged."""
    fields = fields_of(body)
    if fields is None or not isinstance(fields.get("messages"), list) or string(fields.get("model")) is None:
        return None
    given = [as_object(message) for message in fields["messages"]]
    start = first_said(given, _is_system)
    turns = RequestTurns()
    for message in given[start:]:
        _tell(turns, message)
    messages, results = turns.take()
    is_stream = fields.get("stream") is True
    schema = as_object(as_object(fields.get("response_format")).get("json_schema"))
    return ApiRequest(
        api="chat",
        model=fields["model"],
        system="\n".join([spoken_text(message.get("content")) for message in given[:start]]),
        messages=messages,
        results=results,
        tools=tools_of(fields),
        is_stream=is_stream,
        wants_usage=not is_stream or as_object(fields.get("stream_options")).get("include_usage") is True,
        max_tokens=integer(first_of(fields, "max_completion_tokens", "max_tokens")),
        prompt_cache_key=string(fields.get("prompt_cache_key")),
        user_id=string(as_object(fields.get("metadata")).get("user_id")),
        client=as_object(fields.get("metadata")),
        answer_schema=as_object(schema.get("schema")),
    )


def insert_block(body: bytes, content: bytes) -> bytes:
    """The body with a block of messages after the system part, and no other value changed."""
    return insert_after(body, "messages", _is_system, content)


def ask_for_usage(body: bytes) -> bytes | None:
    """The body changed to ask for the usage of the stream; None if it does already, or cannot be changed."""
    fields = read_fields(body)
    if fields is None or bytes(fields.get("stream", b"")) != b"true":
        return None
    given = fields.get("stream_options")
    options = {} if given is None or bytes(given) == b"null" else read_fields(given)
    if options is None or bytes(options.get("include_usage", b"")) == b"true":
        return None
    return with_fields(fields, stream_options={**options, "include_usage": True})


def read_response(body: bytes) -> ApiResponse:
    """The parsed answer, from a body that is not a stream."""
    fields = fields_of(body)
    if fields is None:
        return ApiResponse(error="the answer is not a JSON object")
    choice = as_object(next(iter(as_list(fields.get("choices"))), None))
    usage = merge_usage(None, first_of(fields, "usage") or choice.get("usage"))
    return _answer(
        fields, as_object(choice.get("message")), string(choice.get("finish_reason")), usage, error_of(fields)
    )


class ChatStream(EventStream):
    """Reads a stream of chunks. Of several choices the first is the conversation: agents take that one."""

    def __init__(self) -> None:
        super().__init__()
        self._head: dict[str, Any] = {}
        self._texts: list[str] = []
        self._calls: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        self._finish: str | None = None

    def answer(self) -> ApiResponse:
        """What was read so far."""
        message = {"content": "".join(self._texts), "tool_calls": [_whole(call) for call in self._calls]}
        return _answer(self._head, message, self._finish, self._usage, self.error)

    def _read(self, fields: dict[str, Any]) -> None:
        for key in ("id", "model"):
            self._head[key] = self._head.get(key) or fields.get(key)
        self._usage = merge_usage(self._usage, fields.get("usage"))
        # Groq reports the usage of a stream under a name of its vendor.
        self._usage = merge_usage(self._usage, as_object(fields.get("x_groq")).get("usage"))
        for choice in as_list(fields.get("choices")):
            if integer(as_object(choice).get("index")) in (0, None):
                self._read_choice(as_object(choice))

    def _read_choice(self, choice: dict[str, Any]) -> None:
        # Some report the usage with the last words instead of in a separate event.
        self._usage = merge_usage(self._usage, choice.get("usage"))
        self._finish = string(choice.get("finish_reason")) or self._finish
        delta = as_object(choice.get("delta"))
        for words in (delta.get("content"), delta.get("refusal")):
            self._texts += [words] if isinstance(words, str) else []
        for part in as_list(delta.get("tool_calls")):
            self._read_call(as_object(part))

    def _read_call(self, part: dict[str, Any]) -> None:
        index = integer(part.get("index")) or 0
        given = identity(part.get("id"))
        place = self._places.get(index)
        # Some count every call as the first one; another id is another call.
        if place is None or (given is not None and self._calls[place]["id"] not in (None, given)):
            place = self._places[index] = len(self._calls)
            self._calls.append({"id": given, "name": None, "arguments": []})
        call = self._calls[place]
        function = as_object(part.get("function"))
        call["id"] = call["id"] or given
        call["name"] = call["name"] or string(function.get("name"))
        if isinstance(words := function.get("arguments"), str):
            call["arguments"].append(words)

    def _is_only_usage(self, fields: dict[str, Any]) -> bool:
        # An event that has choices carries words, and must reach the client.
        return isinstance(fields.get("usage"), dict) and fields.get("choices") == []


open_stream = ChatStream


def _is_system(message: dict[str, Any]) -> bool:
    return message.get("role") in _SYSTEM


def _tell(turns: RequestTurns, message: dict[str, Any]) -> None:
    role = ROLES.get(string(message.get("role")) or "")
    if role == "tool":
        tool = string(first_of(message, "name", "tool_name"))
        turns.result(message.get("tool_call_id"), text_of(message.get("content")), tool=tool)
    elif role is not None:
        turns.say(role, spoken_text(message.get("content")) or string(message.get("refusal")) or "")
        for call in _calls(message) if role == "assistant" else ():
            turns.call(*call)


def _calls(message: dict[str, Any]) -> list[tuple[object, str, dict[str, Any]]]:
    given = [as_object(call) for call in as_list(message.get("tool_calls"))]
    found = []
    for call in given:
        # A custom tool is called with a text instead of a function's arguments.
        inner = as_object(first_of(call, "function", "custom")) or call
        if name := string(inner.get("name")):
            found.append((call.get("id"), name, arguments_of(first_of(inner, "arguments", "input"))))
    return found


def _answer(
    head: dict[str, Any],
    message: dict[str, Any],
    finish: str | None,
    raw_usage: dict[str, Any] | None,
    error: str | None,
) -> ApiResponse:
    calls = [ToolCall(call_id(given, tool, inner), tool, inner) for given, tool, inner in _calls(message)]
    return ApiResponse(
        id=identity(head.get("id")),
        model=string(head.get("model")),
        text=spoken_text(message.get("content")) or string(message.get("refusal")) or "",
        calls=tuple(calls),
        usage=openai_usage(raw_usage),
        raw_usage=raw_usage,
        finish=finish,
        error=error,
    )


def _whole(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call["id"], "function": {"name": call["name"], "arguments": "".join(call["arguments"])}}
