"""Messages on the wire: read beside the bytes, which pass as they are."""

from __future__ import annotations

import json
from typing import Any

from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import ParsedMessage, RawMessageStreamEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from seasoned.gateway.wire.anthropic import insert_block, open_stream, read_request, read_response
from seasoned.session import Marks, Message, Result, ToolCall, Usage
from tests.conftest import examples
from tests.gateway.written import SEEDS, TEXTS, block, is_spliced, passed, sse, written_body

BLOCK = block("anthropic")
START = {"input_tokens": 20, "output_tokens": 1, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 80}
HEAD: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": START,
}
USED = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
TURN: list[dict[str, Any]] = [
    {"type": "message_start", "message": HEAD},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look "}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "é𝄞"}},
    {"type": "content_block_stop", "index": 1},
    {"type": "content_block_start", "index": 2, "content_block": USED},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"comm'}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": 'and":"ls"}'}},
    {"type": "content_block_stop", "index": 2},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 42},
    },
    {"type": "message_stop"},
]
CONTENTS = TEXTS | st.lists(
    TEXTS.map(lambda text: {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
    | TEXTS.map(lambda text: {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": text}})
    | TEXTS.map(lambda text: {"type": "tool_result", "tool_use_id": "toolu_1", "content": text}),
    max_size=3,
)
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["user", "assistant", "system"]),
        CONTENTS,
    ),
    max_size=6,
)


def test_what_claude_code_says_as_the_user_is_not_the_user_s() -> None:
    note = {"type": "text", "text": "<system-reminder>\nToday is Monday.\n</system-reminder>\n"}
    quoted = {"type": "text", "text": "What is a <system-reminder>?"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    given = [{"role": "user", "content": [note, quoted]}, {"role": "user", "content": [result, note]}]
    asked = read_request(json.dumps({"model": "m", "messages": given}).encode())
    assert asked is not None
    assert [one.role for one in asked.messages] == ["system", "user", "tool", "system"]
    assert asked.messages[1].text == quoted["text"]


def test_a_request_of_claude_code_is_read_as_a_conversation() -> None:
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Exit code 3", "is_error": True}
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "stream": True,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: a"}, {"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": "Look"},
            {"role": "system", "content": "A hook says hello."},
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "Hm."}, {**USED, "input": {"command": "ls"}}],
            },
            {"role": "system", "content": [{"type": "text", "text": "And again."}]},
            {"role": "user", "content": [result, {"type": "text", "text": "Go on"}]},
        ],
        "tools": [
            {"name": "Bash", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "metadata": {"user_id": "u"},
    }
    asked = read_request(json.dumps(body).encode())
    assert asked is not None
    assert (asked.system, len(asked.tools)) == ("x-anthropic-billing-header: a\nBe brief.", 2)
    assert (asked.is_stream, asked.max_tokens, asked.user_id) == (True, 100, "u")
    told = Result("Exit code 3", Marks(failed=True))
    assert asked.messages == (
        Message("user", "Look"),
        Message("system", "A hook says hello."),
        Message("assistant", "", (ToolCall("toolu_1", "Bash", {"command": "ls"}, told),)),
        Message("system", "And again."),
        Message("tool", "Exit code 3", answers="toolu_1"),
        Message("user", "Go on"),
    )
    assert asked.results == {"toolu_1": told}


@settings(max_examples=examples(80), deadline=None)
@given(MESSAGES, SEEDS)
def test_a_block_is_the_only_change_to_a_request(messages: list[dict[str, Any]], seed: int) -> None:
    fields = {"model": "claude", "messages": messages, "system": [{"type": "text", "text": "/é"}], "max_tokens": 9}
    body = written_body(fields, seed)
    after = insert_block(body, BLOCK)
    assert is_spliced(body, after, BLOCK)
    found = json.loads(after)
    start = next((at for at, m in enumerate(messages) if m["role"] != "system"), len(messages))
    assert found.pop("messages") == [*messages[:start], *json.loads(BLOCK), *messages[start:]]
    assert found == {name: value for name, value in fields.items() if name != "messages"}


def test_a_stream_is_read_as_the_sdk_reads_it() -> None:
    theirs: ParsedMessage[None] | None = None
    parts: dict[int, bytes] = {}
    for event in TypeAdapter(list[RawMessageStreamEvent]).validate_python(TURN):
        theirs = accumulate_event(event=event, current_snapshot=theirs, json_bufs=parts)
    assert theirs is not None
    reader = open_stream()
    passed(reader, [sse(*TURN)])
    ours = reader.answer()
    assert (ours.id, ours.model, ours.finish) == (theirs.id, theirs.model, theirs.stop_reason)
    assert ours.text == "".join([one.text for one in theirs.content if one.type == "text"])
    assert [(call.id, call.tool, call.arguments) for call in ours.calls] == [
        (one.id, one.name, one.input) for one in theirs.content if one.type == "tool_use"
    ]
    assert ours.usage == Usage(input=20, output=42, cache_read=900, cache_write=80)
    assert ours.raw_usage == theirs.usage.model_dump(exclude_none=True)


def test_an_error_in_a_stream_is_told() -> None:
    reader = open_stream()
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    passed(reader, [sse(TURN[0], error)])
    assert reader.answer().error == "Overloaded"
    assert read_response(json.dumps(error).encode()).error == "Overloaded"


BROKEN = ["not json", "7", '{"type":"message_start","message":7}', '{"type":"message_delta","usage":[1]}']
FIELDS = ["type", "index", "delta", "usage", "message", "content_block", "text"]
