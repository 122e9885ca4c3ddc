"""Slots: which of them run, planned in the store, started, finished, or lost with their scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, takewhile

import msgspec

from seasoned.errors import SeasonedError
from seasoned.schedule.job import DAY_SECONDS, Job, JobRun, Slot, is_delivered
from seasoned.schedule.job_table import add_slot, job_from_row, key_of, skip_waiting
from seasoned.schedule.times import times
from seasoned.store import Database

# A slot that starts no later than this is on time.
GRACE_SECONDS = 60.0
# Slots that are older when they are noticed do not run.
MAX_AGE_SECONDS = DAY_SECONDS
_TOO_OLD = "older than a day when it was noticed"


class SlotPlan(msgspec.Struct, frozen=True):
    """What happens to the due slots of a job, and when the next one is due; None: never."""

    on_time: tuple[Slot, ...]
    late: Slot | None
    # With the reasons.
    skipped: tuple[tuple[Slot, str], ...]
    next_at: float | None


def plan(job: Job, next_at: float, now: float) -> SlotPlan:
    """Sort the slots from `next_at` to now by the job's policy for missed runs."""

    def after(time: float) -> Iterator[float]:
        first = [next_at] if time < next_at else []
        return chain(first, times(job.schedule, job.zone, job.created_at, max(time, next_at)))

    earliest = now - MAX_AGE_SECONDS
    due = [Slot(job.id, time) for time in takewhile(lambda time: time <= now, after(earliest))]
    on_time = [slot for slot in due if now <= slot.scheduled_at + GRACE_SECONDS]
    missed = due[: len(due) - len(on_time)]
    # A slot that is on time replaces the missed ones before it.
    late = missed.pop() if missed and not on_time and job.missed == "once" else None
    reason = (
        "Missed: a later run of this job replaces it."
        if job.missed == "once"
        else "Missed: no scheduler was awake, and missed runs of this job are skipped."
    )
    skipped = [(slot, reason) for slot in missed]
    if next_at <= earliest:
        # One line: a year of missed minutes must not fill the store.
        skipped.insert(0, (Slot(job.id, next_at), f"Missed, and {_TOO_OLD}; later ones of that age have no line."))
    return SlotPlan(tuple(on_time), late, tuple(skipped), next(after(now), None))


def plan_due(database: Database, *, now: float) -> int:
    """Store the due slots, each as waiting or skipped, and advance their jobs; returns how many jobs were due."""
    due = database.rows("schedule.due_jobs", {"now": now})
    if not due:
        return 0
    with database.write():
        for row in due:
            try:
                job = msgspec.json.decode(row["document"], type=Job)
                planned = plan(job, row["next_at"], now)
            except (SeasonedError, msgspec.MsgspecError) as error:
                _take_off(database, Slot(row["id"], row["next_at"]), now, error)
                continue
            moved = {"id": job.id, "next_at": planned.next_at, "seen_at": row["next_at"]}
            # Changed or removed since it was read.
            if not database.run("schedule.advance_job", moved):
                continue
            for slot in planned.on_time:
                add_slot(database, slot, origin="slot")
            if planned.late is not None:
                add_slot(database, planned.late, origin="late", note="Late: no scheduler was awake at its time.")
            for slot, reason in planned.skipped:
                add_slot(database, slot, origin="slot", skipped_at=now, reason=reason)
    return len(due)


def _take_off(database: Database, slot: Slot, now: float, error: Exception) -> None:
    """A job that cannot be read here (a zone without data, a field of a later version) must not stop the others."""
    if database.run("schedule.advance_job", {"id": slot.job_id, "next_at": None, "seen_at": slot.scheduled_at}):
        reason = f"The job cannot be planned here and was taken off the schedule ({error}). Fix it, then resume it."
        add_slot(database, slot, origin="slot", skipped_at=now, reason=reason)


def start_due(database: Database, *, owner: str, now: float, limit: int) -> list[tuple[Job, Slot]]:
    """Start at most `limit` waiting slots; those that may no longer start are skipped, with the reason.

    A job has one run at a time: a slot that comes meanwhile is skipped, a late one or one by hand waits.
    """
    # The scheduler asks every few seconds, and a transaction that writes makes others wait.
    if database.row("schedule.any_waiting", {"now": now}) is None:
        return []
    with database.write():
        database.run("schedule.skip_overlapping", {"now": now, "reason": "An earlier run was still going on."})
        old = {"now": now, "before": now - MAX_AGE_SECONDS, "reason": f"No scheduler started it in time: {_TOO_OLD}."}
        database.run("schedule.skip_old", old)
        # The first of each job that is not running.
        due = database.rows("schedule.due_slots", {"now": now, "limit": limit})
        slots = [Slot(row["job_id"], row["scheduled_at"]) for row in due]
        return [(job, slot) for slot in slots if (job := _start(database, slot, owner, now)) is not None]


def start_by_hand(database: Database, slot: Slot, *, owner: str, now: float) -> Job | None:
    """Start this slot and no other; None while another run of its job goes on, or if it no longer waits."""
    with database.write():
        if database.row("schedule.running", {"job_id": slot.job_id}) is not None:
            return None
        return _start(database, slot, owner, now)


def _start(database: Database, slot: Slot, owner: str, now: float) -> Job | None:
    """Start a slot, inside a transaction; None if it no longer waits."""
    waiting = database.row("schedule.waiting_slot", key_of(slot))
    stored = database.row("schedule.job", {"id": slot.job_id})
    if waiting is None or stored is None:
        return None
    if not database.run("schedule.start_slot", {**key_of(slot), "owner": owner, "now": now}):
        return None
    found = job_from_row(stored)
    if waiting["origin"] != "hand":
        is_last = found.job.repeat is not None and found.runs + 1 >= found.job.repeat
        database.run("schedule.end_job" if is_last else "schedule.count_run", {"id": slot.job_id})
        if is_last:
            skip_waiting(database, slot.job_id, "The job has run as often as it should.", now)
    return found.job


def finish(database: Database, record: JobRun, *, owner: str) -> bool:
    """Store the result of a run; False if it was given up before. One that was only lost is known again now."""
    values = {name: getattr(record, name) for name in JobRun.__struct_fields__ if name != "started_at"}
    with database.write():
        return bool(database.run("schedule.finish", {**values, "owner": owner}))


def recover(database: Database, *, owner: str, now: float) -> list[Slot]:
    """Mark runs of other schedulers as unknown: who holds the lease is the only one that runs anything."""
    lost = database.rows("schedule.runs_of_others", {"owner": owner})
    if lost:
        with database.write():
            for row in lost:
                job = database.row("schedule.job", {"id": row["job_id"]})
                is_due = job is not None and is_delivered(job_from_row(job).job)
                reason = f"The scheduler {row['owner']!r} died during the run, so its end is not known."
                values = {"now": now, "reason": reason, "delivery": "pending" if is_due else "none"}
                database.run("schedule.lose_run", {**key_of(Slot(row["job_id"], row["scheduled_at"])), **values})
    return [Slot(row["job_id"], row["scheduled_at"]) for row in lost]


def next_wake(database: Database) -> float | None:
    """When the next slot is due; None if nothing is planned."""
    row = database.row("schedule.next_due")
    return None if row is None else row["next_at"]
