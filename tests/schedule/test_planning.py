"""What is due: missed slots by the job's policy, each skip with its reason, jitter, and who may start."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from seasoned.schedule.job import At, Cron, Every, Slot
from seasoned.schedule.slots import (
    GRACE_SECONDS,
    PLANNED_SLOTS,
    KeepWaiting,
    SkippedSlot,
    StartNow,
    WaitingSlot,
    latest_start,
    may_start,
    plan,
    retry_time,
    start_time,
)
from tests.each_case import each_case
from tests.schedule.made import START, job

FIRST = START + 600


def minutes(*numbers: int) -> tuple[Slot, ...]:
    """Slots of a job that runs every ten minutes."""
    return tuple(Slot("j1", START + 600 * number) for number in numbers)


def waiting(**fields: Any) -> WaitingSlot:
    values = {"slot": Slot("j1", START), "attempt": 1, "origin": "slot", "start_at": START}
    return WaitingSlot(**{**values, **fields})


def test_a_slot_whose_time_came_runs_and_the_next_one_follows() -> None:
    found = plan(job(schedule=Every(600)), FIRST, FIRST + 1)
    assert (found.on_time, found.late, found.skipped, found.next_at) == (minutes(1), (), (), START + 1200)


def test_nothing_is_due_before_its_time() -> None:
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


def test_a_slot_that_is_on_time_stands_for_those_missed_before() -> None:
    found = plan(job(schedule=Every(600), missed="once"), FIRST, FIRST + 1810)
    assert (found.on_time, found.late) == (minutes(4), ())
    assert [one.slot for one in found.skipped] == list(minutes(1, 2, 3))


def test_after_a_sleep_all_runs_each() -> None:
    found = plan(job(schedule=Every(600), missed="all"), FIRST, FIRST + 1900)
    assert (found.late, found.skipped) == (minutes(1, 2, 3, 4), ())


@each_case("missed", ["once", "all"])
def test_what_is_older_than_the_maximum_age_never_runs(missed: str) -> None:
    found = plan(job(schedule=Every(600), missed=missed, max_age_seconds=1000), FIRST, FIRST + 1900)
    old = [one.slot for one in found.skipped if "older than 16m 40s" in one.reason]
    assert old == list(minutes(1, 2))
    assert found.late == (minutes(4) if missed == "once" else minutes(3, 4))


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
    last = plan(one, now - 60 * (PLANNED_SLOTS - 1), now)
    assert (len(last.on_time), len(last.skipped)) == (2, PLANNED_SLOTS - 2)


@given(st.integers(100, 5000), st.floats(0, 20_000), st.sampled_from(["skip", "once", "all"]), st.floats(0, 30_000))
def test_every_slot_that_came_is_run_or_skipped_exactly_once(
    seconds: int, slept: float, missed: Any, max_age: float
) -> None:
    one = job(schedule=Every(seconds), missed=missed, max_age_seconds=max_age)
    first = START + seconds
    found = plan(one, first, first + slept, limit=10**6)
    told = [*found.on_time, *found.late, *(skip.slot for skip in found.skipped)]
    came = [Slot("j1", first + seconds * number) for number in range(int(slept // seconds) + 1)]
    assert sorted(told) == came and len(set(told)) == len(told)
    assert found.next_at is not None and found.next_at > first + slept
    assert len(found.late) <= 1 or missed == "all"
    assert missed != "skip" or not found.late
    assert all(first + slept - slot.scheduled_at <= max_age for slot in found.late)


@given(st.text("abcdef0123456789", min_size=1, max_size=12), st.integers(0, 10**6), st.floats(0, 3600))
def test_jitter_is_the_same_whoever_asks_and_stays_inside_its_bounds(name: str, number: int, jitter: float) -> None:
    one, slot = job(id=name, jitter_seconds=jitter), Slot(name, START + 60 * number)
    assert start_time(one, slot) == start_time(job(id=name, jitter_seconds=jitter), slot)
    assert slot.scheduled_at <= start_time(one, slot) <= slot.scheduled_at + jitter


def test_jitter_spreads_jobs_and_slots() -> None:
    jobs = {start_time(job(id=f"j{number}", jitter_seconds=60), Slot(f"j{number}", START)) for number in range(200)}
    slots = {start_time(job(jitter_seconds=60), slot) - slot.scheduled_at for slot in minutes(*range(200))}
    assert len(jobs) == len(slots) == 200
    assert max(jobs) - min(jobs) > 50 and max(slots) - min(slots) > 50


def test_a_waiting_slot_starts_when_nothing_stands_against_it() -> None:
    assert may_start(job(), waiting(), runs=0, running=[], now=START) == StartNow()


@each_case(
    ("overlap", "origin", "expected"),
    [
        ("skip", "slot", SkippedSlot),
        ("skip", "late", KeepWaiting),
        ("skip", "retry", KeepWaiting),
        ("skip", "hand", KeepWaiting),
        ("queue", "slot", KeepWaiting),
        ("queue", "late", KeepWaiting),
        ("allow", "slot", StartNow),
        ("allow", "late", StartNow),
    ],
)
def test_while_another_run_goes_on_the_policy_decides(overlap: Any, origin: Any, expected: type) -> None:
    going_on = [Slot("j1", START - 600)]
    found = may_start(job(overlap=overlap), waiting(origin=origin), runs=1, running=going_on, now=START)
    assert isinstance(found, expected)
    if isinstance(found, SkippedSlot):
        assert found.reason == "The run of 2027-01-15 07:50:00+00:00 was still going on."


def test_a_job_that_ran_as_often_as_it_should_runs_no_more_but_by_hand() -> None:
    done = job(repeat=3)
    found = may_start(done, waiting(), runs=3, running=[], now=START)
    assert isinstance(found, SkippedSlot) and "has run 3 times" in found.reason
    assert may_start(done, waiting(), runs=2, running=[], now=START) == StartNow()
    assert may_start(done, waiting(origin="hand"), runs=3, running=[], now=START) == StartNow()
    assert may_start(done, waiting(origin="retry", attempt=2), runs=3, running=[], now=START) == StartNow()


def test_paused_and_removed_jobs_do_not_start() -> None:
    assert isinstance(may_start(job(is_paused=True), waiting(), runs=0, running=[], now=START), SkippedSlot)
    assert may_start(job(is_paused=True), waiting(origin="hand"), runs=0, running=[], now=START) == StartNow()
    assert isinstance(
        may_start(job(), waiting(origin="hand"), runs=0, running=[], now=START, is_removed=True), SkippedSlot
    )


def test_a_slot_that_waited_too_long_is_skipped_with_a_line() -> None:
    late = START + GRACE_SECONDS + 1
    found = may_start(job(missed="skip"), waiting(), runs=0, running=[], now=late)
    assert isinstance(found, SkippedSlot) and "it waited 1m 1s" in found.reason
    assert may_start(job(missed="skip", overlap="queue"), waiting(), runs=0, running=[], now=late) == StartNow()
    assert may_start(job(missed="once"), waiting(), runs=0, running=[], now=late) == StartNow()
    assert latest_start(job(max_age_seconds=500), waiting()) == START + 500


def test_attempts_come_later_and_later() -> None:
    waits = [retry_time(attempt, 0.0) for attempt in range(1, 12)]
    assert waits[:3] == [30, 60, 120] and waits[-1] == 3600
    assert all(early <= late for early, late in pairwise(waits))
