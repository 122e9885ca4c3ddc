"""Runs of tau-bench: with tool calls, as ReAct text, and those that never began."""

from __future__ import annotations

from pathlib import Path

from seasoned.session import Marks, Message, Result, SessionRef, ToolCall
from tests.history.small_formats import document, read


def test_every_run_is_a_session_with_its_reward(tmp_path: Path) -> None:
    sessions = read(tmp_path, "tau-bench")
    assert [session.ref for session in sessions] == [
        SessionRef("tau-bench", "run/3.0"),
        SessionRef("tau-bench", "run/3.1"),
        SessionRef("tau-bench", "run/4.0"),
    ]
    assert [session.succeeded for session in sessions] == [True, False, False]
    assert [session.end_reason for session in sessions] == [None, None, "error"]
    assert [len(session.messages) for session in sessions] == [6, 8, 0]
    assert [result.marks for s in sessions for c in s.calls() if (result := c.result)] == [Marks()] * 4


def test_calls_are_read_out_of_react_text(tmp_path: Path) -> None:
    run = read(tmp_path, "tau-bench")[1]
    find = ToolCall("react_0", "find_user", {"n": "Ada"}, Result("Error: user not found"), 0, 2, place=2)
    think = ToolCall("react_1", "think", {"thought": "Eve"}, Result(""), 1, 6, place=6)
    assert list(run.calls()) == [find, think]
    assert run.messages[3:6] == (
        Message("tool", "Error: user not found", place=3, answers="react_0"),
        Message("assistant", 'I ask.\nAction: {"name": "respond", "arguments": {"content": "?"}}', place=4),
        Message("user", "Try Eve.", place=5),
    )


def test_an_output_answers_the_action_before_it_and_no_older_one(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "content": 'Action: {"name": "a", "arguments": {}}'},
        {"role": "user", "content": "Stop that."},
        {"role": "assistant", "content": 'Action: {"name": "b", "arguments": {}}'},
        {"role": "user", "content": "API output: b was run"},
    ]
    (run,) = read(tmp_path, "tau-bench", document([{"task_id": 1, "reward": 0.5, "traj": turns}]))
    assert [(c.tool, c.result) for c in run.calls()] == [("a", None), ("b", Result("b was run"))]
    assert run.succeeded is False


def test_an_action_with_words_behind_it_was_never_run(tmp_path: Path) -> None:
    turns = [
        {"role": "assistant", "content": 'Action: {"name": "a", "arguments": {}}\nAnything else?'},
        {"role": "user", "content": "No."},
    ]
    (run,) = read(tmp_path, "tau-bench", document([{"task_id": 1, "reward": 1.0, "traj": turns}]))
    assert list(run.calls()) == []
