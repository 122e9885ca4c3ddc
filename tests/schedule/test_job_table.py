"""Jobs in a real store, SQLite and PostgreSQL: slots that start once, the lease, lost runs, deliveries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import NotFound, UsageError
from seasoned.schedule import job_table
from seasoned.schedule.delivery import TRIES, due_deliveries, settle_delivery
from seasoned.schedule.job import At, Cron, DeliveryResult, Every, Job, Slot
from seasoned.schedule.job_table import (
    LEASE_SECONDS,
    MAX_AGE_SECONDS,
    finish,
    health,
    hold,
    leave,
    next_wake,
    plan,
    plan_due,
    recover,
    start_by_hand,
    start_due,
)
from seasoned.store import Database
from tests.schedule.made import START, job, record

SLOT = Slot("j1", START + 60)


def start_one(database: Database, one: Job | None = None, *, now: float = START + 60) -> Job:
    """A job with one slot that has started."""
    job_table.add(database, one or job(), now=START)
    plan_due(database, now=now)
    ((started, _),) = start_due(database, owner="a", now=now, limit=1)
    return started


def outcomes(database: Database, job_id: str = "j1") -> list[tuple[float, str]]:
    return [(one.scheduled_at - START, one.outcome) for one in job_table.history(database, job_id)]


def test_a_job_is_kept_with_its_next_slot(any_database: Database) -> None:
    one = job(schedule=Cron("30 2 * * *"), zone="Europe/Berlin", skills=("ä",))
    stored = job_table.add(any_database, one, now=START)
    assert stored.next_at is not None and stored.next_at > START
    assert job_table.find(any_database, "one") == job_table.find(any_database, "j1") == stored
    assert job_table.jobs(any_database) == [stored]


def test_a_wrong_job_is_not_kept(any_database: Database) -> None:
    with pytest.raises(UsageError, match="Bad day-of-month"):
        job_table.add(any_database, job(schedule=Cron("0 0 30 2 *")), now=START)
    with pytest.raises(UsageError, match="is in the past"):
        job_table.add(any_database, job(schedule=At(START)), now=START)
    assert job_table.jobs(any_database) == []


def test_two_jobs_cannot_have_one_name_until_the_first_is_removed(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    with pytest.raises(UsageError, match="a job named 'one' already exists"):
        job_table.add(any_database, job(id="j2"), now=START)
    job_table.remove(any_database, "one", now=START)
    assert job_table.add(any_database, job(id="j2"), now=START).job.id == "j2"
    with pytest.raises(NotFound, match="job 'j1' not found: existing jobs are 'one'"):
        job_table.find(any_database, "j1")


def test_a_paused_job_has_no_slot_and_a_resumed_one_does_not_catch_up(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    assert job_table.pause(any_database, "one", now=START).next_at is None
    assert plan_due(any_database, now=START + 1000) == 0
    assert job_table.resume(any_database, "one", now=START + 1000).next_at == START + 1020
    assert job_table.history(any_database, "j1") == []


def test_pausing_and_removing_leave_a_line_for_slots_that_wait(any_database: Database) -> None:
    for number, act in enumerate((job_table.pause, job_table.remove)):
        job_table.add(any_database, job(id=f"j{number}", name=f"n{number}"), now=START)
        plan_due(any_database, now=START + 60)
        act(any_database, f"n{number}", now=START + 61)
        (line,) = job_table.history(any_database, f"j{number}")
        assert line.outcome == "skipped" and "before the run started" in line.reason


def test_a_slot_starts_once_whoever_asks(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    assert (plan_due(any_database, now=START + 60), plan_due(any_database, now=START + 60)) == (1, 0)
    ((_, slot),) = start_due(any_database, owner="a", now=START + 60, limit=5)
    assert slot == SLOT
    assert start_due(any_database, owner="b", now=START + 60, limit=5) == []
    assert next_wake(any_database) == START + 120


def test_no_more_slots_start_than_there_is_room(any_database: Database) -> None:
    for number in range(5):
        job_table.add(any_database, job(id=f"j{number}", name=f"n{number}"), now=START)
    plan_due(any_database, now=START + 60)
    first = start_due(any_database, owner="a", now=START + 60, limit=3)
    second = start_due(any_database, owner="a", now=START + 60, limit=3)
    assert (len(first), len(second)) == (3, 2)
    assert len({slot for _, slot in [*first, *second]}) == 5


def test_a_run_ends_with_all_that_is_known_of_it(any_database: Database) -> None:
    started = start_one(any_database)
    told = record(
        started, SLOT, started_at=START + 60, ended_at=START + 65, model="m", provider="p", session="s",
        tokens_in=10, tokens_out=20, cost_usd=0.5, script_output="so", delivery="delivered", note="A skill is missing.",
    )  # fmt: skip
    assert finish(any_database, told, owner="a")
    assert job_table.history(any_database, "j1") == job_table.history(any_database) == [told]
    assert job_table.find(any_database, "one").runs == 1
    assert not finish(any_database, told, owner="a"), "a run ends once"


def test_a_slot_that_comes_during_a_run_is_skipped(any_database: Database) -> None:
    start_one(any_database)
    plan_due(any_database, now=START + 120)
    assert start_due(any_database, owner="a", now=START + 120, limit=5) == []
    assert outcomes(any_database) == [(120, "skipped"), (60, "running")]
    assert "still going on" in job_table.history(any_database, "j1")[0].reason


def test_a_slot_that_waited_for_a_day_is_skipped_with_a_line(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    plan_due(any_database, now=START + 60)
    assert start_due(any_database, owner="a", now=START + 60 + 86_401, limit=1) == []
    assert "No scheduler started it in time" in job_table.history(any_database, "j1")[0].reason


def test_a_job_ends_after_as_many_runs_as_it_should(any_database: Database) -> None:
    job_table.add(any_database, job(repeat=2), now=START)
    for number in (1, 2):
        plan_due(any_database, now=START + 60 * number)
        ((one, slot),) = start_due(any_database, owner="a", now=START + 60 * number, limit=1)
        finish(any_database, record(one, slot), owner="a")
    stored = job_table.find(any_database, "one")
    assert (stored.runs, stored.next_at, stored.state) == (2, None, "done")
    assert job_table.resume(any_database, "one", now=START).next_at is None


def test_a_run_by_hand_counts_for_nothing_and_runs_though_paused(any_database: Database) -> None:
    job_table.add(any_database, job(repeat=1), now=START)
    job_table.pause(any_database, "one", now=START)
    slot = job_table.ask_for_run(any_database, "one", now=START + 7.1239)
    ((_, started),) = start_due(any_database, owner="a", now=START + 8, limit=1)
    assert started == slot == Slot("j1", START + 7.123)
    assert job_table.find(any_database, "one").runs == 0
    assert job_table.run_of(any_database, slot).note == "Started by hand."
    later = job_table.ask_for_run(any_database, "one", now=START + 9)
    assert start_by_hand(any_database, later, owner="a", now=START + 9) is None, "the first one goes on"


def test_a_job_that_cannot_be_read_does_not_stop_the_others(any_database: Database) -> None:
    for number in (1, 2):
        job_table.add(any_database, job(id=f"j{number}", name=f"n{number}"), now=START)
    with any_database.write():
        values = {"id": "j1", "name": "n1", "document": '{"id": 5}', "next_at": START + 60}
        any_database.run("schedule.change_job", values)
    plan_due(any_database, now=START + 60)
    assert [one.id for one, _ in start_due(any_database, owner="a", now=START + 60, limit=5)] == ["j2"]
    assert "taken off the schedule" in job_table.history(any_database, "j1")[0].reason
    assert plan_due(any_database, now=START + 61) == 0


def test_the_lease_has_one_holder_until_it_ends_or_is_given_back(any_database: Database) -> None:
    assert hold(any_database, owner="a", now=START)
    assert not hold(any_database, owner="b", now=START + LEASE_SECONDS - 1)
    assert hold(any_database, owner="a", now=START + 50), "renewed"
    assert not hold(any_database, owner="b", now=START + 50 + LEASE_SECONDS - 1)
    assert hold(any_database, owner="b", now=START + 50 + LEASE_SECONDS)
    assert not hold(any_database, owner="a", now=START + 51 + LEASE_SECONDS)
    leave(any_database, owner="b", now=START + 120)
    assert hold(any_database, owner="a", now=START + 120)
    # After the clock was set back, a lease of the future keeps nobody waiting.
    assert hold(any_database, owner="b", now=START - 5000)


def test_a_scheduler_that_dies_leaves_unknown_and_its_late_report_still_counts(any_database: Database) -> None:
    started = start_one(any_database, job(delivery=("file:/tmp/x",)))
    assert recover(any_database, owner="a", now=START + 100) == [], "its own runs"
    assert recover(any_database, owner="b", now=START + 100) == [SLOT]
    assert recover(any_database, owner="b", now=START + 100) == []
    (line,) = job_table.history(any_database, "j1")
    assert (line.outcome, line.delivery, "'a' died" in line.reason) == ("unknown", "pending", True)
    assert not finish(any_database, record(started, SLOT), owner="b"), "nobody ends the run of another"
    assert finish(any_database, record(started, SLOT), owner="a")
    (line,) = job_table.history(any_database, "j1")
    assert (line.outcome, line.note) == ("ok", "Reported after another scheduler had taken over.")


def test_an_answer_is_tried_again_and_given_up(any_database: Database) -> None:
    started = start_one(any_database)
    finish(any_database, record(started, SLOT, delivery="pending"), owner="a")
    now = START + 61
    for tries in range(1, TRIES + 1):
        (one,) = due_deliveries(any_database, now=now)
        assert (one.record.output, one.tries) == ("done", tries)
        last = settle_delivery(any_database, one, DeliveryResult("pending", "no route"), now=now)
        assert due_deliveries(any_database, now=now) == []
        assert due_deliveries(any_database, now=now) == []
        now += 10_000
    assert last == DeliveryResult("failed", f"given up after {TRIES} tries: no route")
    assert job_table.history(any_database, "j1")[0].delivery_error == last.error


def test_health_tells_whether_anybody_keeps_the_schedule(any_database: Database) -> None:
    assert health(any_database, START).is_kept and health(any_database, START).sentence.startswith("No job")
    job_table.add(any_database, job(), now=START)
    nobody = health(any_database, START)
    assert not nobody.is_kept and "none has run yet" in nobody.sentence
    hold(any_database, owner="a", now=START)
    assert health(any_database, START).sentence == "A scheduler is running, with 1 job."
    stuck = health(any_database, START + 60 + 500)
    assert (stuck.is_alive, stuck.overdue_seconds, "has stopped" in stuck.sentence) == (False, 500, True)
    hold(any_database, owner="a", now=START + 560)
    assert "500 s overdue" in health(any_database, START + 560).sentence
    leave(any_database, owner="a", now=START + 561)
    assert not health(any_database, START + 561).is_alive


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
