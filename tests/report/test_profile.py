"""The profile of one session."""

from __future__ import annotations

import msgspec
import pytest

from seasoned.outcome.error_rate import Include
from seasoned.report.profile import SessionMeasures, profile, profile_calls
from seasoned.stats.proportion import wilson
from tests.report.tracks import call, track


def test_the_error_rate_leaves_out_what_does_not_count_and_says_how_much() -> None:
    found = profile(track("..x.?dci.x"))
    assert (found.counts.ok, found.counts.failed, found.counts.unclear) == (4, 2, 1)
    assert (found.counts.declined, found.counts.cancelled, found.counts.interrupted) == (1, 1, 1)
    assert found.calls == 10
    assert found.error_rate.value == pytest.approx(2 / 6)
    assert found.error_rate.interval == wilson(2, 6).interval


def test_early_and_late_are_the_first_and_last_fifth_of_what_counts() -> None:
    found = profile(track("xx........" + "?" * 5 + ".........x"))
    assert found.early.value == pytest.approx(2 / 4)
    assert found.late.value == pytest.approx(1 / 4)
    assert found.gain.value == pytest.approx(-1 / 4)
    assert found.gain.interval is not None
    assert found.gain.interval.low < -1 / 4 < found.gain.interval.high


@pytest.mark.parametrize("letters", ["", "???", "dc"])
def test_a_session_in_which_nothing_counts_has_no_rate(letters: str) -> None:
    found = profile(track(letters))
    assert found.error_rate.value is None
    assert found.error_rate.interval is None
    assert found.error_rate.reason
    assert [use.success_rate for use in found.tools.values()] in ([], [None])


def test_tools_are_listed_by_use_with_their_success() -> None:
    calls = [
        call(0, ".", "Bash"),
        call(1, "x", "Bash"),
        call(2, "?", "Bash"),
        call(3, ".", "Edit"),
        call(4, ".", "TodoWrite"),
    ]
    found = profile_calls(calls)
    assert list(found.tools) == ["Bash", "Edit"], "a plan is no use of a tool"
    assert found.tools["Bash"].success_rate == 0.5
    assert (found.calls, found.counts.trivial) == (4, 1)


def test_the_dominant_type_is_that_of_tools_and_the_task_that_of_commands() -> None:
    calls = [call(i, ".", "Bash", kind="code") for i in range(7)] + [call(i, ".", "Read") for i in range(7, 10)]
    found = profile_calls(calls)
    assert found.dominant_tool_type == "terminal"
    assert found.task_type == "code"
    assert profile_calls([]).dominant_tool_type is None
    assert profile_calls([]).task_type is None


def test_switches_count_what_is_left_out() -> None:
    strict = [call(i, letter) for i, letter in enumerate("..xd")]
    wide = [call(i, letter, include=Include(declined=True)) for i, letter in enumerate("..xd")]
    assert profile_calls(strict).error_rate.value == pytest.approx(1 / 3)
    assert profile_calls(wide).error_rate.value == pytest.approx(2 / 4)


def test_the_four_measures_are_of_the_first_turns_the_first_success_all_errors_and_all_tools() -> None:
    # Two calls in each answer: the first 30 turns are 60 calls.
    calls = tuple(
        call(at, "x" if at < 3 or at >= 60 else ".", "Bash" if at % 2 else "Read", message=at // 2, time=100.0 + at)
        for at in range(70)
    )
    found = profile(msgspec.structs.replace(track(""), calls=calls, started=90.0)).measures
    assert found == SessionMeasures(60, 3, 13, calls_to_success=4, diversity=2, seconds_to_success=13.0)
    never = profile(track("x?")).measures
    assert never == SessionMeasures(1, 1, 1, calls_to_success=None, diversity=1)
