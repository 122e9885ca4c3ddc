"""Responses on the wire: read beside the bytes, which pass as they are."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from seasoned.gateway.wire.responses import insert_block, open_stream, read_request, read_response
from seasoned.session import Message, Result, ToolCall, Usage
from tests.conftest import examples
from tests.gateway.written import SEEDS, TEXTS, block, is_spliced, passed, sse, written_body

BLOCK = block("responses")
TOOL = {"type": "function", "name": "exec_command", "parameters": {"type": "object"}, "strict": False}
USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 3},
    "total_tokens": 25,
}
CALLED = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "c1",
    "name": "exec_command",
    "arguments": '{"cmd":"ls"}',
    "status": "completed",
}
SPOKEN = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I look é", "annotations": []}],
}
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-5.5",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "status": "in_progress",
}
ENDED = {**RESPONSE, "status": "completed", "output": [SPOKEN, CALLED], "usage": USAGE}


def numbered(*events: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


TURN = numbered(
    {"type": "response.created", "response": RESPONSE},
    {"type": "response.output_item.added", "output_index": 0, "item": {**SPOKEN, "content": []}},
    {
        "type": "response.output_text.delta",
        "output_index": 0,
        "content_index": 0,
        "item_id": "msg_1",
        "delta": "I look é",
        "logprobs": [],
    },
    {"type": "response.output_item.done", "output_index": 0, "item": SPOKEN},
    {"type": "response.output_item.done", "output_index": 1, "item": CALLED},
    {"type": "response.completed", "response": ENDED},
)
ITEMS = st.lists(
    st.builds(
        lambda role, text: {"type": "message", "role": role, "content": text},
        st.sampled_from(["developer", "user", "system", "assistant"]),
        TEXTS | st.just("<environment_context>x</environment_context>"),
    )
    | TEXTS.map(lambda text: {"role": "user", "content": [{"type": "input_text", "text": text}]})
    | TEXTS.map(lambda text: {**CALLED, "arguments": text})
    | TEXTS.map(lambda text: {"type": "function_call_output", "call_id": "c1", "output": text})
    | st.just({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}),
    max_size=6,
)


def test_a_request_of_codex_is_read_as_a_conversation() -> None:
    body = {
        "model": "gpt-5.5",
        "stream": True,
        "input": [
            {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}]},
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "# AGENTS.md instructions"}],
            },
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            SPOKEN,
            CALLED,
            {"type": "message", "role": "developer", "content": "A hook says hello."},
            {"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 3"},
            {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** Begin"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "ok"}]},
        ],
        "tools": [TOOL],
        "prompt_cache_key": "thread",
        "client_metadata": {"request_kind": "turn"},
    }
    asked = read_request(json.dumps(body).encode())
    assert asked is not None
    assert (asked.system, [tool["name"] for tool in asked.tools]) == ("Be brief.", ["exec_command", "exec"])
    assert (asked.is_stream, asked.prompt_cache_key, asked.client) == (True, "thread", {"request_kind": "turn"})
    assert asked.messages == (
        Message("system", "# AGENTS.md instructions"),
        Message("user", "Look"),
        Message(
            "assistant",
            "I look é",
            (ToolCall("c1", "exec_command", {"cmd": "ls"}, Result("Process exited with code 3")),),
        ),
        Message("system", "A hook says hello."),
        Message("tool", "Process exited with code 3", answers="c1"),
        Message("assistant", "", (ToolCall("c2", "apply_patch", {"input": "*** Begin"}, Result("ok")),)),
        Message("tool", "ok", answers="c2"),
    )


def test_a_request_that_goes_on_says_from_where() -> None:
    body = {"model": "m", "input": "Go on", "instructions": "S", "previous_response_id": "resp_1"}
    asked = read_request(json.dumps(body).encode())
    assert asked is not None
    assert (asked.system, asked.messages, asked.previous_response_id) == ("S", (Message("user", "Go on"),), "resp_1")
    kept = read_request(b'{"model":"m","input":[],"conversation":{"id":"conv_1"}}')
    assert kept is not None and kept.conversation == "conv_1"


@settings(max_examples=examples(80), deadline=None)
@given(ITEMS, SEEDS)
def test_a_block_is_the_only_change_to_a_request(items: list[dict[str, Any]], seed: int) -> None:
    fields = {"model": "gpt-5", "input": items, "store": False, "previous_response_id": None}
    body = written_body(fields, seed)
    after = insert_block(body, BLOCK)
    assert is_spliced(body, after, BLOCK)
    found = json.loads(after)
    start = next((at for at, item in enumerate(items) if not _is_before_the_block(item)), len(items))
    assert found.pop("input") == [*items[:start], *json.loads(BLOCK), *items[start:]]
    assert found == {name: value for name, value in fields.items() if name != "input"}


def _is_before_the_block(item: dict[str, Any]) -> bool:
    if item.get("role") in ("developer", "system"):
        return True
    return item.get("role") == "user" and str(item["content"]).startswith("<environment_context>")


@settings(max_examples=40, deadline=None)
@given(TEXTS, SEEDS)
def test_a_text_becomes_a_list_that_has_the_text_as_it_was_written(text: str, seed: int) -> None:
    body = written_body({"model": "gpt-5", "input": text, "store": False}, seed)
    after = insert_block(body, BLOCK)
    found = json.loads(after)
    assert found["input"] == [*json.loads(BLOCK), {"type": "message", "role": "user", "content": text}]
    assert bytes(msgspec.json.decode(body, type=dict[str, msgspec.Raw])["input"]) in after, "as it was written"


def test_a_stream_is_read_as_the_sdk_reads_it() -> None:
    TypeAdapter(list[ResponseStreamEvent]).validate_python(TURN)
    reader = open_stream()
    passed(reader, [sse(*TURN)])
    theirs, ours = Response.model_validate(ENDED), reader.answer()
    assert (ours.id, ours.model, ours.text, ours.finish) == ("resp_1", "gpt-5.5", theirs.output_text, "completed")
    assert ours.calls == (ToolCall("c1", "exec_command", {"cmd": "ls"}),)
    assert ours.usage == Usage(input=12, output=5, cache_read=8, cache_write=0, reasoning=3)
    assert read_response(theirs.model_dump_json(exclude_unset=True).encode()) == ours


def test_an_error_in_a_stream_is_told() -> None:
    reader = open_stream()
    passed(reader, [sse(TURN[0], {"type": "error", "code": "x", "message": "overloaded", "param": None})])
    assert reader.answer().error == "overloaded"
    failed = {**RESPONSE, "status": "failed", "error": {"code": "server_error", "message": "no"}}
    reader = open_stream()
    passed(reader, [sse({"type": "response.failed", "response": failed})])
    assert (reader.answer().error, reader.answer().finish) == ("no", "failed")


BROKEN = ["not json", "7", '{"type":"response.completed","response":7}', '{"type":[],"response":{"usage":7}}']
FIELDS = ["type", "response", "item", "output", "output_index", "delta"]
