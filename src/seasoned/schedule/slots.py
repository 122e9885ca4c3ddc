"""Slots: which of them run, planned in the store, started, finished, or lost with their scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby

import msgspec

from seasoned.errors import SeasonedError
from seasoned.schedule.job import DAY_SECONDS, Job, JobRun, Slot, is_delivered
from seasoned.schedule.job_table import add_slot, job_from_row, key_of
from seasoned.schedule.times import local, span_in_words, times
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow
from seasoned.text import plural

# A slot that starts no later than this is on time.
GRACE_SECONDS = 60.0
# Slots that are older when they are noticed do not run.
MAX_AGE_SECONDS = DAY_SECONDS
# Slots that are planned in one step; after a long sleep the rest follows at once.
PLANNED_SLOTS = 1000
JOBS_AT_ONCE = 100


class SkippedSlot(msgspec.Struct, frozen=True):
    """A slot that does not run, with the reason; after a long sleep one may represent many."""

    slot: Slot
    reason: str


class SlotPlan(msgspec.Struct, frozen=True):
    """What happens to the due slots of a job, and when the next one is due; None: never."""

    on_time: tuple[Slot, ...]
    late: tuple[Slot, ...]
    skipped: tuple[SkippedSlot, ...]
    next_at: float | None


def plan(job: Job, next_at: float, now: float, *, limit: int = PLANNED_SLOTS) -> SlotPlan:
    """Sort the slots from `next_at` to now by the job's policy for missed runs."""
    due: list[Slot] = []
    following: float | None = None
    for time in chain([next_at], times(job.schedule, job.zone, job.created_at, next_at)):
        if time > now or len(due) == limit:
            following = time
            break
        due.append(Slot(job.id, time))
    is_whole = following is None or following > now
    on_time = tuple(slot for slot in due if now <= slot.scheduled_at + GRACE_SECONDS)
    missed = due[: len(due) - len(on_time)]
    # A slot that is on time replaces the missed ones before it.
    last = missed[-1] if missed and is_whole and not on_time else None
    late: list[Slot] = []
    skipped: list[SkippedSlot] = []
    for slot in missed:
        reason = _why_skipped(job, slot, now, is_last=slot is last)
        if reason is None:
            late.append(slot)
        else:
            skipped.append(SkippedSlot(slot, reason))
    return SlotPlan(on_time, tuple(late), tuple(skipped if is_whole else _in_few_lines(job, skipped)), following)


def _why_skipped(job: Job, slot: Slot, now: float, *, is_last: bool) -> str | None:
    if now - slot.scheduled_at > MAX_AGE_SECONDS:
        return f"Missed, and older than {span_in_words(MAX_AGE_SECONDS)} when it was noticed."
    if job.missed == "skip":
        return "Missed: no scheduler was awake, and missed runs of this job are skipped."
    if job.missed == "once" and not is_last:
        return "Missed: a later run of this job replaces it."
    return None


def _in_few_lines(job: Job, skipped: Sequence[SkippedSlot]) -> list[SkippedSlot]:
    """One line for each reason: a year of missed minutes must not fill the store."""
    lines = []
    for reason, group in groupby(skipped, key=lambda one: one.reason):
        slots = [one.slot for one in group]
        end = local(slots[-1].scheduled_at, job.zone).isoformat(sep=" ", timespec="seconds")
        more = f" So were {plural(len(slots) - 1, 'slot')} after it, up to {end}."
        lines.append(SkippedSlot(slots[0], reason + (more if len(slots) > 1 else "")))
    return lines


def plan_due(database: Database, *, now: float, limit: int = JOBS_AT_ONCE) -> int:
    """Store the due slots, each as waiting or skipped, and advance their jobs; returns how many jobs were due."""
    due = database.rows("schedule.due_jobs", {"now": now, "limit": limit})
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
            for slot in planned.late:
                add_slot(database, slot, origin="late", note="Late: no scheduler was awake at its time.")
            for one in planned.skipped:
                add_slot(database, one.slot, origin="slot", skipped_at=now, reason=one.reason)
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
    started: list[tuple[Job, Slot]] = []
    with database.write():
        database.run("schedule.skip_overlapping", {"now": now, "reason": "An earlier run was still going on."})
        while len(started) < limit:
            # The first of each job that is not running.
            due = database.rows("schedule.due_slots", {"now": now, "limit": limit - len(started)})
            if not due:
                break
            for row in due:
                slot = Slot(row["job_id"], row["scheduled_at"])
                job = _start(database, slot, owner, now)
                if job is not None:
                    started.append((job, slot))
    return started


def start_by_hand(database: Database, slot: Slot, *, owner: str, now: float) -> Job | None:
    """Start this slot and no other; None while another run of its job goes on, or if it no longer waits."""
    with database.write():
        if database.row("schedule.running", {"job_id": slot.job_id}) is not None:
            return None
        if database.row("schedule.waiting_slot", key_of(slot)) is None:
            return None
        return _start(database, slot, owner, now)


def _start(database: Database, slot: Slot, owner: str, now: float) -> Job | None:
    key = key_of(slot)
    stored = database.row("schedule.job", {"id": slot.job_id})
    waiting = database.row("schedule.waiting_slot", key)
    assert stored is not None and waiting is not None  # it was just found, in the same transaction
    reason = _objection(stored, waiting["origin"], slot, now)
    if reason is not None:
        database.run("schedule.skip_slot", {**key, "now": now, "reason": reason})
        return None
    database.run("schedule.start_slot", {**key, "owner": owner, "now": now})
    found = job_from_row(stored)
    if waiting["origin"] != "hand":
        is_last = found.job.repeat is not None and found.runs + 1 >= found.job.repeat
        database.run("schedule.end_job" if is_last else "schedule.count_run", {"id": slot.job_id})
    return found.job


def _objection(row: DatabaseRow, origin: str, slot: Slot, now: float) -> str | None:
    """Why a waiting slot may no longer start."""
    stored = job_from_row(row)
    job = stored.job
    if stored.is_removed:
        return "The job was removed before the run started."
    if origin == "hand":
        return None
    if job.is_paused:
        return "The job was paused before the run started."
    if job.repeat is not None and stored.runs >= job.repeat:
        return f"The job has run {plural(job.repeat, 'time')}, as often as it should."
    waited = now - slot.scheduled_at
    if waited > (GRACE_SECONDS if job.missed == "skip" else MAX_AGE_SECONDS):
        return f"No scheduler started it in time: it waited {span_in_words(waited)}."
    return None


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
