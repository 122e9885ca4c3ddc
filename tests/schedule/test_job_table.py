"""The board in a real store, SQLite and PostgreSQL: jobs, slots that start once, leases, retries, deliveries."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.errors import NotFound, UsageError
from seasoned.schedule import job_table
from seasoned.schedule.delivery import TRIES, claim_deliveries, next_delivery, settle_delivery
from seasoned.schedule.job import At, Cron, DeliveryResult, Every, Job, Slot
from seasoned.schedule.job_table import DEAD_SECONDS, beat, health, leave, schedulers
from seasoned.schedule.slots import (
    LEASE_SECONDS,
    StartedRun,
    claim_by_hand,
    finish,
    next_wake,
    plan_due,
    recover,
    renew,
    shorten_leases,
    start_due,
)
from seasoned.store import Database
from tests.schedule.made import START, job, record

SLOT = Slot("j1", START + 60)


def start_one(database: Database, one: Job | None = None, *, now: float = START + 60) -> StartedRun:
    """A job with one slot that has started."""
    if one is not None:
        job_table.add(database, one, now=START)
    plan_due(database, now=now)
    (started,) = start_due(database, owner="a", now=now, limit=1)
    return started


def outcomes(database: Database, job_id: str = "j1") -> list[tuple[float, int, str]]:
    return [(one.scheduled_at - START, one.attempt, one.outcome) for one in job_table.history(database, job_id)]


def test_a_job_is_kept_with_its_next_slot(any_database: Database) -> None:
    one = job(schedule=Cron("30 2 * * *"), zone="Europe/Berlin", skills=("ä",))
    stored = job_table.add(any_database, one, now=START)
    assert stored.next_at is not None and stored.next_at > START
    assert job_table.find(any_database, "one") == job_table.find(any_database, "j1") == stored
    assert job_table.jobs(any_database) == [stored]


def test_a_wrong_job_is_not_kept(any_database: Database) -> None:
    with pytest.raises(UsageError, match="never matches"):
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


def test_a_changed_job_has_its_new_times(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    changed = job_table.change(any_database, job(schedule=Every(600), prompt="New."), now=START + 5)
    assert (changed.next_at, job_table.find(any_database, "one").job.prompt) == (START + 600, "New.")
    job_table.add(any_database, job(id="j2", name="two"), now=START)
    with pytest.raises(UsageError, match="already exists"):
        job_table.change(any_database, job(id="j2"), now=START)


def test_a_paused_job_has_no_slot_and_a_resumed_one_does_not_catch_up(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    assert job_table.pause(any_database, "one", now=START).next_at is None
    assert plan_due(any_database, now=START + 1000) == 0
    resumed = job_table.resume(any_database, "one", now=START + 1000)
    assert resumed.next_at == START + 1020
    assert job_table.history(any_database, "j1") == []


def test_pausing_and_removing_leave_a_line_for_slots_that_wait(any_database: Database) -> None:
    for number, act in enumerate((job_table.pause, job_table.remove)):
        job_table.add(any_database, job(id=f"j{number}", name=f"n{number}"), now=START)
        plan_due(any_database, now=START + 60)
        act(any_database, f"n{number}", now=START + 61)
        (line,) = job_table.history(any_database, f"j{number}")
        assert line.outcome == "skipped" and "before the run started" in line.reason


def test_a_slot_that_no_scheduler_has_seen_yet_is_not_lost_by_a_change(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    job_table.change(any_database, job(schedule=Every(600)), now=START + 61)
    (line,) = job_table.history(any_database, "j1")
    assert (line.slot, line.outcome, line.reason) == (SLOT, "skipped", "The job was changed before the run started.")


def test_every_change_of_the_board_is_noticed(any_database: Database) -> None:
    seen = [job_table.revision(any_database)]
    job_table.add(any_database, job(), now=START)
    seen.append(job_table.revision(any_database))
    for act in (job_table.pause, job_table.resume, job_table.ask_for_run, job_table.remove):
        act(any_database, "one", now=START)
        seen.append(job_table.revision(any_database))
    assert seen == sorted(set(seen))


def test_a_slot_starts_once_whoever_asks(any_database: Database) -> None:
    job_table.add(any_database, job(), now=START)
    assert (plan_due(any_database, now=START + 60), plan_due(any_database, now=START + 60)) == (1, 0)
    (started,) = start_due(any_database, owner="a", now=START + 60, limit=5)
    assert (started.claim.slot, started.claim.owner, started.claim.attempt) == (SLOT, "a", 1)
    assert start_due(any_database, owner="b", now=START + 60, limit=5) == []
    assert next_wake(any_database, now=START + 60) == START + 120


def test_a_slot_that_was_planned_from_old_knowledge_is_not_planned_again(any_database: Database) -> None:
    """The clock of another machine may be behind: the job has moved on, and the slot has its line."""
    job_table.add(any_database, job(), now=START)
    plan_due(any_database, now=START + 60)
    with any_database.write():
        any_database.run("schedule.advance_job", {"id": "j1", "next_at": START + 60, "seen_at": START + 120})
    plan_due(any_database, now=START + 60)
    assert outcomes(any_database) == [(60, 1, "waiting")]


def test_no_more_slots_start_than_there_is_room(any_database: Database) -> None:
    for number in range(5):
        job_table.add(any_database, job(id=f"j{number}", name=f"n{number}"), now=START)
    plan_due(any_database, now=START + 60)
    first = start_due(any_database, owner="a", now=START + 60, limit=3)
    second = start_due(any_database, owner="b", now=START + 60, limit=3)
    assert (len(first), len(second)) == (3, 2)
    assert len({one.claim.slot for one in [*first, *second]}) == 5


def test_jitter_lets_a_slot_wait(any_database: Database) -> None:
    job_table.add(any_database, job(jitter_seconds=50), now=START)
    plan_due(any_database, now=START + 60)
    wake = next_wake(any_database, now=START + 60)
    assert wake is not None and START + 60 < wake < START + 110
    assert start_due(any_database, owner="a", now=START + 60, limit=1) == []
    assert len(start_due(any_database, owner="a", now=wake, limit=1)) == 1


def test_a_run_ends_with_all_that_is_known_of_it(any_database: Database) -> None:
    started = start_one(any_database, job())
    told = record(
        started.job, SLOT, started_at=START + 60, ended_at=START + 65, model="m", provider="p", session="s",
        tokens_in=10, tokens_out=20, cost_usd=0.5, script_output="so", delivery="delivered", note="A skill is missing.",
    )  # fmt: skip
    assert finish(any_database, started.job, started.claim, told, now=START + 65)
    assert job_table.history(any_database, "j1") == [told]
    assert job_table.history(any_database) == [told]
    assert job_table.find(any_database, "one").runs == 1


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        ("skip", [(120, 1, "skipped"), (60, 1, "running")]),
        ("queue", [(120, 1, "waiting"), (60, 1, "running")]),
        ("allow", [(120, 1, "running"), (60, 1, "running")]),
    ],
)
def test_a_slot_that_comes_during_a_run(any_database: Database, overlap: Any, expected: Any) -> None:
    started = start_one(any_database, job(overlap=overlap))
    plan_due(any_database, now=START + 120)
    start_due(any_database, owner="b", now=START + 120, limit=5)
    assert outcomes(any_database) == expected
    finish(any_database, started.job, started.claim, record(started.job, SLOT), now=START + 130)
    again = start_due(any_database, owner="b", now=START + 130, limit=5)
    assert len(again) == (1 if overlap == "queue" else 0)
    if overlap == "skip":
        assert "was still going on" in job_table.history(any_database, "j1")[0].reason


def test_all_missed_slots_run_one_after_the_other(any_database: Database) -> None:
    job_table.add(any_database, job(missed="all", overlap="queue"), now=START)
    now = START + 60 * 4 + 65
    plan_due(any_database, now=now)
    order = []
    while started := start_due(any_database, owner="a", now=now, limit=5):
        (one,) = started
        order.append(one.claim.slot.scheduled_at - START)
        finish(any_database, one.job, one.claim, record(one.job, one.claim.slot), now=now)
    assert order == [60, 120, 180, 240, 300]
    assert [one.note[:5] for one in job_table.history(any_database, "j1")] == ["", *["Late:"] * 4]


def test_a_job_ends_after_as_many_runs_as_it_should(any_database: Database) -> None:
    job_table.add(any_database, job(repeat=2, overlap="allow"), now=START)
    for number in (1, 2):
        plan_due(any_database, now=START + 60 * number)
        assert len(start_due(any_database, owner="a", now=START + 60 * number, limit=1)) == 1
    stored = job_table.find(any_database, "one")
    assert (stored.runs, stored.next_at, stored.is_done) == (2, None, True)
    assert job_table.resume(any_database, "one", now=START).next_at is None


def test_a_run_by_hand_counts_for_nothing_and_runs_though_paused(any_database: Database) -> None:
    job_table.add(any_database, job(repeat=1), now=START)
    job_table.pause(any_database, "one", now=START)
    slot = job_table.ask_for_run(any_database, "one", now=START + 7.1239)
    (started,) = start_due(any_database, owner="a", now=START + 8, limit=1)
    assert started.claim.slot == slot == Slot("j1", START + 7.123)
    assert job_table.find(any_database, "one").runs == 0
    assert job_table.history(any_database, "j1")[0].note == "Started by hand."


def test_a_run_by_hand_at_once_is_refused_while_another_goes_on(any_database: Database) -> None:
    started = start_one(any_database, job())
    assert claim_by_hand(any_database, started.job, owner="b", now=START + 61) is None
    finish(any_database, started.job, started.claim, record(started.job, SLOT), now=START + 62)
    claimed = claim_by_hand(any_database, started.job, owner="b", now=START + 63)
    assert claimed is not None and claimed.claim.owner == "b"


def test_a_lease_that_is_renewed_keeps_its_run(any_database: Database) -> None:
    started = start_one(any_database, job())
    kept, lost = renew(any_database, [started.claim], now=START + 100)
    assert (kept[0].lease_until, lost) == (START + 100 + LEASE_SECONDS, [])
    assert recover(any_database, now=START + 100 + LEASE_SECONDS) == []


def test_a_scheduler_that_dies_leaves_unknown_and_no_second_run(any_database: Database) -> None:
    started = start_one(any_database, job(delivery=("file:/tmp/x",)))
    now = START + 61 + LEASE_SECONDS
    (lost,) = recover(any_database, now=now)
    assert (lost.outcome, lost.slot, lost.delivery) == ("unknown", SLOT, "pending")
    assert "'a' died" in lost.reason
    assert recover(any_database, now=now) == []
    assert [one for one in outcomes(any_database) if one[0] == 60] == [(60, 1, "unknown")]
    assert renew(any_database, [started.claim], now=now) == ([], [started.claim])


def test_what_does_no_harm_runs_again_as_a_further_attempt(any_database: Database) -> None:
    start_one(any_database, job(schedule=At(START + 60), retries=2, has_side_effects=False))
    for attempt in (1, 2, 3):
        (lost,) = recover(any_database, now=START + 10_000 * attempt)
        assert lost.attempt == attempt
        started = start_due(any_database, owner="b", now=START + 10_000 * attempt + 3600, limit=1)
        assert [one.claim.attempt for one in started] == ([attempt + 1] if attempt < 3 else [])
    assert outcomes(any_database) == [(60, attempt, "unknown") for attempt in (3, 2, 1)]
    assert job_table.find(any_database, "one").runs == 1


@pytest.mark.parametrize(
    ("fault", "retried"), [("agent", True), ("script", True), ("timeout", True), ("context", False)]
)
def test_a_failed_run_is_tried_again_where_it_may_help(any_database: Database, fault: Any, retried: bool) -> None:
    started = start_one(any_database, job(schedule=At(START + 60), retries=1, has_side_effects=False))
    finish(
        any_database, started.job, started.claim, record(started.job, SLOT, outcome="failed", fault=fault), now=START
    )
    assert (outcomes(any_database)[0] == (60, 2, "waiting")) is retried


def test_a_run_that_was_called_unknown_may_still_report(any_database: Database) -> None:
    started = start_one(any_database, job())
    recover(any_database, now=START + 500)
    assert finish(any_database, started.job, started.claim, record(started.job, SLOT), now=START + 600)
    line = job_table.history(any_database, "j1")[-1]
    assert (line.outcome, line.note) == ("ok", "Reported after the lease had ended.")


def test_a_run_that_was_given_up_stays_failed_and_the_line_says_what_came_later(any_database: Database) -> None:
    started = start_one(any_database, job())
    failed = record(started.job, SLOT, outcome="failed", fault="timeout", ended_at=START + 90)
    assert finish(any_database, started.job, started.claim, failed, now=START + 90)
    assert finish(any_database, started.job, started.claim, failed, now=START + 91), "saying it twice changes nothing"
    assert not finish(any_database, started.job, started.claim, record(started.job, SLOT), now=START + 99)
    line = job_table.history(any_database, "j1")[-1]
    assert (line.outcome, line.fault, line.note) == ("failed", "timeout", "The run ended later after all: ok.")


def test_nobody_can_end_the_run_of_another(any_database: Database) -> None:
    started = start_one(any_database, job())
    theirs = type(started.claim)(started.claim.slot, "b", started.claim.lease_until)
    assert not finish(any_database, started.job, theirs, record(started.job, SLOT), now=START + 70)
    assert outcomes(any_database) == [(60, 1, "running")]


def test_after_the_clock_was_set_back_leases_end_in_reach(any_database: Database) -> None:
    start_one(any_database, job(), now=START + 60)
    assert shorten_leases(any_database, now=START - 5000) == 1
    assert recover(any_database, now=START - 5000 + LEASE_SECONDS) == []
    assert len(recover(any_database, now=START - 4999 + LEASE_SECONDS)) == 1


def test_a_job_that_cannot_be_read_does_not_stop_the_others(any_database: Database) -> None:
    for number in (1, 2):
        job_table.add(any_database, job(id=f"j{number}", name=f"n{number}"), now=START)
    with any_database.write():
        values = {"id": "j1", "name": "n1", "document": '{"id": 5}', "next_at": START + 60}
        any_database.run("schedule.change_job", values)
    plan_due(any_database, now=START + 60)
    assert [one.job.id for one in start_due(any_database, owner="a", now=START + 60, limit=5)] == ["j2"]
    assert "taken off the schedule" in job_table.history(any_database, "j1")[0].reason
    assert plan_due(any_database, now=START + 61) == 0


def test_an_answer_is_handed_on_by_one_and_tried_again(any_database: Database) -> None:
    started = start_one(any_database, job())
    told = record(started.job, SLOT, delivery="pending")
    finish(any_database, started.job, started.claim, told, now=START + 61)
    now = START + 61
    (parcel,) = claim_deliveries(any_database, now=now)
    assert (parcel.record.output, parcel.tries) == ("done", 1)
    assert claim_deliveries(any_database, now=now) == [], "it is on its way"
    settle_delivery(any_database, parcel, DeliveryResult("pending", "no route"), now=now)
    assert job_table.history(any_database, "j1")[0].delivery_error == "no route"
    assert (next_delivery(any_database) or 0) > now
    for _ in range(TRIES - 1):
        now += 10_000
        (parcel,) = claim_deliveries(any_database, now=now)
        last = settle_delivery(any_database, parcel, DeliveryResult("pending", "no route"), now=now)
    assert last == DeliveryResult("failed", f"given up after {TRIES} tries: no route")
    assert claim_deliveries(any_database, now=now + 10_000) == []


def test_a_delivered_answer_is_done(any_database: Database) -> None:
    started = start_one(any_database, job())
    finish(any_database, started.job, started.claim, record(started.job, SLOT, delivery="pending"), now=START + 61)
    (parcel,) = claim_deliveries(any_database, now=START + 61)
    settle_delivery(any_database, parcel, DeliveryResult("delivered"), now=START + 62)
    assert next_delivery(any_database) is None
    assert job_table.history(any_database, "j1")[0].delivery == "delivered"


def test_history_is_paged(any_database: Database) -> None:
    job_table.add(any_database, job(missed="skip"), now=START)
    plan_due(any_database, now=START + 60 * 20 + 1)
    lines = job_table.history(any_database, "j1", limit=5)
    older = job_table.history(any_database, "j1", limit=100, before=lines[-1].scheduled_at)
    assert len(lines) == 5 and len(older) == 15 and older[0].scheduled_at < lines[-1].scheduled_at


def test_a_dead_scheduler_is_noticed(any_database: Database) -> None:
    for owner in ("a", "b", "c"):
        beat(any_database, owner=owner, host="h", pid=7, now=START)
    leave(any_database, owner="b", now=START + 5)
    beat(any_database, owner="c", host="h", pid=7, now=START + DEAD_SECONDS, note="The clock went back.")
    states = {one.owner: one for one in schedulers(any_database, START + DEAD_SECONDS + 1)}
    assert {name: (one.is_alive, one.is_dead) for name, one in states.items()} == {
        "a": (False, True),
        "b": (False, False),
        "c": (True, False),
    }
    assert (states["a"].heartbeat_at, states["c"].note, states["c"].pid) == (START, "The clock went back.", 7)


def test_a_scheduler_that_is_long_gone_is_forgotten_when_another_begins(any_database: Database) -> None:
    beat(any_database, owner="a", host="h", pid=7, now=START)
    beat(any_database, owner="b", host="h", pid=7, now=START + 30 * 86_400)
    assert [one.owner for one in schedulers(any_database, START)] == ["b"]


def test_health_tells_whether_anybody_keeps_the_schedule(any_database: Database) -> None:
    assert health(any_database, START).is_kept and health(any_database, START).sentence.startswith("No job")
    job_table.add(any_database, job(), now=START)
    nobody = health(any_database, START)
    assert not nobody.is_kept and "none has run yet" in nobody.sentence
    beat(any_database, owner="a", host="h", pid=7, now=START)
    assert health(any_database, START).sentence == "1 scheduler alive, 1 job."
    stuck = health(any_database, START + 60 + 500)
    assert (sum(one.is_dead for one in stuck.schedulers), stuck.alive, stuck.overdue_seconds) == (1, 0, 500)
    beat(any_database, owner="a", host="h", pid=7, now=START + 560)
    assert "500 s overdue" in health(any_database, START + 560).sentence
    plan_due(any_database, now=START + 560)
    counted = health(any_database, START + 560)
    assert counted.outcomes["skipped"] >= 7 and counted.is_kept
