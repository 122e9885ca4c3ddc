"""Sessions of Pi."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.history.read import read as read_path
from seasoned.session import Marks, SessionRef, Usage
from tests.history.small_formats import lines, read
from tests.history.terminal_agents import PI

PROJECTS = Path(__file__).resolve().parents[3] / "shared" / "projects"
REAL = sorted(PROJECTS.glob("*/pi/*"))


def test_a_result_has_a_flag_and_a_command_says_its_exit_code(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "pi")
    assert session.ref == SessionRef("pi", "019db81c")
    assert (session.parent, session.relation) == (SessionRef("pi", "019aaaaa"), "fork")
    assert (session.title, session.cwd, session.model) == ("The till", "/home/mira/shop", "gpt-5-mini")
    marks = [None if call.result is None else call.result.marks for call in session.calls()]
    assert marks == [
        Marks(failed=False, exit_code=0),
        Marks(failed=True, exit_code=3),
        Marks(failed=True),
        Marks(interrupted=True),
        Marks(interrupted=True),
    ]
    assert session.usage == Usage(input=100, output=10, cache_read=40, cache_write=2)
    assert session.cost_usd == 0.5
    assert len(session.compactions) == 1
    assert session.unreadable == ()


def test_the_output_of_a_command_that_the_user_ran_is_not_what_the_user_said(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "pi")
    assert [message.text for message in session.messages if message.role == "user" and not message.summary] == [
        "fix the till",
        "!ls",
    ]
    assert [message.text for message in session.messages if message.role == "system"] == ["from an extension"]
    assert [message.thinking for message in session.messages if message.thinking] == ["hm"]


def test_a_file_without_its_header_takes_its_id_from_its_name(tmp_path: Path) -> None:
    path = tmp_path / "2026-04-23T02-13-15-937Z_019db81c-ea21.jsonl"
    path.write_bytes(lines(*PI[1:]))
    (session,) = read_path(path)
    assert session.ref == SessionRef("pi", "019db81c-ea21")


@pytest.mark.skipif(not REAL, reason="no real sessions of Pi beside the checkout at shared/projects")
def test_real_sessions_are_read_whole() -> None:
    """Counted once more by plain Python: calls, results and flags."""
    messages = [json.loads(line).get("message", {}) for path in REAL for line in path.read_text().splitlines()]
    results = [one for one in messages if one.get("role") == "toolResult"]
    asked = sum(
        block["type"] == "toolCall" for one in messages if one.get("role") == "assistant" for block in one["content"]
    )
    sessions = [one for path in REAL for one in read_path(path)]
    calls = [call for one in sessions for call in one.calls()]
    assert not [lost for one in sessions for lost in one.unreadable]
    assert len(calls) == asked
    assert sum(call.result is not None for call in calls) >= len(results)
    flags = [call.result.marks for call in calls if call.result is not None]
    assert sum(mark.failed is True for mark in flags) == sum(one["isError"] for one in results)
