"""Sessions that Hermes exported, in their three shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Usage
from tests.history.small_formats import read

TERMINAL = '{"output": "a", "exit_code": 0, "error": null}'


@pytest.mark.parametrize("name", ["hermes", "hermes lines"])
def test_the_document_and_its_twin_are_the_same_session(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("hermes", "20260101_120000_abcdef")
    assert session.model == "hermes-4"
    (made,) = session.calls()
    # What a tool said stays text: whether it failed is for the judge to read.
    assert made.result is not None
    assert (made.id, made.tool, made.arguments) == ("call_t", "terminal", {"command": "ls"})
    assert (made.result.text, made.result.marks) == (TERMINAL, Marks())
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "assistant"]


def test_an_archive_says_where_it_comes_from(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "hermes archive")
    result = Result("no such file", Marks(failed=True, exit_code=2), 1767258021.0)
    made = ToolCall("c-1", "read_file", {"path": "a.py"}, result, 0, 1, 1767258020.0, 1)
    assert session.messages == (
        Message("user", "Fix.", time=1767258005.0),
        Message("assistant", "I look.", (made,), 1767258020.0, 1),
        Message("tool", "no such file", time=1767258021.0, place=2, answers="c-1"),
    )
    assert (session.parent, session.relation) == (SessionRef("hermes", "arch-0"), "resume")
    assert (session.end_reason, session.cwd, session.cost_usd) == ("user_stop", "/repo", 0.25)
    assert session.usage == Usage(input=10, output=5, cache_read=2)
