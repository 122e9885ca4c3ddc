"""OpenAI-style logs: messages, records, requests that repeat their history, items of the Responses API."""

from __future__ import annotations

from pathlib import Path

from seasoned.history.reader.log import openai_log
from seasoned.session import Message, Result, Session, SessionRef, ToolCall, Unreadable, Usage
from tests.history.small_formats import OPENAI, call, document, lines, read

WATER = ToolCall("call_a", "water", {"plant": "rose"}, Result(""), index=0, message=2, place=2)
LOOK = ToolCall("call_b", "look", {"plant": "rose"}, Result("dry"), index=1, message=2, place=2)


def read_bytes(tmp_path: Path, data: bytes, name: str = "log.jsonl") -> list[Session]:
    path = tmp_path / name
    path.write_bytes(data)
    return list(openai_log.read(path))


def test_a_list_of_messages_is_one_session(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "openai messages")
    assert session.ref == SessionRef("openai", "log")
    assert session.messages == (
        Message("system", "You keep a garden.", place=0),
        Message("user", "Water the roses.", place=1),
        Message("assistant", "", (WATER, LOOK), place=2),
        Message("tool", "dry", place=3, answers="call_b"),
        Message("tool", "", place=4, answers="call_a"),
        Message("assistant", "Done.", place=5),
    )
    assert session.unreadable == ()


def test_records_are_sessions_of_their_own(tmp_path: Path) -> None:
    first, second = read(tmp_path, "openai records")
    assert (first.ref.native_id, second.ref.native_id) == ("log/r1", "log/1")
    assert list(first.calls()) == [WATER, LOOK]
    assert [message.role for message in second.messages] == ["system", "user"]


def test_requests_that_repeat_their_history_are_one_conversation(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    data = lines(
        {
            "request": {"model": "g-1", "messages": OPENAI[:2]},
            "response": {"choices": [{"message": {**OPENAI[2], "refusal": None}}], "usage": usage},
        },
        {"request": {"messages": [{"role": "user", "content": "Another matter."}]}, "response": {"choices": []}},
        {
            "request": {"model": "g-1", "messages": OPENAI[:5]},
            "response": {"choices": [{"message": OPENAI[5]}], "usage": usage},
        },
    )
    first, second = read_bytes(tmp_path, data)
    assert [message.role for message in first.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert list(first.calls()) == [WATER, LOOK]
    assert first.model == "g-1"
    assert first.usage == Usage(input=12, output=4, cache_read=8)
    assert [message.text for message in second.messages] == ["Another matter."]


def test_one_session_id_joins_records_and_the_same_words_said_twice_stay(tmp_path: Path) -> None:
    again = [{"role": "user", "content": "again"}, {"role": "assistant", "content": "yes"}]
    data = lines(
        {"session_id": "s-1", "messages": again},
        {"session_id": "s-1", "messages": [*again, *again]},
        {"messages": again},
    )
    first, second = read_bytes(tmp_path, data)
    assert first.ref == SessionRef("openai", "s-1")
    assert [message.text for message in first.messages] == ["again", "yes", "again", "yes"]
    assert second.ref == SessionRef("openai", "log/2")


def test_records_with_the_same_id_are_told_apart(tmp_path: Path) -> None:
    record = {"task_id": 7, "trial": 1, "messages": OPENAI[:2], "resolved": True}
    sessions = read_bytes(tmp_path, document([record, record]), "runs.json")
    assert [session.ref.native_id for session in sessions] == ["runs/7.1", "runs/7.1#2"]
    assert [session.succeeded for session in sessions] == [True, True]


def test_the_old_function_call_is_paired_by_its_name(tmp_path: Path) -> None:
    data = lines(
        {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": '{"a": 1}'}},
        {"role": "function", "name": "add", "content": "2"},
    )
    (session,) = read_bytes(tmp_path, data)
    (made,) = session.calls()
    assert (made.id, made.tool, made.arguments) == ("made_0", "add", {"a": 1})
    assert made.result == Result("2")


def test_items_of_the_responses_api(tmp_path: Path) -> None:
    data = lines(
        {
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Add."}]},
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "fc_1", "name": "add", "arguments": '{"a": 1}'},
                {"type": "function_call", "call_id": "fc_2", "name": "add", "arguments": "no json"},
                {"type": "function_call_output", "call_id": "fc_1", "output": "2"},
            ],
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]}],
            "usage": {"input_tokens": 9, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 2}},
        }
    )
    (session,) = read_bytes(tmp_path, data)
    assert [(m.role, m.text) for m in session.messages] == [
        ("user", "Add."),
        ("assistant", ""),
        ("tool", "2"),
        ("assistant", "Two."),
    ]
    assert [(c.id, c.arguments, c.result) for c in session.calls()] == [
        ("fc_1", {"a": 1}, Result("2")),
        ("fc_2", {"input": "no json"}, None),
    ]
    assert session.usage == Usage(input=9, output=3, reasoning=2)


def test_an_id_used_for_two_calls_is_told_apart_and_a_copy_is_not(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "content": "", "tool_calls": [call("call_0", "look", at="a")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "A"},
        {"role": "assistant", "content": "", "tool_calls": [call("call_0", "look", at="b")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "B"},
        {"role": "assistant", "content": "", "tool_calls": [call("call_0", "look", at="a")]},
    ]
    (session,) = read_bytes(tmp_path, document(turns), "log.json")
    assert [(c.id, c.arguments, c.result) for c in session.calls()] == [
        ("call_0", {"at": "a"}, Result("A")),
        ("call_0#2", {"at": "b"}, Result("B")),
    ]


def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    data = document(
        [
            OPENAI[0],
            17,
            {"role": "ghost", "content": "boo"},
            {"role": "assistant", "tool_calls": [{"id": "x", "function": {}}]},
            {"role": "tool", "tool_call_id": "nobody", "content": "?"},
        ]
    )
    (session,) = read_bytes(tmp_path, data, "log.json")
    assert session.unreadable == (
        Unreadable("item 1", "a number that is neither a message nor holds messages"),
        Unreadable("item 2", "an object that is neither a message nor holds messages"),
        Unreadable("item 3", "a tool call without a tool name"),
        Unreadable("at 4", "a result for call 'nobody', which this session does not have"),
    )
