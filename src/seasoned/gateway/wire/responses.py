"""OpenAI Responses: `/v1/responses`."""

from __future__ import annotations

from typing import Any

from seasoned.gateway.wire.event_stream import EventStream, error_of, fields_of, merge_usage
from seasoned.gateway.wire.request import ApiRequest, ApiResponse, RequestTurns, call_id, first_said, tools_of
from seasoned.gateway.wire.splice import insert_after
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
from seasoned.session import Marks, Result, ToolCall

_SYSTEM = ("system", "developer")
# How clients describe their environment, in user messages before the user says anything.
_SURROUNDINGS = ("# AGENTS.md instructions", "<environment_context>", "<user_instructions>")
# Only these events carry the final status; earlier ones say "in_progress".
_ENDS = ("response.completed", "response.incomplete", "response.failed")


def read_request(body: bytes) -> ApiRequest | None:
    """The parsed request; None if it is not understood, and is passed on unchanged."""
    fields = fields_of(body)
    if fields is None or string(fields.get("model")) is None or not isinstance(fields.get("input"), str | list):
        return None
    given = fields["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else [as_object(item) for item in given]
    system = [text_of(fields.get("instructions"))]
    start = first_said(items, _is_system)
    system += [spoken_text(item.get("content")) for item in items[:start]]
    turns = RequestTurns()
    for item in items[start:]:
        _tell(turns, item)
    messages, results = turns.take()
    return ApiRequest(
        api="responses",
        model=fields["model"],
        system="\n".join([text for text in system if text]),
        messages=messages,
        results=results,
        tools=(*tools_of(fields), *[tool for item in items[:start] for tool in tools_of(item)]),
        is_stream=fields.get("stream") is True,
        previous_response_id=string(fields.get("previous_response_id")),
        conversation=_conversation(fields),
        max_tokens=integer(fields.get("max_output_tokens")),
        prompt_cache_key=string(fields.get("prompt_cache_key")),
        user_id=string(as_object(fields.get("metadata")).get("user_id")),
        client=as_object(fields.get("client_metadata")) or as_object(fields.get("metadata")),
        answer_schema=as_object(as_object(as_object(fields.get("text")).get("format")).get("schema")),
    )


def insert_block(body: bytes, content: bytes) -> bytes:
    """The body with a block of items after what the client says about its environment, and no other value changed."""
    return insert_after(body, "input", _comes_first, content)


def read_response(body: bytes) -> ApiResponse:
    """The parsed answer, from a body that is not a stream."""
    fields = fields_of(body)
    return ApiResponse(error="the answer is not a JSON object") if fields is None else _answer(fields)


class ResponsesStream(EventStream):
    """Reads a stream of events. The last one repeats the whole answer; if it never comes, the parts count."""

    def __init__(self) -> None:
        super().__init__()
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._texts: dict[int, list[str]] = {}
        self._is_ended = False

    def answer(self) -> ApiResponse:
        """What was read so far."""
        output = self._response.get("output") or [self._items[at] for at in sorted(self._items)] + self._begun()
        finish = self._response.get("status") if self._is_ended else None
        found = {**self._response, "output": output, "usage": self._usage, "status": finish}
        return _answer(found, self.error)

    def _read(self, fields: dict[str, Any]) -> None:
        kind = fields.get("type")
        at = integer(fields.get("output_index")) or 0
        if kind == "response.output_text.delta":
            if isinstance(words := fields.get("delta"), str):
                self._texts.setdefault(at, []).append(words)
        elif kind == "response.output_item.done":
            self._items[at] = as_object(fields.get("item"))
            # The finished item holds the whole text.
            self._texts.pop(at, None)
        elif kind == "error":
            self.error = error_of({"error": fields}) if self.error is None else self.error
        elif isinstance(response := fields.get("response"), dict):
            self._response = response
            self._usage = merge_usage(self._usage, response.get("usage"))
            self._is_ended = kind in _ENDS

    def _begun(self) -> list[dict[str, Any]]:
        """What was being said when the stream broke off."""
        return [{"type": "message", "role": "assistant", "content": "".join(self._texts[at])} for at in self._texts]


open_stream = ResponsesStream


def _is_system(item: dict[str, Any]) -> bool:
    return item.get("role") in _SYSTEM or item.get("type") == "additional_tools"


def _comes_first(item: dict[str, Any]) -> bool:
    """Whether an item belongs to the system part or describes the client's environment."""
    return _is_system(item) or (
        item.get("role") == "user" and spoken_text(item.get("content")).startswith(_SURROUNDINGS)
    )


def _conversation(fields: dict[str, Any]) -> str | None:
    given = fields.get("conversation")
    return string(given) or string(as_object(given).get("id"))


def _tell(turns: RequestTurns, item: dict[str, Any]) -> None:
    kind = string(item.get("type")) or "message"
    role = ROLES.get(string(item.get("role")) or "")
    if kind.endswith("_call_output"):
        turns.result(item.get("call_id"), text_of(item.get("output")))
    elif (call := _call(item)) is not None:
        name = turns.call(*call)
        if (result := _result(item)) is not None:
            turns.result(name, result.text, result.marks)
    elif kind == "message" and role is not None:
        # As in the reader of Codex' files: the client's description of its environment is not from the user.
        turns.say("system" if role == "user" and _comes_first(item) else role, spoken_text(item.get("content")))


def _call(item: dict[str, Any]) -> tuple[object, str, dict[str, Any]] | None:
    """The call that an item is; tools that the provider runs go by the item's type."""
    kind = string(item.get("type")) or ""
    if not kind.endswith("_call"):
        return None
    tool = string(item.get("name")) or kind.removesuffix("_call")
    if string(item.get("namespace")):
        tool = f"{item['namespace']}__{tool}"
    arguments = arguments_of(first_of(item, "arguments", "input", "action", "queries"))
    return first_of(item, "call_id", "id"), tool, arguments


def _result(item: dict[str, Any]) -> Result | None:
    """The result of a tool that the provider ran itself."""
    if item.get("error") is not None:
        return Result(text_of(item["error"]), Marks(failed=True))
    return None if item.get("output") is None else Result(text_of(item["output"]))


def _answer(response: dict[str, Any], error: str | None = None) -> ApiResponse:
    items = [as_object(item) for item in as_list(response.get("output"))]
    texts = [spoken_text(item.get("content")) for item in items if item.get("type") == "message"]
    found = [(call, _result(item)) for item in items if (call := _call(item)) is not None]
    calls = [ToolCall(call_id(*call), call[1], call[2], result) for call, result in found]
    raw_usage = merge_usage(None, response.get("usage"))
    return ApiResponse(
        id=identity(response.get("id")),
        model=string(response.get("model")),
        text="\n".join([text for text in texts if text]),
        calls=tuple(calls),
        usage=openai_usage(raw_usage),
        raw_usage=raw_usage,
        finish=string(response.get("status")),
        error=error_of(response) or error,
    )
