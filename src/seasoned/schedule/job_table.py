"""Jobs and their slots in the store: added, planned, started, finished or lost; the history; the scheduler's lease."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from typing import Any, Literal

import msgspec

from seasoned.errors import NotFound, RuleBroken, SeasonedError, UsageError
from seasoned.schedule.job import DAY_SECONDS, Job, JobRun, Slot, is_delivered
from seasoned.schedule.times import check_times, in_words, local, next_times, times
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow
from seasoned.text import plural

HISTORY_LINES = 50
_FIELDS = JobRun.__struct_fields__


class StoredJob(msgspec.Struct, frozen=True):
    """A job in the store."""

    job: Job
    # Its next slot; None: it is paused, done or removed.
    next_at: float | None
    # Slots that have started; starts by hand and further attempts are not counted.
    runs: int = 0
    is_removed: bool = False

    @property
    def state(self) -> Literal["removed", "paused", "done", "active"]:
        """Done: nothing is left to do, because its date has passed or it has run as often as wanted."""
        if self.is_removed:
            return "removed"
        if self.job.is_paused:
            return "paused"
        return "done" if self.next_at is None else "active"


def add(database: Database, job: Job, *, now: float) -> StoredJob:
    """Check and store a new job; its first slot is the first one after now."""
    check_times(job, now=now)
    stored = StoredJob(job, _next_at(job, now))
    try:
        with database.write():
            database.run("schedule.add_job", {**_columns(stored), "created_at": now})
    except RuleBroken as error:
        text = f"a job named {job.name!r} already exists. Choose another name, or remove that job first."
        raise UsageError(text) from error
    return stored


def pause(database: Database, text: str, *, now: float) -> StoredJob:
    """Start no new runs until it is resumed. Current runs continue; waiting slots are skipped."""
    found = find(database, text)
    job = msgspec.structs.replace(found.job, is_paused=True)
    reason = "The job was paused before the run started."
    with database.write():
        _skip_all(database, found, reason, now)
        return _keep(database, StoredJob(job, None, found.runs))


def resume(database: Database, text: str, *, now: float) -> StoredJob:
    """Continue with the first slot after now; slots during the pause do not count as missed."""
    found = find(database, text)
    job = msgspec.structs.replace(found.job, is_paused=False)
    # A job that is done stays done: it has no slot to go on with.
    is_used_up = job.repeat is not None and found.runs >= job.repeat
    with database.write():
        return _keep(database, StoredJob(job, None if is_used_up else _next_at(job, now), found.runs))


def remove(database: Database, text: str, *, now: float) -> StoredJob:
    """Remove a job. Its history stays, and its name is free again."""
    found = find(database, text)
    reason = "The job was removed before the run started."
    with database.write():
        database.run("schedule.remove_job", {"id": found.job.id, "now": now})
        _skip_all(database, found, reason, now)
    return StoredJob(found.job, None, found.runs, is_removed=True)


def ask_for_run(database: Database, text: str, *, now: float) -> Slot:
    """Request a run as soon as a scheduler is free. Paused jobs run too, and `repeat` is not counted down."""
    job = find(database, text).job
    slot = Slot(job.id, math.floor(now * 1000) / 1000)
    with database.write():
        add_slot(database, slot, origin="hand", note="Started by hand.")
    return slot


def jobs(database: Database) -> list[StoredJob]:
    """All jobs, by name."""
    return [job_from_row(row) for row in database.rows("schedule.jobs")]


def find(database: Database, text: str) -> StoredJob:
    """The job with this id or name."""
    row = database.row("schedule.find_jobs", {"text": text})
    if row is None:
        names = [one.job.name for one in jobs(database)]
        known = f"existing jobs are {', '.join(map(repr, names[:20]))}" if names else "there are no jobs yet"
        raise NotFound(f"job {text!r} not found: {known}.")
    return job_from_row(row)


def history(database: Database, job_id: str | None = None, *, limit: int = HISTORY_LINES) -> list[JobRun]:
    """The runs of one job, even a removed one, or of all jobs, newest first."""
    if job_id is None:
        return [run_from_row(row) for row in database.rows("schedule.whole_history", {"limit": limit})]
    return [run_from_row(row) for row in database.rows("schedule.history", {"job_id": job_id, "limit": limit})]


def add_slot(
    database: Database, slot: Slot, *, origin: str, skipped_at: float | None = None, reason: str = "", note: str = ""
) -> None:
    """Add a waiting or skipped slot, inside a transaction, if it does not exist.

    `origin` is why it is there: `slot` (its time came), `late` (its time was missed), or `hand` (a person asked).
    """
    outcome = "waiting" if skipped_at is None else "skipped"
    values = {"origin": origin, "outcome": outcome, "ended_at": skipped_at, "reason": reason, "note": note}
    database.run("schedule.add_slot", {**key_of(slot), **values})


def run_of(database: Database, slot: Slot) -> JobRun:
    """The run of a slot, as far as it is known."""
    row = database.row("schedule.run_of_slot", key_of(slot))
    if row is None:
        raise NotFound(f"job {slot.job_id!r} has no run at {slot.scheduled_at!r}.")
    return run_from_row(row)


def job_from_row(row: DatabaseRow) -> StoredJob:
    """The job in a row of the store."""
    job = msgspec.json.decode(row["document"], type=Job)
    return StoredJob(job, row["next_at"], int(row["runs"]), row["removed_at"] is not None)


def run_from_row(row: DatabaseRow) -> JobRun:
    """The run in a row of the store."""
    return JobRun(**{field: row[field] for field in _FIELDS})


def key_of(slot: Slot) -> dict[str, Any]:
    """The key of a slot in the store."""
    return {"job_id": slot.job_id, "scheduled_at": slot.scheduled_at}


def _next_at(job: Job, now: float) -> float | None:
    following: Sequence[float] = () if job.is_paused else next_times(job, now, 1)
    return following[0] if following else None


def _columns(stored: StoredJob) -> dict[str, Any]:
    job = stored.job
    document = msgspec.json.encode(job).decode()
    return {"id": job.id, "name": job.name, "document": document, "next_at": stored.next_at}


def _keep(database: Database, stored: StoredJob) -> StoredJob:
    if not database.run("schedule.change_job", _columns(stored)):
        raise NotFound(f"the job {stored.job.name!r} was removed meanwhile. Add it again.")
    return stored


def _skip_all(database: Database, found: StoredJob, reason: str, now: float) -> None:
    """Skip what waits, and a due slot that no scheduler has seen yet, so that the history shows it."""
    skip_waiting(database, found.job.id, reason, now)
    if found.next_at is not None and found.next_at <= now:
        slot = Slot(found.job.id, found.next_at)
        add_slot(database, slot, origin="slot", skipped_at=now, reason=reason)


def skip_waiting(database: Database, job_id: str, reason: str, now: float) -> None:
    """Skip what waits of a job, inside a transaction."""
    database.run("schedule.skip_waiting", {"job_id": job_id, "reason": reason, "now": now})


def describe(stored: StoredJob, *, now: float) -> dict[str, Any]:
    """A job as plain values, with its next times in its own zone."""
    job = stored.job
    following = [] if stored.next_at is None else next_times(job, now)
    left = None if job.repeat is None else max(0, job.repeat - stored.runs)
    return {
        **msgspec.to_builtins(job),
        "when": in_words(job.schedule, job.zone),
        "next_times": [local(time, job.zone).isoformat() for time in following[:left]],
        "runs": stored.runs,
        "state": stored.state,
    }


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


# How often the scheduler renews its lease, and after how long without that another one takes over.
BEAT_SECONDS = 15.0
LEASE_SECONDS = 4 * BEAT_SECONDS
# A busy scheduler starts a slot sooner than this.
OVERDUE_SECONDS = 120.0


class ScheduleHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether jobs start in time, and whether a scheduler is alive."""

    is_alive: bool
    # When a scheduler was last alive; None: none has run yet.
    seen_at: float | None
    # Jobs that have a next slot.
    active_jobs: int
    # How long the most overdue slot has been waiting for a scheduler.
    overdue_seconds: float = 0.0

    @property
    def is_kept(self) -> bool:
        """Whether jobs start in time: no slot is overdue, and a scheduler is alive if there are jobs."""
        return self.overdue_seconds <= OVERDUE_SECONDS and (self.is_alive or self.active_jobs == 0)

    @property
    def sentence(self) -> str:
        """The state of the schedule in one sentence, for people."""
        if not self.active_jobs:
            return "No jobs are scheduled."
        jobs = plural(self.active_jobs, "job")
        if not self.is_alive:
            since = "none has run yet" if self.seen_at is None else "the last one has stopped"
            return f"{jobs} scheduled, but no scheduler is running ({since}). Run `seasoned serve`."
        if not self.is_kept:
            return f"A slot is {self.overdue_seconds:,.0f} s overdue although a scheduler is running. Check its log."
        return f"A scheduler is running, with {jobs}."


def hold(database: Database, *, owner: str, now: float, lease_seconds: float = LEASE_SECONDS) -> bool:
    """Take or renew the lease of the schedule. Only who holds it runs jobs; False while that is another scheduler."""
    # A time in the future is of a clock that has been set back since, and does not count either.
    others = {"owner": owner, "earliest": now - lease_seconds, "latest": now + lease_seconds}
    with database.write():
        database.run("schedule.lock")
        if database.row("schedule.other_holder", others) is not None:
            return False
        database.run("schedule.drop_others", {"owner": owner})
        database.run("schedule.beat", {"owner": owner, "now": now})
    return True


def leave(database: Database, *, owner: str, now: float) -> None:
    """Give the lease back, so that another scheduler takes over at once."""
    with database.write():
        database.run("schedule.leave", {"owner": owner, "now": now})


def health(database: Database, now: float) -> ScheduleHealth:
    """The health of the schedule, for doctor, metrics and pages."""
    counts = database.row("schedule.count_jobs")
    due = database.row("schedule.next_due")
    last = database.row("schedule.last_scheduler")
    next_at = None if due is None else due["next_at"]
    return ScheduleHealth(
        is_alive=last is not None and last["stopped_at"] is None and now - last["heartbeat_at"] <= LEASE_SECONDS,
        seen_at=None if last is None else last["heartbeat_at"],
        active_jobs=0 if counts is None else int(counts["n"]),
        overdue_seconds=0.0 if next_at is None else max(0.0, now - next_at),
    )
