"""What a job is, what one slot of it is, and what is known of a run. Values only: no I/O, no clock."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable
from typing import Literal

import msgspec

from seasoned.errors import UsageError

# Slots that were missed because no scheduler ran: run none, or the last one.
Missed = Literal["skip", "once"]
# Waiting and running have not ended. Unknown: the scheduler died during the run, so its end was not seen.
Outcome = Literal["waiting", "running", "ok", "silent", "empty", "failed", "unknown", "skipped"]
RunFault = Literal["", "script", "agent", "context", "timeout"]
DeliveryState = Literal["none", "pending", "delivered", "failed"]
# What a delivery may begin with; an address follows after a colon: `file:/srv/report.md`.
DESTINATIONS = ("stdout", "file", "webhook", "telegram", "discord", "none")
DAY_SECONDS = 86_400.0
_NAME = re.compile(r"[\w][\w .:@+\-]{0,79}\Z")
_ID = re.compile(r"[A-Za-z0-9_\-]{1,64}\Z")


class Cron(msgspec.Struct, frozen=True, tag="cron", tag_field="kind"):
    """Times that a cron expression of five fields names, as the clocks of the job's zone show them."""

    expression: str


class Every(msgspec.Struct, frozen=True, tag="every", tag_field="kind"):
    """Every so many seconds, counted from the moment at which the job was made; zones do not matter."""

    seconds: int


class At(msgspec.Struct, frozen=True, tag="at", tag_field="kind"):
    """One moment, in seconds since 1970."""

    time: float


Schedule = Cron | Every | At


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A task for an agent, and when to run it. `times.check_times` checks it; `job_table.add` calls that."""

    # Never changes; the recorded sessions are called `cron_<id>_<time>`.
    id: str
    # What people call it; no two jobs have the same.
    name: str
    schedule: Schedule
    zone: str = "UTC"
    created_at: float
    # The job's own words. Empty: there is no agent, and what the script prints is the answer.
    prompt: str = ""
    skills: tuple[str, ...] = ()
    # The gate script, by its path inside the folder of scripts.
    script: str | None = None
    # Who runs it: an agent of the user by its name, or a model API.
    agent: str = "model"
    model: str | None = None
    # Whether the agent may run commands.
    terminal: bool = False
    # Where the agent works.
    folder: str | None = None
    # Where the answer goes: `stdout`, `file:…`, `webhook:…`, `telegram:…`, `discord:…`, `none`.
    delivery: tuple[str, ...] = ("stdout",)
    # How often it runs before it is done; None: without end.
    repeat: int | None = None
    missed: Missed = "once"
    timeout_seconds: float = 1800.0
    is_paused: bool = False


class Slot(msgspec.Struct, frozen=True, order=True):
    """One time at which a job is to run. Nothing else names a run, so that it can be claimed once only."""

    job_id: str
    scheduled_at: float

    @property
    def session_id(self) -> str:
        """The id of the recorded session of its run, `cron_<job>_<time>`."""
        whole = int(self.scheduled_at)
        part = round((self.scheduled_at - whole) * 1000)
        return f"cron_{self.job_id}_{whole}" + (f"_{part:03d}" if part else "")


# Reports that a run is alive, from any thread. False: the scheduler lost the schedule or stops, so the run should end.
HeartbeatCall = Callable[[], bool]


class JobRun(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the history. Texts are redacted before they come here."""

    job_id: str
    scheduled_at: float
    # None: it never started; it waits or was skipped.
    started_at: float | None = None
    ended_at: float | None = None
    outcome: Outcome
    fault: RunFault = ""
    # Why it failed, was skipped or is unknown, for a person.
    reason: str = ""
    output: str = ""
    script_output: str = ""
    model: str | None = None
    provider: str | None = None
    session: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    delivery: DeliveryState = "none"
    delivery_error: str = ""
    # What else should be known: a missing skill, a late report, a start by hand.
    note: str = ""

    @property
    def slot(self) -> Slot:
        return Slot(self.job_id, self.scheduled_at)

    @property
    def is_ended(self) -> bool:
        return self.outcome not in ("waiting", "running")


class DeliveryResult(msgspec.Struct, frozen=True):
    """The result of delivering one answer; pending: to be tried again later."""

    state: DeliveryState
    error: str = ""


def is_delivered(job: Job) -> bool:
    """Whether the job's answers go anywhere."""
    return any(one != "none" for one in job.delivery)


def new_id() -> str:
    """A new random id for a job."""
    return secrets.token_hex(6)


def check_job(job: Job) -> Job:
    """The same job, if everything but its times is valid; `times.check_times` checks those too."""
    _check_words(job)
    _check_numbers(job)
    for one in job.delivery:
        kind, _, address = one.partition(":")
        if kind not in DESTINATIONS:
            raise UsageError(f"{one!r} is not a valid delivery. Begin it with one of {', '.join(DESTINATIONS)}.")
        if kind in ("stdout", "none") and one != kind:
            raise UsageError(f"the delivery {one!r} takes no address. Write {kind!r} only.")
        if kind == "file" and not address:
            raise UsageError(f"the delivery {one!r} needs an address. Write {kind + ':…'!r}.")
    return job


def _check_words(job: Job) -> None:
    if not _ID.match(job.id):
        raise UsageError(f"a job id may contain letters, digits, '_' and '-', not {job.id!r}.")
    if not _NAME.match(job.name) or job.name != job.name.strip():
        raise UsageError(f"a job name has 1 to 80 letters, digits, spaces and .:@+-_, not {job.name!r}.")
    if not job.prompt.strip() and not job.script:
        raise UsageError(f"the job {job.name!r} has nothing to do. Give it a prompt, a script, or both.")
    if job.agent == "model" and job.terminal:
        raise UsageError(
            f"the job {job.name!r} may run commands, but a model has no terminal. Name an agent (--agent)."
        )
    for text in (job.name, job.prompt, job.script or "", job.folder or "", *job.skills, *job.delivery):
        if "\0" in text or text.encode("utf-8", "ignore").decode() != text:
            raise UsageError(
                f"the job {job.name!r} contains characters that cannot be stored (NUL or half a character)."
            )


def _check_numbers(job: Job) -> None:
    for field, low, high in (
        ("repeat", 1, 1_000_000_000),
        ("timeout_seconds", 1, 7 * DAY_SECONDS),
    ):
        value = getattr(job, field)
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            raise UsageError(
                f"{field} of the job {job.name!r} must be between {low:,.0f} and {high:,.0f}, not {value!r}."
            )
