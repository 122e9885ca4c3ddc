"""ShareGPT conversations with calls and results in XML."""

from __future__ import annotations

from pathlib import Path

from seasoned.session import Message, Result, SessionRef, ToolCall, Unreadable
from tests.history.small_formats import SHAREGPT, lines, read


def test_calls_take_the_id_that_their_result_names(tmp_path: Path) -> None:
    first, second = read(tmp_path, "sharegpt")
    assert (first.ref, second.ref) == (SessionRef("hermes", "trajectories/0"), SessionRef("sharegpt", "trajectories/1"))
    clock = ToolCall("call_c", "clock", {"tz": "UTC"}, Result("noon"), 0, 2, place=2)
    again = ToolCall("made_1", "clock", {}, Result("plain text"), 1, 4, place=4)
    assert first.messages == (
        Message("system", "Call functions.", place=0),
        Message("user", "Time?", place=1),
        Message("assistant", "I ask.", (clock,), place=2),
        Message("tool", "noon", place=3, answers="call_c"),
        Message("assistant", "Again.", (again,), place=4),
        Message("tool", "plain text", place=5, answers="made_1"),
        Message("assistant", "Noon.", place=6),
    )
    assert (first.model, first.end_reason, first.started) == ("hermes-4", "completed", 1767225600.0)
    assert (first.unreadable, second.unreadable) == ((), ())


def test_a_call_that_is_no_json_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    value = '<tool_call>{"name": "a"</tool_call><tool_call>{"name": "b", "arguments": "{\\"n\\": 1}"}</tool_call>'
    turns = [{"from": "gpt", "value": value}, {"from": "tool", "value": '{"ok": true}'}, {"value": "who?"}]
    (session,) = read(tmp_path, "sharegpt", lines({"conversations": turns}, {"conversations": 3}))
    assert [(c.tool, c.arguments, c.result) for c in session.calls()] == [("b", {"n": 1}, Result('{"ok": true}'))]
    assert session.unreadable == (
        Unreadable("line 1, turn 0", "a tool call that is not JSON: Input data was truncated"),
        Unreadable("line 1, turn 2", "a turn without a speaker"),
        Unreadable("line 2", "a number where a conversation should be"),
    )


def test_a_result_that_is_an_object_stays_json(tmp_path: Path) -> None:
    response = '<tool_response>{"tool_call_id": "x1", "name": "clock", "content": {"exit_code": 0}}</tool_response>'
    turns = [SHAREGPT["conversations"][2], {"from": "tool", "value": response}]
    (session,) = read(tmp_path, "sharegpt", lines({"conversations": turns}))
    assert [(c.id, c.result) for c in session.calls()] == [("x1", Result('{"exit_code":0}'))]
