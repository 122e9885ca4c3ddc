"""Chat completions on the wire: read beside the bytes, which pass as they are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from seasoned.gateway.wire.chat import ask_for_usage, insert_block, open_stream, read_request, read_response
from seasoned.session import Message, Result, ToolCall, Usage
from tests.conftest import examples
from tests.each_case import each_case
from tests.gateway.written import BORDERS, SEEDS, TEXTS, block, cut, is_spliced, passed, sse, written_body

BLOCK = block("openai")
TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25, "prompt_tokens_details": {"cached_tokens": 8}}
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}

CONTENTS = TEXTS | st.lists(TEXTS.map(lambda text: {"type": "text", "text": text}), max_size=2)
MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["system", "user", "assistant"]),
        CONTENTS,
    )
    | TEXTS.map(
        lambda text: {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": text}}],
        }
    )
    | TEXTS.map(lambda text: {"role": "tool", "tool_call_id": "c1", "content": text}),
    max_size=6,
)


def chunk(delta: dict[str, Any] | None = None, *, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One event of a stream; without a delta it has no choice."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {**HEAD, "choices": choices, **fields}


def call_delta(index: int, *, id: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    function = {"arguments": arguments} | ({} if name is None else {"name": name})
    named = {} if id is None else {"id": id, "type": "function"}
    return {"tool_calls": [{"index": index, "function": function, **named}]}


TURN = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "I look "}),
    chunk({"content": "\u2028é𝄞"}),
    chunk(call_delta(0, id="c1", name="bash")),
    chunk(call_delta(0, arguments='{"cmd"')),
    chunk(call_delta(1, id="c2", name="bash", arguments="{}")),
    chunk(call_delta(0, arguments=':"ls"}')),
    chunk({}, finish="tool_calls"),
]
ONLY_USAGE = chunk(usage=USAGE)


def test_a_request_is_read_as_a_conversation() -> None:
    called = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"cmd":"ls"}'}}
    body = {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "system", "content": "A hook says hello."},
            {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        ],
        "tools": [TOOL],
        "stream": True,
        "max_completion_tokens": 9,
        "prompt_cache_key": "k",
    }
    asked = read_request(json.dumps(body).encode())
    assert asked is not None
    assert (asked.model, asked.system, asked.tools) == ("gpt-5", "Be brief.\nBe kind.", (TOOL,))
    assert (asked.is_stream, asked.wants_usage, asked.max_tokens, asked.prompt_cache_key) == (True, False, 9, "k")
    assert asked.messages == (
        Message("user", "Look\n[image]"),
        Message("assistant", "", (ToolCall("c1", "bash", {"cmd": "ls"}, Result("a.txt")),)),
        Message("system", "A hook says hello."),
        Message("tool", "a.txt", answers="c1"),
    )
    assert asked.results == {"c1": Result("a.txt")}


def test_a_block_in_a_request_is_marked_and_what_tools_say_is_not() -> None:
    said = [{"role": "user", "content": "Hello"}, {"role": "tool", "tool_call_id": "x", "content": "[seasoned:warm v1"}]
    body = json.dumps({"model": "m", "messages": [{"role": "system", "content": "S"}, *said]}).encode()
    warm = read_request(insert_block(body, BLOCK))
    cold = read_request(body)
    assert warm is not None and cold is not None
    assert warm.carries_block and not cold.carries_block
    assert tuple(m for m in warm.messages if not m.synthetic) == cold.messages


@settings(max_examples=examples(80), deadline=None)
@given(MESSAGES, SEEDS)
def test_a_block_is_the_only_change_to_a_request(messages: list[dict[str, Any]], seed: int) -> None:
    fields = {"model": "gpt-5", "messages": messages, "temperature": 0.5, "mêta/": {"a": [1e3, None, True]}}
    body = written_body(fields, seed)
    after = insert_block(body, BLOCK)
    assert is_spliced(body, after, BLOCK)
    found = json.loads(after)
    start = next((at for at, m in enumerate(messages) if m["role"] != "system"), len(messages))
    assert found.pop("messages") == [*messages[:start], *json.loads(BLOCK), *messages[start:]]
    assert found == {name: value for name, value in fields.items() if name != "messages"}


@each_case(
    ("before", "after"),
    [
        (b'{"stream":true}', b'{"stream":true,"stream_options":{"include_usage":true}}'),
        (b'{"stream":true,"stream_options": null }', b'{"stream":true,"stream_options":{"include_usage":true}}'),
        (b'{"stream_options":{ },"stream":true}', b'{"stream_options":{"include_usage":true},"stream":true}'),
        (
            b'{"stream":true,"stream_options":{"x":1 , "include_usage": false}}',
            b'{"stream":true,"stream_options":{"x":1,"include_usage":true}}',
        ),
        (
            b'{ "stream" : true , "a" : "\\u00e9" } ',
            b'{"stream":true,"a":"\\u00e9","stream_options":{"include_usage":true}}',
        ),
        (b'{"stream":true,"stream_options":{"include_usage":true}}', None),
        (b'{"stream":false}', None),
        (b'{"model":"m"}', None),
        (b'{"stream":true,"stream_options":7}', None),
    ],
)
def test_a_stream_is_asked_for_its_usage_where_it_would_not_tell(before: bytes, after: bytes | None) -> None:
    assert ask_for_usage(before) == after


def test_a_stream_is_read_as_the_sdk_reads_it() -> None:
    reader = open_stream()
    passed(reader, [sse(*TURN, ONLY_USAGE, "[DONE]")])
    state = ChatCompletionStreamState()
    for event in [*TURN, ONLY_USAGE]:
        state.handle_chunk(ChatCompletionChunk.model_validate(event))
    theirs = state.get_final_completion()
    told, ours = theirs.choices[0].message, reader.answer()
    assert (ours.text, ours.finish, ours.id, ours.model) == (told.content, "tool_calls", theirs.id, theirs.model)
    assert told.tool_calls is not None
    assert [(c.id, c.tool, c.arguments) for c in ours.calls] == [
        (c.id, c.function.name, json.loads(c.function.arguments)) for c in told.tool_calls
    ]
    assert ours.usage == Usage(input=12, output=5, cache_read=8)
    assert ours.raw_usage == USAGE


BROKEN = ["not json", "7", '{"choices":[7,null],"usage":[]}', '{"error":{"message":"no"}}']
FIELDS = ["choices", "delta", "tool_calls", "usage", "index", "id", "function"]


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(TEXTS, max_size=4), BORDERS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_only_the_usage_event_that_we_asked_for_is_taken_out(texts: list[str], borders: list[int], end: str) -> None:
    said = [chunk({"content": text}, usage=None) for text in texts]
    data = sse(*said, ONLY_USAGE, "[DONE]", end=end)
    reader = open_stream()
    reader.takes_usage_out = True
    assert passed(reader, cut(data, borders)) == sse(*said, "[DONE]", end=end)
    assert reader.answer().raw_usage == USAGE


def test_a_stream_that_breaks_off_keeps_what_was_said() -> None:
    reader = open_stream()
    passed(reader, [sse(*TURN[:5])])
    answer = reader.answer()
    assert (answer.text, answer.finish, answer.usage) == ("I look \u2028é𝄞", None, None)
    assert answer.calls == (ToolCall("c1", "bash", {"input": '{"cmd"'}),)


def test_an_error_in_a_stream_is_told() -> None:
    reader = open_stream()
    passed(reader, [sse(*TURN[:2], {"error": {"message": "overloaded", "type": "server_error"}})])
    assert reader.answer().error == "overloaded"
    assert read_response(b'{"error":"no such model"}').error == "no such model"
    assert read_response(b"<html>").error == "the answer is not a JSON object"


def test_a_call_without_an_id_has_the_same_one_in_the_answer_and_in_the_next_request() -> None:
    called = {"function": {"name": "bash", "arguments": '{"b":1,"a":2}'}}
    reader = open_stream()
    passed(reader, [sse(chunk({"tool_calls": [{"index": 0, **called}]}))])
    turn = {"role": "assistant", "content": "", "tool_calls": [called]}
    asked = read_request(json.dumps({"model": "m", "messages": [turn]}).encode())
    assert asked is not None
    assert [call.id for call in asked.messages[0].calls] == [call.id for call in reader.answer().calls]
