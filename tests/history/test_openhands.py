"""Trajectories of OpenHands: events of both kinds, in lists, in lines, in records."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.session import Marks, Message, Result, SessionRef, ToolCall, Unreadable, Usage
from tests.history.small_formats import OPENHANDS, lines, read


@pytest.mark.parametrize("name", ["openhands", "openhands lines"])
def test_actions_are_calls_and_observations_results(name: str, tmp_path: Path) -> None:
    (session,) = read(tmp_path, name)
    assert [(c.id, c.tool, c.arguments, c.result and (c.result.text, c.result.marks)) for c in session.calls()] == [
        # The model's own arguments are kept where its answer is.
        ("toolu_9", "execute_bash", {"command": "pytest -q"}, ("1 failed", Marks(exit_code=1))),
        ("event_3", "edit", {"path": "a.py"}, ("No match", Marks(failed=True))),
        ("event_5", "run", {"command": "rm -rf /"}, ("Rejected", Marks(declined=True))),
    ]
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant", "tool"]
    assert (session.model, session.usage) == ("m-3", Usage(input=50, output=5))
    assert session.unreadable == ()


def test_a_record_with_its_history_is_a_session(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "openhands record")
    assert session.ref == SessionRef("openhands", "output/django-1")
    assert [c.id for c in session.calls()] == ["toolu_9", "event_3"]
    assert (session.succeeded, session.cost_usd) == (False, 0.75)


def test_events_of_the_new_kind(tmp_path: Path) -> None:
    (session,) = read(tmp_path, "openhands new")
    made = ToolCall("n1", "terminal", {"command": "ls"}, Result("none", Marks(failed=True, exit_code=2)), 0, 1)
    places = [message.place for message in session.messages]
    assert session.messages[0] == Message("user", "Go.")
    assert list(session.calls()) == [ToolCall(made.id, made.tool, made.arguments, made.result, 0, 1, None, places[1])]


def test_a_command_that_still_runs_and_an_event_of_no_kind(tmp_path: Path) -> None:
    running = {**OPENHANDS[2], "extras": {"metadata": {"exit_code": -1}}}
    (session,) = read(tmp_path, "openhands lines", lines(OPENHANDS[1], running, {"id": 9}, 3))
    assert [c.result and c.result.marks for c in session.calls()] == [Marks(running=True)]
    assert session.unreadable == (
        Unreadable("line 3", "an event that is neither an action nor an observation"),
        Unreadable("line 4", "a number where an event should be"),
    )
