"""Jobs and their history, as people and programs see them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from seasoned.cli.output import console, print_json, printable, table, when
from seasoned.config import Config, load
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.schedule import job_table
from seasoned.schedule.agent_jobs import describe
from seasoned.schedule.health import health
from seasoned.schedule.job import JobRun
from seasoned.schedule.job_table import StoredJob
from seasoned.schedule.times import find_zone, in_words
from seasoned.store import Database, open_database

_LOCALTIME = Path("/etc/localtime")


@contextmanager
def jobs_database(config: Config | None = None) -> Iterator[Database]:
    """The database that holds the jobs."""
    if find_spec("cronsim") is None:
        raise CannotDo("The schedule needs cronsim: pip install 'seasoned[schedule]'.")
    database = open_database(config or load(), durable=True)
    try:
        yield database
    finally:
        database.close()


def own_zone() -> str:
    """The time zone of this machine, where its name can be told; else UTC."""
    try:
        name = str(_LOCALTIME.resolve(strict=True)).partition("zoneinfo/")[2]
        return find_zone(name).key if name else "UTC"
    except (OSError, RuntimeError, UsageError):
        return "UTC"


_COLOURS = {"ok": "green", "silent": "green", "failed": "red", "unknown": "red", "empty": "yellow", "skipped": "dim"}
_SHOWN = ("prompt", "script", "skills", "model", "provider", "toolsets", "folder", "delivery", "repeat", "warm")
_RULES = ("missed", "max_age_seconds", "overlap", "timeout_seconds", "retries", "min_context", "context_length")


def tell_job(posted: StoredJob, *, now: float) -> None:
    """A job in a few lines: what it is, and its next five times."""
    whole = describe(posted, now=now)
    click.echo(printable(f"{whole['name']} · {whole['when']} · {whole['zone']} · {whole['state']} · id {whole['id']}"))
    if not whole["next_times"]:
        click.echo("It will not run again." if whole["state"] == "done" else "No times to come.")
    for text in whole["next_times"]:
        moment = datetime.fromisoformat(text)
        click.echo(f"  {moment:%a %Y-%m-%d %H:%M:%S %z}")


def print_jobs(*, as_json: bool) -> None:
    """Every job, with its last run."""
    now = time.time()
    with jobs_database() as database:
        found = job_table.jobs(database)
        last = {one.job.id: next(iter(job_table.history(database, one.job.id, limit=1)), None) for one in found}
        state = health(database, now)
    if as_json:
        answers = [{**describe(one, now=now), "last": _run_answer(last[one.job.id])} for one in found]
        print_json("cron-jobs", {"jobs": answers, "is_kept": state.is_kept, "said": state.sentence})
        return
    if not found:
        click.echo('No jobs yet: seasoned cron add NAME "every 1h" "What to do."')
        return
    rows = [
        (
            one.job.name,
            in_words(one.job.schedule, one.job.zone),
            when(one.next_at),
            "paused" if one.job.is_paused else "done" if one.is_done else "active",
            one.runs,
            record.outcome if (record := last[one.job.id]) is not None else None,
        )
        for one in found
    ]
    table(["job", "when", "next", "state", "runs", "last"], rows, right=["runs"], whole=["job", "next"])
    click.echo(state.sentence, err=not state.is_kept)


def print_job(text: str, *, as_json: bool) -> None:
    """One job, whole."""
    now = time.time()
    with jobs_database() as database:
        posted = job_table.find(database, text)
    if as_json:
        print_json("cron-job", describe(posted, now=now))
        return
    tell_job(posted, now=now)
    for field in (*_SHOWN, *_RULES):
        value = getattr(posted.job, field)
        if value not in (None, "", ()):
            told = ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else value
            click.echo(printable(f"{field.replace('_', ' ')}: {told}"))


def change_job(text: str, what: Literal["pause", "resume", "remove"], *, as_json: bool) -> None:
    """Pause, resume or remove a job, and show what it is now."""
    now = time.time()
    change = {"pause": job_table.pause, "resume": job_table.resume, "remove": job_table.remove}[what]
    with jobs_database() as database:
        posted = change(database, text, now=now)
    if as_json:
        print_json("cron-job", describe(posted, now=now))
    else:
        tell_job(posted, now=now)


def print_history(text: str | None, *, limit: int, with_output: bool, as_json: bool) -> None:
    """The lines of the history, the newest first."""
    with jobs_database() as database:
        names = {one.job.id: one.job.name for one in job_table.jobs(database)}
        job_id = None
        if text is not None:
            try:
                job_id = job_table.find(database, text).job.id
            except NotFound:
                job_id = text
                if not job_table.history(database, job_id, limit=1):
                    raise
        found = job_table.history(database, job_id, limit=limit)
    if as_json:
        print_json("cron-history", {"runs": [_run_answer(one) for one in found]})
        return
    if not found:
        click.echo("Nothing has run yet.")
        return
    if with_output:
        for one in found:
            tell_run(one, names.get(one.job_id, one.job_id))
        return
    rows = [
        (
            when(one.scheduled_at),
            names.get(one.job_id, one.job_id),
            f"{one.outcome}{f' ({one.fault})' if one.fault else ''}",
            _seconds(one),
            one.tokens_in,
            one.tokens_out,
            None if one.cost_usd is None else f"${one.cost_usd:.4f}",
            one.delivery,
            " ".join((one.reason or one.note or one.output).split())[:100],
        )
        for one in found
    ]
    columns = ["time", "job", "outcome", "seconds", "in", "out", "cost", "delivery", "what"]
    table(columns, rows, right=["seconds", "in", "out", "cost"], whole=["time", "outcome", "delivery"])


def tell_run(record: JobRun, name: str) -> None:
    """One run with all that was said."""
    from rich.text import Text

    out = console()
    head = Text(f"{when(record.scheduled_at)} {printable(name)} ")
    fault = f" ({record.fault})" if record.fault else ""
    head.append(f"{record.outcome}{fault}", style=_COLOURS.get(record.outcome, ""))
    head.append(f" · delivery: {record.delivery}", style="dim")
    out.print(head)
    for text in (record.reason, record.note, record.delivery_error, record.output):
        if text:
            out.print(Text(printable(text)))


def run_answer(record: JobRun) -> dict[str, Any]:
    """A run for programs."""
    found: dict[str, Any] = msgspec.to_builtins(record)
    return found


def _run_answer(record: JobRun | None) -> dict[str, Any] | None:
    return None if record is None else run_answer(record)


def _seconds(record: JobRun) -> str | None:
    if record.started_at is None or record.ended_at is None:
        return None
    return f"{record.ended_at - record.started_at:.1f}"
