"""The measures of a run: what each counts, and what is unknown stays unknown."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from seasoned.experiment.analysis.task_run import (
    KINDS,
    MEASURES,
    NOTHING,
    RunCall,
    TrialTally,
    calls_of,
    never_after,
    tallies,
)
from seasoned.session import Marks, Message, Result, Session, SessionRef, ToolCall, Usage
from tests.experiment.simulated import run


def test_a_run_is_measured_in_every_way_that_is_promised() -> None:
    assert tallies(run(outcomes="xuxotx", cost_usd=0.5), never=9) == {
        "executed": TrialTally(1, 4),
        "first_call": TrialTally(0, 1),
        "success": TrialTally(0, 1),
        "early_errors": TrialTally(3, 4),
        "errors": TrialTally(3, 1),
        "calls_to_success": TrialTally(3, 1),
        "diversity": TrialTally(2, 1),
        "valid": TrialTally(6, 6),
        "tokens": TrialTally(110, 1),
        "cost_usd": TrialTally(0.5, 1),
        "latency_seconds": TrialTally(1.5, 1),
    }


def test_only_the_first_thirty_turns_are_early() -> None:
    calls = (RunCall("a", "failed", 30), RunCall("a", "failed", 31), RunCall("a", "ok", 1))
    found = tallies(msgspec.structs.replace(run(), calls=calls), never=9)
    assert found["early_errors"] == TrialTally(1, 2)
    assert found["errors"] == TrialTally(2, 1)


def test_a_run_without_a_call_has_no_first_call_that_works_and_no_rate() -> None:
    found = tallies(run(outcomes="", check="failed"), never=4)
    assert found["first_call"] == TrialTally(0, 1)
    assert found["executed"] == NOTHING
    assert found["calls_to_success"] == TrialTally(4, 1)


def test_what_nobody_recorded_is_unknown_and_not_zero() -> None:
    found = tallies(run(usage=Usage(100, None), latency_seconds=None), never=2)
    assert [found[name] for name in ("tokens", "cost_usd", "latency_seconds")] == [NOTHING] * 3
    assert NOTHING.value is None


def test_a_success_that_never_came_takes_longer_than_any_run() -> None:
    assert never_after([run(outcomes="xxx"), run(outcomes="o")]) == 4
    assert never_after([]) == 1


def test_calls_of_a_session_have_their_turn_and_none_of_the_warm_start() -> None:
    def call(name: str, text: str, failed: bool, **where: int) -> ToolCall:
        return ToolCall(name, "terminal", {"command": "ls"}, Result(text, Marks(failed=failed)), **where)

    shown = ToolCall("warm_1", "terminal", {}, Result("ok", Marks(failed=False)), message=0, synthetic=True)
    first, second = call("a", "no", True, message=2), call("b", "", False, message=2)
    third = call("c", "", False, message=4)
    messages = (
        Message("assistant", "", (shown,), synthetic=True),
        Message("user", "do it"),
        Message("assistant", "", (first, second)),
        Message("tool", "no"),
        Message("assistant", "", (third,)),
    )
    session = Session(SessionRef("seasoned", "s"), "seasoned", "", messages)
    assert calls_of(session) == (
        RunCall("terminal", "failed", 1),
        RunCall("terminal", "ok", 1),
        RunCall("terminal", "ok", 2),
    )


@given(st.text("oxut", max_size=40))
def test_a_share_never_has_more_than_its_trials(outcomes: str) -> None:
    found = tallies(run(outcomes=outcomes, check="failed"), never=50)
    assert tuple(found) == MEASURES
    for name, one in found.items():
        assert one.trials >= 0 and one.total >= 0
        if KINDS[name].unit == "share":
            assert one.total <= one.trials
