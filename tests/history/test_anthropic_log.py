"""Anthropic-style logs: an error is one where the block says so, and unknown where it says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Usage
from tests.history.small_formats import ANTHROPIC, lines, read


@pytest.mark.parametrize("name", ["anthropic messages", "anthropic lines"])
def test_blocks_become_calls_and_results(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("anthropic", "log")
    assert [(c.id, c.tool, c.arguments, c.result) for c in session.calls()] == [
        ("toolu_1", "read", {"path": "a.txt"}, Result("A")),
        ("toolu_2", "read", {"path": "b.txt"}, Result("ENOENT", Marks(failed=True))),
        ("toolu_3", "read", {"path": "c.txt"}, Result("", Marks(failed=False))),
    ]
    assert [(m.role, m.text) for m in session.messages] == [
        ("user", "Read a.txt and b.txt."),
        ("assistant", "I read."),
        ("tool", "ENOENT"),
        ("tool", "A"),
        ("tool", ""),
        ("user", "Go on."),
    ]


def test_requests_with_responses_are_one_conversation(tmp_path: Path) -> None:
    def response(message_id: str, content: list[object]) -> dict[str, object]:
        return {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": "c-1",
            "stop_reason": "tool_use",
            "content": content,
            "usage": {
                "input_tokens": 5,
                "output_tokens": 2,
                "cache_read_input_tokens": 7,
                "cache_creation_input_tokens": 1,
            },
        }

    blocks = ANTHROPIC[1]["content"]
    data = lines(
        {"request": {"system": "Be brief.", "messages": ANTHROPIC[:1]}, "response": response("msg_1", blocks)},
        {
            "request": {"system": "Be brief.", "messages": ANTHROPIC},
            "response": response("msg_2", [{"type": "text", "text": "Done."}]),
        },
    )
    (session,) = read(tmp_path, "anthropic lines", data)
    assert [m.role for m in session.messages] == ["system", "user", "assistant", *["tool"] * 3, "user", "assistant"]
    assert session.messages[0] == Message("system", "Be brief.")
    assert session.usage == Usage(input=10, output=4, cache_read=14, cache_write=2)
    assert next(session.calls()) == ToolCall("toolu_1", "read", {"path": "a.txt"}, Result("A"), 0, 2, place=2)
