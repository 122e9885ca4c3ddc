"""Add jobs with all checks that need this machine, and the view of jobs that an agent gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.schedule import job_table
from seasoned.schedule.job import Job, JobRun, new_id
from seasoned.schedule.job_table import StoredJob
from seasoned.schedule.script import command_of, find_script
from seasoned.schedule.times import in_words, local, next_times, parse_schedule
from seasoned.store import Database

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
    return job_table.add(database, job, now=now)


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
            return [self._short(one) for one in job_table.jobs(database)]

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
            change = job_table.pause if is_paused else job_table.resume
            return self._short(change(database, name, now=self._clock()))

    def remove(self, name: str) -> dict[str, Any]:
        """Remove a job."""
        with self._database() as database:
            return self._short(job_table.remove(database, name, now=self._clock()))

    def history(self, name: str) -> list[dict[str, Any]]:
        """The last runs of a job."""
        with self._database() as database:
            job = job_table.find(database, name).job
            return [_short_run(one, job) for one in job_table.history(database, job.id, limit=_SHOWN_RUNS)]

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
