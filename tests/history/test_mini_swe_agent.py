"""Trajectories of mini-swe-agent, with commands in the text or as tool calls."""

from __future__ import annotations

from pathlib import Path

from seasoned.session import Marks, Result, SessionRef, ToolCall, Usage
from tests.history.small_formats import MINI_TEXT, read


def test_commands_in_the_text_are_calls_with_their_code(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "mini-swe-agent text")
    assert session.ref == SessionRef("mini-swe-agent", "a")
    outputs = [MINI_TEXT[index]["content"] for index in (3, 7, 9)]
    assert list(session.calls()) == [
        ToolCall("step_2", "bash", {"command": "ls -la"}, Result(outputs[0], Marks(exit_code=0)), 0, 2, place=2),
        ToolCall("step_6", "bash", {"command": "pytest -q"}, Result(outputs[1], Marks(exit_code=1)), 1, 6, place=6),
        ToolCall(
            "step_8", "bash", {"command": "rm -rf build"}, Result(outputs[2], Marks(declined=True)), 2, 8, place=8
        ),
    ]
    # Two blocks in one answer are refused: nothing ran, and the refusal is a word to the model.
    assert session.messages[5].role == "user"


def test_tool_calls_of_newer_versions(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "mini-swe-agent tools")
    result = Result("<returncode>2</returncode>\n<output>\nno\n</output>", Marks(exit_code=2))
    assert list(session.calls()) == [ToolCall("call_1", "bash", {"command": "ls"}, result, 0, 2, place=2)]
    assert (session.end_reason, session.succeeded, session.cost_usd) == ("Submitted", True, 0.05)
    assert (session.model, session.cwd, session.usage) == ("m-1", "/testbed", Usage(input=90, output=9))
