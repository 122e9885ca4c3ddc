"""What is due: missed slots by the job's policy, each skip with its reason."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seasoned.schedule.job import At, Cron, Every, Slot
from seasoned.schedule.slots import MAX_AGE_SECONDS, PLANNED_SLOTS, plan
from tests.schedule.made import START, job

FIRST = START + 600


def minutes(*numbers: int) -> tuple[Slot, ...]:
    """Slots of a job that runs every ten minutes."""
    return tuple(Slot("j1", START + 600 * number) for number in numbers)


def test_a_slot_whose_time_came_runs_and_the_next_one_follows() -> None:
    found = plan(job(schedule=Every(600)), FIRST, FIRST + 1)
    assert (found.on_time, found.late, found.skipped, found.next_at) == (minutes(1), (), (), START + 1200)
    found = plan(job(schedule=Every(600)), FIRST, FIRST - 0.001)
    assert (found.on_time, found.late, found.skipped, found.next_at) == ((), (), (), FIRST)


def test_after_a_sleep_skip_runs_none_and_says_so_for_each() -> None:
    found = plan(job(schedule=Every(600), missed="skip"), FIRST, FIRST + 1900)
    assert found.on_time == found.late == ()
    assert [one.slot for one in found.skipped] == list(minutes(1, 2, 3, 4))
    assert all("missed runs of this job are skipped" in one.reason for one in found.skipped)
    assert found.next_at == START + 5 * 600


def test_after_a_sleep_once_runs_the_last_and_says_so_for_the_others() -> None:
    found = plan(job(schedule=Every(600), missed="once"), FIRST, FIRST + 1900)
    assert found.late == minutes(4)
    assert [one.slot for one in found.skipped] == list(minutes(1, 2, 3))
    assert all("a later run of this job replaces it" in one.reason for one in found.skipped)
    # One that is on time stands for those before it.
    found = plan(job(schedule=Every(600), missed="once"), FIRST, FIRST + 1810)
    assert (found.on_time, found.late, len(found.skipped)) == (minutes(4), (), 3)


def test_after_a_sleep_all_runs_each() -> None:
    found = plan(job(schedule=Every(600), missed="all"), FIRST, FIRST + 1900)
    assert (found.late, found.skipped) == (minutes(1, 2, 3, 4), ())


def test_one_date_that_was_slept_through_runs_late_or_leaves_a_line() -> None:
    once = plan(job(schedule=At(FIRST)), FIRST, FIRST + 5000)
    assert (once.late, once.next_at) == (minutes(1), None)
    skipped = plan(job(schedule=At(FIRST), missed="skip"), FIRST, FIRST + 5000)
    assert ([one.slot for one in skipped.skipped], skipped.next_at) == (list(minutes(1)), None)


def test_a_year_of_missed_minutes_is_looked_at_in_parts_and_told_in_few_lines() -> None:
    one, now = job(schedule=Cron("* * * * *")), FIRST + 365 * 86_400
    first = plan(one, FIRST, now)
    assert (first.on_time, first.late, first.next_at) == ((), (), FIRST + 60 * PLANNED_SLOTS)
    (line,) = first.skipped
    assert "older than 1d" in line.reason
    assert f"So were {PLANNED_SLOTS - 1} slots after it, up to 2027-01-16 00:49:00+00:00." in line.reason


@given(st.integers(100, 50_000), st.floats(0, 200_000), st.sampled_from(["skip", "once", "all"]))
def test_every_slot_that_came_is_run_or_skipped_exactly_once(seconds: int, slept: float, missed: Any) -> None:
    first = START + seconds
    found = plan(job(schedule=Every(seconds), missed=missed), first, first + slept, limit=10**6)
    told = [*found.on_time, *found.late, *(skip.slot for skip in found.skipped)]
    came = [Slot("j1", first + seconds * number) for number in range(int(slept // seconds) + 1)]
    assert sorted(told) == came and len(set(told)) == len(told)
    assert found.next_at is not None and found.next_at > first + slept
    assert len(found.late) <= 1 or missed == "all"
    assert missed != "skip" or not found.late
    assert all(first + slept - slot.scheduled_at <= MAX_AGE_SECONDS for slot in found.late)
