"""What providers ask of a list of messages: their SDKs' own types, and the rules that types cannot say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from pydantic import TypeAdapter

CALL_ID = re.compile(r"warm_[A-Za-z0-9_-]{1,35}\Z")
_CHAT_KEYS = {
    "system": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}


def exhaust(value: object) -> None:
    """Walks through everything: what the types call iterable is checked only when somebody looks."""
    if isinstance(value, dict):
        for part in value.values():
            exhaust(part)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for part in value:
            exhaust(part)


@cache
def _chat_type() -> TypeAdapter[Any]:
    from openai.types.chat import ChatCompletionMessageParam

    return TypeAdapter(list[ChatCompletionMessageParam])


@cache
def _item_type() -> TypeAdapter[Any]:
    from openai.types.responses import ResponseInputParam

    return TypeAdapter(ResponseInputParam)


@cache
def _anthropic_type() -> TypeAdapter[Any]:
    from anthropic.types import MessageParam

    return TypeAdapter(list[MessageParam])


def assert_openai(messages: list[dict[str, Any]], *, stored: bool = False) -> list[str]:
    """Chat messages: each call is answered directly, in order; returns the call ids."""
    exhaust(_chat_type().validate_python(messages))
    ids: list[str] = []
    waiting: list[str] = []
    for message in messages:
        assert stored or set(message) <= _CHAT_KEYS[message["role"]]
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
        else:
            assert not waiting, "a call without its result"
        for call in message.get("tool_calls") or []:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            waiting.append(call["id"])
            ids.append(call["id"])
        assert message["content"] or message.get("tool_calls")
    assert not waiting
    return ids


def assert_responses(items: list[dict[str, Any]]) -> list[str]:
    """Items: each call is followed by its output."""
    exhaust(_item_type().validate_python(items))
    ids: list[str] = []
    for before, item in zip([{}, *items], items, strict=False):
        if item["type"] == "function_call_output":
            assert before["type"] == "function_call"
            assert before["call_id"] == item["call_id"]
        else:
            assert before.get("type") != "function_call"
        if item["type"] == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict)
            ids.append(item["call_id"])
    assert not items or items[-1]["type"] == "message"
    return ids


def assert_anthropic(messages: list[dict[str, Any]]) -> list[str]:
    """The user begins, the sides take turns, results open the next turn, no text is empty."""
    exhaust(_anthropic_type().validate_python(messages))
    ids: list[str] = []
    waiting: list[str] = []
    for number, message in enumerate(messages):
        assert message["role"] == ("user", "assistant")[number % 2]
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert results == waiting
        assert [block["type"] for block in message["content"][: len(results)]] == ["tool_result"] * len(results)
        waiting = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        ids += waiting
        assert message["content"]
        for block in message["content"]:
            assert block["type"] != "text" or block["text"].strip()
    assert not waiting
    assert not messages or messages[-1]["role"] == "assistant"
    return ids


def assert_pydantic_ai(content: bytes) -> list[str]:
    """Its own adapter reads them; requests and responses take turns; written again they say the same."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, ToolCallPart, ToolReturnPart

    messages = ModelMessagesTypeAdapter.validate_json(content)
    again = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))
    assert again == messages
    calls = [part for message in messages for part in message.parts if isinstance(part, ToolCallPart)]
    results = [part.tool_call_id for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    for number, message in enumerate(messages):
        assert isinstance(message, ModelResponse) == (number % 2 == 1)
    assert [call.tool_call_id for call in calls] == results
    assert all(isinstance(call.args_as_dict(), dict) for call in calls)
    return results
