"""The board that jobs hang on: add, change, pause, resume and remove them, and look at their history."""

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
    """A job on the board."""

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
    """Keep a new job, checked; its first slot is the first one after now."""
    check_times(job, now=now)
    posted = StoredJob(job, _next_at(job, now))
    try:
        with database.write():
            database.run("schedule.add_job", {**_columns(posted), "created_at": now})
            database.run("schedule.raise_revision")
    except RuleBroken as error:
        raise _name_taken(job) from error
    return posted


def change(database: Database, job: Job, *, now: float) -> StoredJob:
    """Put a changed job in the place of the old one with the same id; slots that wait keep waiting."""
    found = find(database, job.id)
    old = found.job
    if (job.schedule, job.zone) == (old.schedule, old.zone) and isinstance(job.schedule, At):
        check_job(job)
    else:
        check_times(job, now=now)
    posted = StoredJob(job, _next_at(job, now), found.runs)
    try:
        with database.write():
            _skip_due(database, found, "The job was changed before the run started.", now)
            return _keep(database, posted)
    except RuleBroken as error:
        raise _name_taken(job) from error


def pause(database: Database, text: str, *, now: float) -> StoredJob:
    """No new run starts until it is resumed; one that goes on goes on, and slots that wait are skipped."""
    found = find(database, text)
    job = msgspec.structs.replace(found.job, is_paused=True)
    reason = "The job was paused before the run started."
    with database.write():
        _skip_due(database, found, reason, now)
        _skip_waiting(database, job.id, reason, now)
        return _keep(database, StoredJob(job, None, found.runs))


def resume(database: Database, text: str, *, now: float) -> StoredJob:
    """Go on with the first slot after now; those that came during the pause are no missed ones."""
    found = find(database, text)
    job = msgspec.structs.replace(found.job, is_paused=False)
    # A job that is done stays done: it has no slot to go on with.
    is_used_up = job.repeat is not None and found.runs >= job.repeat
    with database.write():
        return _keep(database, StoredJob(job, None if is_used_up else _next_at(job, now), found.runs))


def remove(database: Database, text: str, *, now: float) -> StoredJob:
    """Take a job off the board. Its history stays, and its name is free again."""
    found = find(database, text)
    reason = "The job was removed before the run started."
    with database.write():
        database.run("schedule.remove_job", {"id": found.job.id, "now": now})
        _skip_due(database, found, reason, now)
        _skip_waiting(database, found.job.id, reason, now)
        database.run("schedule.raise_revision")
    return StoredJob(found.job, None, found.runs, is_removed=True)


def ask_for_run(database: Database, text: str, *, now: float) -> Slot:
    """A run by hand, as soon as a scheduler has room; paused jobs run too, and it counts for no repeat."""
    job = find(database, text).job
    slot = Slot(job.id, math.floor(now * 1000) / 1000)
    with database.write():
        add_slot(database, slot, origin="hand", start_at=slot.scheduled_at, note="Started by hand.")
        database.run("schedule.raise_revision")
    return slot


def jobs(database: Database) -> list[StoredJob]:
    """Every job on the board, by name."""
    return [posted_of(row) for row in database.rows("schedule.jobs")]


def find(database: Database, text: str) -> StoredJob:
    """The job with this id or name."""
    row = database.row("schedule.find_jobs", {"text": text})
    if row is None:
        names = [one.job.name for one in jobs(database)]
        known = f"there are {', '.join(map(repr, names[:20]))}" if names else "there is none yet"
        raise NotFound(f"no job is called {text!r}: {known}.")
    return posted_of(row)


def history(
    database: Database, job_id: str | None = None, *, limit: int = HISTORY_LINES, before: float | None = None
) -> list[JobRun]:
    """The lines of one job, also of a removed one, or of all, the newest first."""
    asked = {"before": math.inf if before is None else before, "limit": limit}
    if job_id is None:
        return [record_of(row) for row in database.rows("schedule.whole_history", asked)]
    return [record_of(row) for row in database.rows("schedule.history", {**asked, "job_id": job_id})]


def drop_history(database: Database, *, before: float) -> int:
    """Forget runs that ended and were scheduled before this time; how many."""
    with database.write():
        return database.run("schedule.drop_history", {"before": before})


def revision(database: Database) -> int:
    """A number that changes when somebody changes the board."""
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
    """Write down a slot that waits or is skipped, inside a transaction; False: it has been there already."""
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


def posted_of(row: DatabaseRow) -> StoredJob:
    """The job that a row of the board holds."""
    job = msgspec.json.decode(row["document"], type=Job)
    return StoredJob(job, row["next_at"], int(row["runs"]), row["removed_at"] is not None)


def record_of(row: DatabaseRow) -> JobRun:
    """The line of the history that a row holds."""
    return JobRun(**{field: row[field] for field in _FIELDS})


def key_of(slot: Slot, attempt: int) -> dict[str, Any]:
    """What names one attempt in the store."""
    return {"job_id": slot.job_id, "scheduled_at": slot.scheduled_at, "attempt": attempt}


def _next_at(job: Job, now: float) -> float | None:
    following: Sequence[float] = () if job.is_paused else next_times(job, now, 1)
    return following[0] if following else None


def _columns(posted: StoredJob) -> dict[str, Any]:
    job = posted.job
    document = msgspec.json.encode(job).decode()
    return {"id": job.id, "name": job.name, "document": document, "next_at": posted.next_at}


def _keep(database: Database, posted: StoredJob) -> StoredJob:
    if not database.run("schedule.change_job", _columns(posted)):
        raise NotFound(f"the job {posted.job.name!r} was removed meanwhile: add it again.")
    database.run("schedule.raise_revision")
    return posted


def _skip_due(database: Database, found: StoredJob, reason: str, now: float) -> None:
    """A slot whose time has come, but that no scheduler has seen yet, must not go without a line."""
    if found.next_at is not None and found.next_at <= now:
        slot = Slot(found.job.id, found.next_at)
        add_slot(database, slot, origin="slot", start_at=found.next_at, skipped_at=now, reason=reason)


def _skip_waiting(database: Database, job_id: str, reason: str, now: float) -> None:
    database.run("schedule.skip_waiting", {"job_id": job_id, "reason": reason, "now": now})


def _name_taken(job: Job) -> UsageError:
    return UsageError(f"there is already a job called {job.name!r}: give another name, or remove that one first.")
