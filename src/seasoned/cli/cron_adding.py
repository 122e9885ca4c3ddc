"""New jobs: from the command line, and from Hermes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
import msgspec

from seasoned.cli.cron_place import jobs_database, own_zone
from seasoned.cli.cron_showing import tell_job
from seasoned.cli.output import print_json, printable
from seasoned.config import load
from seasoned.redact.key import Secrecy, load_key
from seasoned.schedule.desk import describe, post
from seasoned.schedule.heartbeat import health
from seasoned.schedule.hermes_jobs import import_jobs
from seasoned.schedule.job import Every, Job, Missed, Overlap, new_id
from seasoned.schedule.script import FOLDER
from seasoned.schedule.when import parse_schedule
from seasoned.text import plural


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
    from seasoned.cli.working import kinds_in

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
    from seasoned.agent.toolsets import TOOLSETS

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
