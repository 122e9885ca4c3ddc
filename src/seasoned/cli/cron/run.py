"""Runs by hand, and the scheduler in the foreground."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

import click
import msgspec

from seasoned.app.log import open_log
from seasoned.app.scheduler import build_scheduler, kinds_in, start_scheduler
from seasoned.cli.cron.show import jobs_database, own_zone, run_answer, tell_job, tell_run
from seasoned.cli.output import print_json, printable
from seasoned.config import load
from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy, load_key
from seasoned.schedule import job_table
from seasoned.schedule.agent_jobs import describe, post
from seasoned.schedule.delivery import AnswerSender
from seasoned.schedule.delivery.outbox import claim_own, settle_delivery
from seasoned.schedule.health import health
from seasoned.schedule.hermes_jobs import import_jobs
from seasoned.schedule.job import Every, Job, JobRun, Missed, Overlap, new_id
from seasoned.schedule.script import FOLDER
from seasoned.schedule.times import parse_schedule
from seasoned.store import Database
from seasoned.text import plural

_WAIT_SECONDS = 0.5


def run_now(text: str, *, as_json: bool) -> None:
    """Run a job in this process, and hand its answer on."""
    config = load()
    with jobs_database(config) as database:
        job = job_table.find(database, text).job
        scheduler = build_scheduler(config)
        try:
            record = scheduler.run_by_hand(job)
        finally:
            scheduler.close()
        # Programs read the answer from stdout: what the job itself prints there goes beside it.
        record = _deliver(database, job, record, AnswerSender(config, out=sys.stderr if as_json else sys.stdout))
    if as_json:
        print_json("cron-run", run_answer(record))
    elif "stdout" not in job.delivery or record.delivery != "delivered":
        tell_run(record, job.name)
    if record.outcome in ("failed", "unknown"):
        raise CannotDo(record.reason or f"The run of {job.name!r} is {record.outcome}.")


def _deliver(database: Database, job: Job, record: JobRun, courier: AnswerSender) -> JobRun:
    if record.delivery != "pending":
        return record
    parcel = claim_own(database, job, record, now=time.time())
    if parcel is None:
        return record
    delivered = settle_delivery(database, parcel, courier(job, record), now=time.time())
    return msgspec.structs.replace(record, delivery=delivered.state, delivery_error=delivered.error)


def ask_for_later(text: str, *, as_json: bool) -> None:
    """Leave a run to whoever keeps the schedule."""
    now = time.time()
    with jobs_database() as database:
        slot = job_table.ask_for_run(database, text, now=now)
        (record,) = job_table.history(database, slot.job_id, limit=1)
        state = health(database, now)
    if as_json:
        print_json("cron-run", run_answer(record))
        return
    click.echo("It runs as soon as a scheduler has room.")
    if not state.alive:
        click.echo("No scheduler runs: start `seasoned cron serve`.", err=True)


def serve_schedule(runs: int, *, verbose: bool) -> None:
    """Keep the schedule until a signal comes."""
    config = load()
    open_log(config, Secrecy(load_key(config.home), config.redact), verbose=verbose)
    with jobs_database(config) as database:
        jobs = health(database, time.time()).active_jobs
    running = start_scheduler(config, runs_at_once=runs)
    asked = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    click.echo(f"Keeping the schedule of {jobs:,} jobs; Ctrl-C ends it.")
    while running.is_alive and not asked.wait(_WAIT_SECONDS):
        pass
    if not asked.is_set():
        raise CannotDo(f"The scheduler ended by itself: look into {str(config.log_folder)!r}.")
    click.echo("Ending: no new runs, a few seconds for those that go on.")
    running.stop()


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the options ask for."""

    name: str
    when: str
    prompt: str | None
    zone: str | None
    script: str | None
    skills: tuple[str, ...]
    model: str | None
    provider: str | None
    toolsets: str | None
    folder: Path | None
    delivery: tuple[str, ...]
    repeat: int | None
    missed: Missed
    max_age: str
    overlap: Overlap
    timeout: str
    retries: int
    no_side_effects: bool
    min_context: int | None
    context_length: int | None
    jitter: str | None
    warm: str | None
    steps: int | None
    allow_terminal: bool
    paused: bool


def add_job(wanted: Wanted, *, as_json: bool) -> None:
    """Add the job, and show its next times."""
    config = load()
    now = time.time()
    secrecy = Secrecy(load_key(config.home), config.redact)
    with jobs_database(config) as database:
        posted = post(
            database,
            _job(wanted, now),
            now=now,
            scripts=config.home / FOLDER,
            kinds_in=lambda text: kinds_in(secrecy, text),
            toolsets=_known_toolsets() if wanted.toolsets else (),
        )
        state = health(database, now)
    if as_json:
        print_json("cron-job", describe(posted, now=now))
        return
    tell_job(posted, now=now)
    if not state.is_kept:
        click.echo(state.sentence, err=True)


def _known_toolsets() -> tuple[str, ...]:
    # Imported here: it brings the agent library along, which takes a second.
    from seasoned.agent.toolset.registry import TOOLSETS

    return TOOLSETS


def _job(wanted: Wanted, now: float) -> Job:
    zone = wanted.zone or own_zone()
    prompt = sys.stdin.read() if wanted.prompt == "-" else wanted.prompt or ""
    names = (
        None if wanted.toolsets is None else tuple(one for one in wanted.toolsets.split(",") if one not in ("", "none"))
    )
    return Job(
        id=new_id(),
        name=wanted.name,
        schedule=parse_schedule(wanted.when, zone=zone, now=now),
        zone=zone,
        created_at=now,
        prompt=prompt.strip(),
        skills=wanted.skills,
        script=wanted.script,
        model=wanted.model,
        provider=wanted.provider,
        toolsets=names,
        folder=str(wanted.folder.expanduser().resolve()) if wanted.folder is not None else None,
        delivery=wanted.delivery or ("stdout",),
        repeat=wanted.repeat,
        missed=wanted.missed,
        max_age_seconds=_span(wanted.max_age, now),
        overlap=wanted.overlap,
        timeout_seconds=_span(wanted.timeout, now),
        retries=wanted.retries,
        has_side_effects=not wanted.no_side_effects,
        min_context=wanted.min_context,
        context_length=wanted.context_length,
        jitter_seconds=_span(wanted.jitter, now) if wanted.jitter is not None else 0.0,
        warm=wanted.warm,
        allow_terminal=wanted.allow_terminal,
        steps=wanted.steps,
        is_paused=wanted.paused,
    )


def _span(text: str, now: float) -> float:
    """A span of time in seconds; written as in `every 30m`."""
    found = parse_schedule(f"every {text}", now=now)
    assert isinstance(found, Every)  # that is what `every` means
    return float(found.seconds)


def import_hermes(path: Path | None, zone: str | None, *, as_json: bool) -> None:
    """Take over jobs, and say what was left out."""
    config = load()
    now = time.time()
    with jobs_database(config) as database:
        found = import_jobs(database, path or config.hermes_home, zone=zone or own_zone(), now=now)
    if as_json:
        jobs = [{"id": one.job.id, "name": one.job.name, "notes": list(one.notes)} for one in found.jobs]
        left = [{"place": one.place, "reason": one.reason} for one in found.left_out]
        print_json("cron-import", {"jobs": jobs, "left_out": left})
        return
    click.echo(f"{plural(len(found.jobs), 'job')} taken over.")
    for one in found.jobs:
        for note in one.notes:
            click.echo(printable(f"{one.job.name}: {note}."))
    for left_out in found.left_out:
        click.echo(printable(f"Left out: {left_out.place}: {left_out.reason}"), err=True)
    if any(one.job.script for one in found.jobs):
        click.echo(f"Copy their scripts into {str(config.home / FOLDER)!r}: only those there are run.")
