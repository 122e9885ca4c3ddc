"""Trajectories of SWE-agent, with steps or with a history only."""

from __future__ import annotations

from pathlib import Path

from seasoned.session import Message, Result, SessionRef, ToolCall, Usage
from tests.history.small_formats import read


def test_steps_are_calls_without_a_label(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "swe-agent")
    opened = Result("[File: setup.py (9 lines total)]")
    assert session.ref == SessionRef("swe-agent", "task")
    assert list(session.calls()) == [
        ToolCall("step_0", "open", {"command": "open setup.py\n"}, opened, 0, 2, place=0),
        ToolCall("step_1", "bash", {"command": "python -m pytest"}, Result("1 failed"), 1, 4, place=1),
        ToolCall("step_2", "submit", {"command": "submit"}, Result(""), 2, 6, place=2),
    ]
    assert session.messages[:2] == (Message("system", "SETTING: a shell."), Message("user", "Fix the test.", place=2))
    assert (session.cwd, session.end_reason, session.succeeded) == ("/repo", "submitted", True)
    assert (session.usage, session.cost_usd) == (Usage(input=1000, output=50), 0.5)


def test_a_history_without_steps_is_read_in_their_stead(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "swe-agent history")
    found = ToolCall("call_f", "find_file", {"command": "find_file a.py"}, Result("Found 1 match"), 0, 2, place=2)
    assert list(session.calls()) == [found]
    assert session.succeeded is None
