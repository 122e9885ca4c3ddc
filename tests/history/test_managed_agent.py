"""Events of Claude managed agents, plain and wrapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.session import Marks, SessionRef, Usage
from tests.history.small_formats import lines, read


@pytest.mark.parametrize("name", ["managed", "managed wrapped"])
def test_flags_refusals_and_interruptions(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("claude-managed", "events")
    assert [(c.id, c.tool, c.arguments, c.result and (c.result.text, c.result.marks)) for c in session.calls()] == [
        ("t1", "bash", {"command": "make"}, ("ok", Marks(failed=False))),
        ("t2", "bash", {"command": "rm"}, ("No.", Marks(declined=True))),
        ("t3", "bash", {"command": "sleep"}, ("", Marks(interrupted=True))),
    ]
    assert [message.text for message in session.messages] == ["Build.", "I build.", "ok", "", "No.", ""]
    assert session.usage == Usage(input=9, output=3)
    assert session.unreadable == ()


def test_a_result_after_an_interrupt_says_how_it_ended(tmp_path: Path) -> None:
    uses = [{"type": "agent.mcp_tool_use", "id": key, "name": "x", "input": {}} for key in ("a", "b")]
    ends = [
        {"type": "agent.mcp_tool_result", "mcp_tool_use_id": "a", "content": "cancelled", "is_error": True},
        {"type": "agent.mcp_tool_result", "mcp_tool_use_id": "b", "content": "fine", "is_error": False},
    ]
    (session,) = read(tmp_path, "managed", lines(*uses, {"type": "user.interrupt"}, *ends))
    assert [c.result and c.result.marks for c in session.calls()] == [
        Marks(failed=True, interrupted=True),
        Marks(failed=False),
    ]
