"""What is due: missed slots by the job's policy, each skip with its reason."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seasoned.schedule.job import At, Cron, Every, Slot
from seasoned.schedule.job_table import MAX_AGE_SECONDS, plan
from tests.schedule.made import START, job

FIRST = START + 600


def minutes(*numbers: int) -> tuple[Slot, ...]:
    """Slots of a job that runs every ten minutes."""
    return tuple(Slot("j1", START + 600 * number) for number in numbers)


def test_a_slot_whose_time_came_runs_and_the_next_one_follows() -> None:
    found = plan(job(schedule=Every(600)), FIRST, FIRST + 1)
    assert (found.on_time, found.late, found.skipped, found.next_at) == (minutes(1), None, (), START + 1200)
    found = plan(job(schedule=Every(600)), FIRST, FIRST - 0.001)
    assert (found.on_time, found.late, found.skipped, found.next_at) == ((), None, (), FIRST)


def test_after_a_sleep_skip_runs_none_and_says_so_for_each() -> None:
    found = plan(job(schedule=Every(600), missed="skip"), FIRST, FIRST + 1900)
    assert (found.on_time, found.late) == ((), None)
    assert [slot for slot, _ in found.skipped] == list(minutes(1, 2, 3, 4))
    assert all("missed runs of this job are skipped" in reason for _, reason in found.skipped)
    assert found.next_at == START + 5 * 600


def test_after_a_sleep_once_runs_the_last_and_says_so_for_the_others() -> None:
    found = plan(job(schedule=Every(600), missed="once"), FIRST, FIRST + 1900)
    assert found.late == minutes(4)[0]
    assert [slot for slot, _ in found.skipped] == list(minutes(1, 2, 3))
    assert all("a later run of this job replaces it" in reason for _, reason in found.skipped)
    # One that is on time stands for those before it.
    found = plan(job(schedule=Every(600), missed="once"), FIRST, FIRST + 1810)
    assert (found.on_time, found.late, len(found.skipped)) == (minutes(4), None, 3)


def test_one_date_that_was_slept_through_runs_late_or_leaves_a_line() -> None:
    once = plan(job(schedule=At(FIRST)), FIRST, FIRST + 5000)
    assert (once.late, once.next_at) == (minutes(1)[0], None)
    skipped = plan(job(schedule=At(FIRST), missed="skip"), FIRST, FIRST + 5000)
    assert ([slot for slot, _ in skipped.skipped], skipped.next_at) == (list(minutes(1)), None)


def test_of_a_year_of_missed_minutes_the_last_day_is_told_one_by_one_and_the_rest_in_one_line() -> None:
    now = FIRST + 365 * 86_400 + 30
    found = plan(job(schedule=Cron("* * * * *"), missed="skip"), FIRST, now)
    assert found.next_at == now + 30 and len(found.on_time) == 1
    assert "older than a day" in found.skipped[0][1] and found.skipped[0][0] == Slot("j1", FIRST)
    assert len(found.skipped) == 24 * 60


@given(st.integers(100, 50_000), st.integers(0, 200_000), st.sampled_from(["skip", "once"]))
def test_every_slot_of_a_day_is_run_or_skipped_exactly_once(seconds: int, slept: int, missed: Any) -> None:
    first = START + seconds
    now = first + slept
    found = plan(job(schedule=Every(seconds), missed=missed), first, now)
    told = [*found.on_time, *([] if found.late is None else [found.late]), *(slot for slot, _ in found.skipped)]
    came = [Slot("j1", first + seconds * number) for number in range(int(slept // seconds) + 1)]
    of_the_day = [slot for slot in came if now - slot.scheduled_at < MAX_AGE_SECONDS]
    older = [] if len(of_the_day) == len(came) else came[:1]
    assert sorted(told) == older + of_the_day and len(set(told)) == len(told)
    assert found.next_at is not None and found.next_at > now
    assert missed != "skip" or found.late is None
