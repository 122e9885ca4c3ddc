"""Jobs in the store: add, change, pause, resume and remove them, and read their history."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from seasoned.errors import NotFound, RuleBroken, UsageError
from seasoned.schedule.job import At, Job, JobRun, Slot, check_job
from seasoned.schedule.times import check_times, next_times
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow

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
    def is_done(self) -> bool:
        """Nothing is left to do: its date has passed, or it ran as often as it should."""
        return self.next_at is None and not self.job.is_paused and not self.is_removed


def add(database: Database, job: Job, *, now: float) -> StoredJob:
    """Check and store a new job; its first slot is the first one after now."""
    check_times(job, now=now)
    stored = StoredJob(job, _next_at(job, now))
    try:
        with database.write():
            database.run("schedule.add_job", {**_columns(stored), "created_at": now})
            database.run("schedule.raise_revision")
    except RuleBroken as error:
        raise _name_taken(job) from error
    return stored


def change(database: Database, job: Job, *, now: float) -> StoredJob:
    """Replace the job with the same id; waiting slots keep waiting."""
    found = find(database, job.id)
    old = found.job
    # A date that has passed stays allowed, so that the rest of a finished job can be changed.
    if (job.schedule, job.zone) == (old.schedule, old.zone) and isinstance(job.schedule, At):
        check_job(job)
    else:
        check_times(job, now=now)
    stored = StoredJob(job, _next_at(job, now), found.runs)
    try:
        with database.write():
            _skip_due(database, found, "The job was changed before the run started.", now)
            return _keep(database, stored)
    except RuleBroken as error:
        raise _name_taken(job) from error


def pause(database: Database, text: str, *, now: float) -> StoredJob:
    """Start no new runs until it is resumed. Current runs continue; waiting slots are skipped."""
    found = find(database, text)
    job = msgspec.structs.replace(found.job, is_paused=True)
    reason = "The job was paused before the run started."
    with database.write():
        _skip_due(database, found, reason, now)
        _skip_waiting(database, job.id, reason, now)
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
        _skip_due(database, found, reason, now)
        _skip_waiting(database, found.job.id, reason, now)
        database.run("schedule.raise_revision")
    return StoredJob(found.job, None, found.runs, is_removed=True)


def discard(database: Database, job_id: str, *, now: float) -> None:
    """Remove a job as if it had never been added; one that has a history is removed as usual."""
    with database.write():
        is_gone = database.run("schedule.discard_job", {"id": job_id})
        database.run("schedule.raise_revision")
    if not is_gone and any(one.job.id == job_id for one in jobs(database)):
        remove(database, job_id, now=now)


def ask_for_run(database: Database, text: str, *, now: float) -> Slot:
    """Request a run as soon as a scheduler is free. Paused jobs run too, and `repeat` is not counted down."""
    job = find(database, text).job
    slot = Slot(job.id, math.floor(now * 1000) / 1000)
    with database.write():
        add_slot(database, slot, origin="hand", start_at=slot.scheduled_at, note="Started by hand.")
        database.run("schedule.raise_revision")
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


def history(
    database: Database, job_id: str | None = None, *, limit: int = HISTORY_LINES, before: float | None = None
) -> list[JobRun]:
    """The runs of one job, even a removed one, or of all jobs, newest first."""
    asked = {"before": math.inf if before is None else before, "limit": limit}
    if job_id is None:
        return [run_from_row(row) for row in database.rows("schedule.whole_history", asked)]
    return [run_from_row(row) for row in database.rows("schedule.history", {**asked, "job_id": job_id})]


def revision(database: Database) -> int:
    """A number that changes whenever a job changes."""
    row = database.row("schedule.revision")
    return 0 if row is None else int(row["revision"])


def add_slot(
    database: Database,
    slot: Slot,
    *,
    origin: str,
    start_at: float,
    attempt: int = 1,
    skipped_at: float | None = None,
    reason: str = "",
    note: str = "",
) -> bool:
    """Add a waiting or skipped slot, inside a transaction; False if it already exists."""
    values = {
        "job_id": slot.job_id,
        "scheduled_at": slot.scheduled_at,
        "attempt": attempt,
        "origin": origin,
        "outcome": "waiting" if skipped_at is None else "skipped",
        "start_at": start_at,
        "ended_at": skipped_at,
        "reason": reason,
        "note": note,
    }
    return database.run("schedule.add_slot", values) == 1


def job_from_row(row: DatabaseRow) -> StoredJob:
    """The job in a row of the store."""
    job = msgspec.json.decode(row["document"], type=Job)
    return StoredJob(job, row["next_at"], int(row["runs"]), row["removed_at"] is not None)


def run_from_row(row: DatabaseRow) -> JobRun:
    """The run in a row of the store."""
    return JobRun(**{field: row[field] for field in _FIELDS})


def key_of(slot: Slot, attempt: int) -> dict[str, Any]:
    """The key of one attempt in the store."""
    return {"job_id": slot.job_id, "scheduled_at": slot.scheduled_at, "attempt": attempt}


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
    database.run("schedule.raise_revision")
    return stored


def _skip_due(database: Database, found: StoredJob, reason: str, now: float) -> None:
    """Record a due slot that no scheduler has seen yet as skipped, so that the history shows it."""
    if found.next_at is not None and found.next_at <= now:
        slot = Slot(found.job.id, found.next_at)
        add_slot(database, slot, origin="slot", start_at=found.next_at, skipped_at=now, reason=reason)


def _skip_waiting(database: Database, job_id: str, reason: str, now: float) -> None:
    database.run("schedule.skip_waiting", {"job_id": job_id, "reason": reason, "now": now})


def _name_taken(job: Job) -> UsageError:
    return UsageError(f"a job named {job.name!r} already exists. Choose another name, or remove that job first.")
