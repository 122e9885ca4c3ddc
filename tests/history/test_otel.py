"""OpenTelemetry spans: history repeated in every chat is told once, and a tool's span says whether it failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Unreadable, Usage
from tests.history.small_formats import lines, read

_FIRST = 1_760_000_000.0


@pytest.mark.parametrize("name", ["otel", "otel lines"])
def test_spans_of_one_conversation_are_one_session(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert session.ref == SessionRef("otel", "conv-1")
    assert [(m.role, m.text, m.time) for m in session.messages] == [
        ("user", "Weather?", _FIRST + 1),
        ("assistant", "I ask.", _FIRST + 1.5),
        ("tool", "timeout", _FIRST + 3.5),
        ("tool", "rain", _FIRST + 4),
        ("assistant", "Rain.", _FIRST + 4.5),
    ]
    assert [(c.id, c.tool, c.arguments, c.result) for c in session.calls()] == [
        ("w1", "weather", {"city": "Oslo"}, Result("rain", time=_FIRST + 4)),
        ("w2", "weather", {"city": "Rome"}, Result("timeout", Marks(failed=True), _FIRST + 3.5)),
    ]
    assert session.usage == Usage(input=20, output=4, cache_read=10)
    assert session.model == "m-4"


def test_spans_as_an_sdk_prints_them(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "otel flat")
    result = Result("boom", Marks(failed=True), 1769904001.0)
    made = ToolCall("made_0", "look", {"a": 1}, result, 0, 0, 1769904000.0)
    assert session.ref == SessionRef("otel", "0xaa")
    assert session.messages[0] == Message("assistant", "", (made,), 1769904000.0)


def test_events_of_earlier_conventions(tmp_path: Path) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}]
    span = {
        "trace_id": "t1",
        "name": "chat m-5",
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m-5"},
        "events": [
            {"name": "gen_ai.user.message", "attributes": {"content": "Look."}},
            {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(calls)}},
            {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "seen"}},
            {"name": "gen_ai.choice", "attributes": {"message": '{"content": "I saw it."}'}},
        ],
    }
    (session,) = read(tmp_path, "otel flat", lines(span))
    assert [(m.role, m.text) for m in session.messages] == [
        ("user", "Look."),
        ("assistant", ""),
        ("tool", "seen"),
        ("assistant", "I saw it."),
    ]
    assert [(c.id, c.arguments, c.result) for c in session.calls()] == [("c1", {"a": 1}, Result("seen"))]


def test_an_execution_whose_content_was_not_recorded_is_still_a_call(tmp_path: Path) -> None:
    span = {
        "traceId": "t1",
        "name": "execute_tool look",
        "startTimeUnixNano": "1760000000000000000",
        "endTimeUnixNano": "1760000001000000000",
        "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}],
    }
    (session,) = read(tmp_path, "otel flat", lines(span, 5))
    assert [(c.tool, c.result) for c in session.calls()] == [("look", Result("", time=_FIRST + 1))]
    assert session.unreadable == (Unreadable("line 2", "a number where spans should be"),)
