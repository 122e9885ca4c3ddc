"""Event files of Copilot CLI."""

from __future__ import annotations

from pathlib import Path

from seasoned.session import Marks, Result, SessionRef, ToolCall
from tests.history.small_formats import COPILOT, copilot_event, lines, read

_NO = "The user rejected this tool call."


def at(second: int) -> float:
    return 1769904000.0 + second


def test_a_call_is_asked_for_started_and_ended_once(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "copilot")
    passed = Result("2 passed", Marks(failed=False), at(4))
    refused = Result(_NO, Marks(failed=True, declined=True), at(5))
    missing = Result("Path does not exist", Marks(failed=True), at(7))
    places = [message.place for message in session.messages]
    assert session.ref == SessionRef("copilot", "cop-1")
    assert list(session.calls()) == [
        ToolCall("t1", "bash", {"command": "pytest"}, passed, 0, 1, at(2), places[1]),
        ToolCall("t2", "bash", {"command": "rm"}, refused, 1, 1, at(2), places[1]),
        ToolCall("t3", "view", {"path": "/x"}, missing, 2, 4, at(6), places[4]),
    ]
    assert (session.cwd, session.started, session.ended) == ("/w", at(0), at(8))
    assert session.unreadable == ()


def test_a_file_named_like_all_others_takes_the_name_of_its_folder(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "copilot", lines(*COPILOT[1:]))
    assert session.ref == SessionRef("copilot", tmp_path.name)


def test_a_call_under_way_at_an_abort_was_interrupted(tmp_path: Path) -> None:
    events = [
        copilot_event("tool.execution_start", 1, toolCallId="t1", toolName="bash", arguments={}),
        copilot_event("abort", 2, reason="user"),
    ]
    (session,) = read(tmp_path, "copilot", lines(*events))
    assert [c.result for c in session.calls()] == [Result("", Marks(interrupted=True))]
