"""Jobs in the store: add, change, pause and remove them, also as an agent may; their history; live schedulers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import CannotDo, NotFound, RuleBroken, UsageError
from seasoned.schedule.job import At, Job, JobRun, Slot, check_job, new_id
from seasoned.schedule.script import command_of, find_script
from seasoned.schedule.times import check_times, in_words, local, next_times, parse_schedule
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
    def is_done(self) -> bool:
        """Nothing is left to do: its date has passed, or it has run as often as wanted."""
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


# Where an agent may send answers: only to destinations that a person has configured.
AGENT_DELIVERIES = ("none", "telegram", "discord", "webhook")
# Personal data, but a prompt may need to name whom to write to.
_FOR_PEOPLE = ("email", "phone")
_SHOWN_RUNS = 10
_SHOWN_CHARACTERS = 2_000


def add_checked(
    database: Database,
    job: Job,
    *,
    now: float,
    scripts: Path,
    kinds_in: Callable[[str], list[str]],
    toolsets: Sequence[str] = (),
) -> StoredJob:
    """Add a job, checked as far as this machine can: its script, its folder, its toolsets, and secrets in its words.

    `kinds_in` names the kinds of secrets in a text.
    """
    found = [kind for kind in kinds_in(job.prompt) if kind not in _FOR_PEOPLE]
    if found:
        raise UsageError(
            f"the prompt of {job.name!r} contains what looks like a secret ({found[0]}), but prompts are stored and "
            "sent. Let a script read it from a file instead."
        )
    if job.script is not None:
        command_of(find_script(scripts, job.script))
    if job.folder is not None and not Path(job.folder).is_dir():
        raise NotFound(f"folder {job.folder!r} not found. Create it first, or leave it out.")
    unknown = [one for one in job.toolsets or () if one not in toolsets]
    if unknown and toolsets:
        raise UsageError(f"unknown toolset {unknown[0]!r}. Choose from {', '.join(toolsets)}.")
    return add(database, job, now=now)


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
        "state": "removed" if stored.is_removed else _state_of(stored),
    }


def _state_of(stored: StoredJob) -> str:
    return "paused" if stored.job.is_paused else "done" if stored.is_done else "active"


class AgentJobs:
    """Jobs as an agent sees them: it may choose a time, a prompt, skills and a configured destination, nothing else."""

    def __init__(
        self,
        open_database: Callable[[], Database],
        *,
        clock: Callable[[], float],
        scripts: Path,
        kinds_in: Callable[[str], list[str]],
    ) -> None:
        self._open = open_database
        self._clock = clock
        self._scripts = scripts
        self._kinds_in = kinds_in

    def jobs(self) -> list[dict[str, Any]]:
        """Every job, with its next time."""
        with self._database() as database:
            return [self._short(one) for one in jobs(database)]

    def add(
        self, *, name: str, schedule: str, prompt: str, zone: str, delivery: str | None, skills: Sequence[str]
    ) -> dict[str, Any]:
        """Add a job. The agent cannot choose its script, model, folder or toolsets."""
        if delivery is not None and delivery not in AGENT_DELIVERIES:
            raise UsageError(f"an agent may not deliver to {delivery!r}. Choose from {', '.join(AGENT_DELIVERIES)}.")
        now = self._clock()
        job = Job(
            id=new_id(),
            name=name,
            schedule=parse_schedule(schedule, zone=zone, now=now),
            zone=zone,
            created_at=now,
            prompt=prompt,
            skills=tuple(skills),
            delivery=(delivery or "none",),
        )
        with self._database() as database:
            return self._short(add_checked(database, job, now=now, scripts=self._scripts, kinds_in=self._kinds_in))

    def set_paused(self, name: str, *, is_paused: bool) -> dict[str, Any]:
        """Pause or resume a job."""
        with self._database() as database:
            change = pause if is_paused else resume
            return self._short(change(database, name, now=self._clock()))

    def remove(self, name: str) -> dict[str, Any]:
        """Remove a job."""
        with self._database() as database:
            return self._short(remove(database, name, now=self._clock()))

    def history(self, name: str) -> list[dict[str, Any]]:
        """The last runs of a job."""
        with self._database() as database:
            job = find(database, name).job
            return [_short_run(one, job) for one in history(database, job.id, limit=_SHOWN_RUNS)]

    def _short(self, stored: StoredJob) -> dict[str, Any]:
        whole = describe(stored, now=self._clock())
        fields = ("id", "name", "when", "zone", "next_times", "state", "prompt", "delivery")
        return {field: whole[field] for field in fields}

    @contextmanager
    def _database(self) -> Iterator[Database]:
        database = self._open()
        try:
            yield database
        finally:
            database.close()


def _short_run(record: JobRun, job: Job) -> dict[str, Any]:
    return {
        "time": local(record.scheduled_at, job.zone).isoformat(),
        "outcome": record.outcome,
        "reason": record.reason,
        "output": record.output[:_SHOWN_CHARACTERS],
        "delivery": record.delivery,
    }


def check_folder(folder: Path) -> Path:
    """The folder, created for its owner only if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise CannotDo(f"cannot create the folder {str(folder)!r}: {error.strerror or error}.") from error
    return folder


# How often a scheduler reports that it is alive.
BEAT_SECONDS = 15.0
# A scheduler without a heartbeat for this long is dead.
DEAD_SECONDS = 4 * BEAT_SECONDS
# A busy scheduler starts a slot sooner than this.
OVERDUE_SECONDS = 120.0
# How long schedulers that have stopped stay listed.
KEPT_SECONDS = 7 * 86_400.0


class SchedulerState(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduler, as the others see it."""

    owner: str
    host: str
    pid: int
    started_at: float
    heartbeat_at: float
    # When it stopped in an orderly way; None: it runs, or it died.
    stopped_at: float | None = None
    note: str = ""
    is_alive: bool = False

    @property
    def is_dead(self) -> bool:
        """It neither runs nor stopped in an orderly way."""
        return not self.is_alive and self.stopped_at is None


class ScheduleHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether jobs start in time, and which schedulers are alive."""

    schedulers: tuple[SchedulerState, ...]
    jobs: int
    # Jobs that have a next slot.
    active_jobs: int
    # How long the most overdue slot has been waiting for a scheduler.
    overdue_seconds: float = 0.0
    outcomes: dict[str, int] = {}

    @property
    def alive(self) -> int:
        return sum(one.is_alive for one in self.schedulers)

    @property
    def is_kept(self) -> bool:
        """Whether jobs start in time: no slot is overdue, and a scheduler is alive if there are jobs."""
        return self.overdue_seconds <= OVERDUE_SECONDS and (self.alive > 0 or self.active_jobs == 0)

    @property
    def sentence(self) -> str:
        """The state of the schedule in one sentence, for people."""
        if not self.active_jobs:
            return "No jobs are scheduled."
        if not self.alive:
            seen = max((one.heartbeat_at for one in self.schedulers), default=None)
            since = "none has run yet" if seen is None else "the last one has stopped"
            jobs = plural(self.active_jobs, "job")
            return f"{jobs} scheduled, but no scheduler is running ({since}). Run `seasoned cron serve`."
        if not self.is_kept:
            return f"A slot is {self.overdue_seconds:,.0f} s overdue although a scheduler is running. Check its log."
        return f"{plural(self.alive, 'scheduler')} alive, {plural(self.active_jobs, 'job')}."


def beat(database: Database, *, owner: str, host: str, pid: int, now: float, note: str = "") -> None:
    """Report that a scheduler is alive; its first report removes those that stopped long ago."""
    values = {"owner": owner, "host": host, "pid": pid, "now": now, "note": note}
    with database.write():
        if not database.run("schedule.beat", values):
            database.run("schedule.drop_schedulers", {"before": now - KEPT_SECONDS})
            database.run("schedule.appear", values)


def leave(database: Database, *, owner: str, now: float) -> None:
    """Report that a scheduler stops in an orderly way."""
    with database.write():
        database.run("schedule.leave", {"owner": owner, "now": now})


def schedulers(database: Database, now: float) -> list[SchedulerState]:
    """Every scheduler of the last days with its last heartbeat, the oldest first."""
    names = [name for name in SchedulerState.__struct_fields__ if name != "is_alive"]
    return [
        SchedulerState(
            **{name: row[name] for name in names},
            is_alive=row["stopped_at"] is None and now - row["heartbeat_at"] <= DEAD_SECONDS,
        )
        for row in database.rows("schedule.schedulers")
    ]


def health(database: Database, now: float) -> ScheduleHealth:
    """The health of the schedule, for doctor, metrics and pages."""
    counts = database.row("schedule.count_jobs")
    due = database.row("schedule.next_due")
    next_at = None if due is None else due["next_at"]
    return ScheduleHealth(
        schedulers=tuple(schedulers(database, now)),
        jobs=0 if counts is None else int(counts["n"]),
        active_jobs=0 if counts is None else int(counts["n_active"]),
        overdue_seconds=0.0 if next_at is None else max(0.0, now - next_at),
        outcomes={row["outcome"]: int(row["n"]) for row in database.rows("schedule.count_outcomes")},
    )
