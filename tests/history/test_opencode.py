"""OpenCode: the same session as an export and in its database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seasoned.history.formats import recognise
from seasoned.history.read import read as read_path
from seasoned.history.reader import opencode
from seasoned.session import Marks, Session, SessionRef, Usage
from tests.history.small_formats import read
from tests.history.terminal_agents import START, opencode_database

PROJECTS = Path(__file__).resolve().parents[3] / "shared" / "projects"
REAL = sorted(PROJECTS.glob("*/opencode/*"))


def exported(folder: Path) -> Session:
    (session,) = read(folder, "opencode")
    return session


def test_a_state_is_the_label_of_a_call_and_a_command_has_its_exit_code(tmp_path: Path) -> None:
    session = exported(tmp_path)
    assert session.ref == SessionRef("opencode", "ses_1")
    assert (session.parent, session.relation) == (SessionRef("opencode", "ses_0"), "subagent")
    assert (session.title, session.cwd, session.model) == ("Fix the till", "/home/mira/shop", "gpt-5.4")
    marks = {call.id: None if call.result is None else call.result.marks for call in session.calls()}
    assert marks == {
        "c1": Marks(exit_code=0),
        "c2": Marks(exit_code=1),
        "c3": Marks(failed=False),
        "c4": Marks(failed=True),
        "c5": Marks(declined=True),
        "c6": Marks(interrupted=True),
        "c7": None,
        "c8": Marks(failed=True),
    }
    assert [call.tool for call in session.calls()][-1] == "grep", "OpenCode answers for a tool it could not call"
    assert next(session.calls()).time == (START + 3000) / 1000
    assert session.usage == Usage(input=100, output=15, cache_read=40, cache_write=2, reasoning=5)
    assert session.cost_usd == 0.25
    assert session.compactions
    assert session.unreadable == ()


def test_what_opencode_adds_to_a_request_is_not_what_the_user_said(tmp_path: Path) -> None:
    said = [(message.role, message.text) for message in exported(tmp_path).messages[:3]]
    assert said == [
        ("user", "fix the till"),
        ("system", "Called the Read tool: the whole file"),
        ("assistant", "I run the tests."),
    ]
    assert exported(tmp_path).messages[2].thinking == "hm"


def test_the_database_holds_the_same(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    opencode_database(path)
    assert recognise(path) == "opencode"
    expected, (found,) = exported(tmp_path), opencode.read(path)
    assert [(m.role, m.text) for m in found.messages] == [(m.role, m.text) for m in expected.messages]
    assert [(c.id, c.tool, c.result) for c in found.calls()] == [(c.id, c.tool, c.result) for c in expected.calls()]
    assert (found.ref, found.cwd, found.usage) == (expected.ref, expected.cwd, expected.usage)
    assert list(opencode.stamps(path)) == ["ses_1"]
    assert not list(opencode.read(path, only=[]))


@pytest.mark.skipif(not REAL, reason="no real sessions of OpenCode beside the checkout at shared/projects")
def test_real_sessions_are_read_whole() -> None:
    """Counted once more by plain Python: calls, errors and commands with an exit code."""
    calls = errors = codes = 0
    for path in REAL:
        for message in json.loads(path.read_text())["messages"]:
            states = [part["state"] for part in message["parts"] if part["type"] == "tool"]
            calls += len(states)
            errors += sum(state["status"] == "error" for state in states)
            codes += sum(bool((state.get("metadata") or {}).get("exit")) for state in states)
    sessions = [one for path in REAL for one in read_path(path)]
    marks = [call.result.marks for one in sessions for call in one.calls() if call.result is not None]
    assert len(sessions) == len(REAL)
    assert not [lost for one in sessions for lost in one.unreadable]
    assert len(marks) == calls
    assert sum(mark.failed is True or mark.interrupted or mark.declined for mark in marks) == errors
    assert sum(bool(mark.exit_code) for mark in marks) == codes
