"""Cohorts by hand: buckets, positions, who survives, what is unknown."""

from __future__ import annotations

import pytest

from seasoned.report.cohort import cohort, verdict
from seasoned.report.trials import early_type
from tests.each_case import each_case
from tests.report.tracks import call, track, trials_of


def test_sessions_fall_into_buckets_by_their_messages() -> None:
    sessions = [track("x...", str(n), messages=n) for n in (0, 50, 51, 100, 101, 5000)]
    found = cohort(trials_of(sessions)).by_length
    assert [(one.label, one.sessions, one.calls, one.failed) for one in found] == [
        ("0–50", 2, 8, 2),
        ("51–100", 2, 8, 2),
        ("100+", 2, 8, 2),
    ]


def test_positions_are_those_among_all_own_calls() -> None:
    found = cohort(trials_of([track("?" * 10 + "x" * 10 + "." * 5)]))
    assert [(one.label, one.failed, one.calls) for one in found.by_position] == [
        ("1–10", 0, 0),
        ("11–20", 10, 10),
        ("21–30", 0, 5),
    ]
    assert found.by_position[0].rate.value is None
    assert found.by_position[0].rate.reason


def test_survivors_and_those_that_ended_are_compared_in_the_block_where_they_ended() -> None:
    found = cohort(trials_of([track("." * 5 + "x" * 3), track("." * 25, "s2"), track("." * 30, "s3")])).survivors
    assert [(one.position, one.ended.calls, one.ended.failed, one.survivors.calls) for one in found.blocks] == [
        ("1–10", 8, 3, 20),
        ("11–20", 0, 0, 20),
        ("21–30", 15, 0, 0),
    ]
    assert found.ended.value == pytest.approx(3 / 8)


def test_a_mix_held_fixed_is_that_of_all_calls() -> None:
    short = [track("x...", f"a{i}", tool="Edit", messages=10) for i in range(4)]
    long = [track("....x...", f"b{i}", messages=200) for i in range(4)]
    both = [track("x.", f"c{i}", messages=200, tool="Edit") for i in range(4)]
    found = cohort(trials_of([*short, *long, *both]))
    # In the long bucket: Read fails 1 of 8, Edit 1 of 2; of all 56 calls 32 are Read and 24 Edit.
    fixed = found.by_length[-1].fixed_mix
    assert fixed is not None
    assert fixed.value == pytest.approx((32 * (1 / 8) + 24 * (1 / 2)) / 56)


def test_the_first_turns_decide_the_early_type() -> None:
    early = [call(i, ".", "Bash", "code", message=i) for i in range(20)]
    late = [call(i, ".", "Read", "file", message=30 + i) for i in range(20, 90)]
    assert early_type([*early, *late]) == "code-heavy"
    assert early_type(late) == "other"
    assert early_type([call(i, ".", message=i) for i in range(9)]) == "file-heavy"


@each_case(
    "sessions",
    [[], [track("")], [track("???")], [track("x")], [track("..x" * 40)], [track("...", str(i)) for i in range(40)]],
)
def test_too_little_is_said_to_be_too_little(sessions: list[object]) -> None:
    found = cohort(trials_of(sessions))  # type: ignore[arg-type]
    said = verdict(found)
    assert said.answer in ("not enough data", "no detectable change")
    if len(sessions) < 2:
        assert said.answer == "not enough data"
        assert found.overall.rate.interval is None
        assert found.trend.within.interval is None


def test_a_mix_is_not_called_fixed_where_most_of_it_was_not_used() -> None:
    early = [track("x.x.x.", f"a{i}", tool="Edit", messages=10) for i in range(6)]
    late = [track(".....x", f"b{i}", messages=200) for i in range(6)]
    found = cohort(trials_of([*early, *late]))
    for figure in (found.by_length[0], found.by_length[-1]):
        assert figure.rate.value is not None
        assert figure.fixed_mix is not None and figure.fixed_mix.value is None
        assert "50 % of the tool mix" in (figure.fixed_mix.reason or "")
