"""`cron`: jobs that run agents on a schedule, and their history."""

from __future__ import annotations

import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.scheduler import add_job, jobs_database, run_job
from seasoned.cli.options import Commands, agrees, json_option, wants_json, yes_option
from seasoned.cli.output import answered, console, printable, records, say, when
from seasoned.config import load
from seasoned.errors import CannotDo, NotFound
from seasoned.runner.agent import AGENT_PROGRAMS
from seasoned.runner.run import MODEL
from seasoned.schedule import job_table
from seasoned.schedule.job import JobRun
from seasoned.schedule.job_table import StoredJob, describe, health
from seasoned.schedule.times import in_words

_COLOURS = {"ok": "green", "silent": "green", "failed": "red", "unknown": "red", "empty": "yellow", "skipped": "dim"}
# Fields that `list JOB` prints below the times, if they are set: what runs, then the rules for when it cannot.
_SHOWN = ("prompt", "script", "skills", "agent", "terminal", "model", "folder", "delivery", "repeat")
_RULES = ("missed", "timeout_seconds")
_job_argument = click.argument("job")


@click.group(cls=Commands)
def cron() -> None:
    """Run agents on a schedule.

    A job has a time, a prompt, an optional script that runs first, and a place for the answer. `seasoned serve` must be
    running.
    """


@cron.command()
@click.argument("name")
@click.argument("when")
@click.argument("prompt", required=False)
@click.option("--zone", help="The time zone, such as Europe/Berlin. Default: this machine's.")
@click.option("--script", help="Run this script in ~/.seasoned/scripts first. Without a prompt it is the whole job.")
@click.option("--skill", "skills", multiple=True, help="Give the agent this skill; can be repeated.")
@click.option(
    "--agent",
    type=click.Choice([*AGENT_PROGRAMS, MODEL]),
    default=MODEL,
    show_default=True,
    help="Who runs it: an agent of yours, with its login, or a model API.",
)
@click.option("--terminal", is_flag=True, help="Let the agent run commands.")
@click.option("--model", help="The model. Default: by the configured routes, else the usual one.")
@click.option("--folder", type=click.Path(path_type=Path), help="The working folder. Default: one for this job.")
@click.option(
    "--to",
    "delivery",
    multiple=True,
    metavar="PLACE",
    help="Where the answer goes: stdout, file:PATH, webhook, telegram, discord or none; can be "
    "repeated. Default: stdout.",
)
@click.option("--repeat", type=int, help="Run this many times, then stop.")
@click.option("--missed", type=click.Choice(["skip", "once"]), default="once", help="What to do about missed times.")
@click.option("--timeout", default="30m", metavar="SPAN", help="Stop a run after this time.")
@json_option
def add(prompt: str | None, delivery: tuple[str, ...], **options: Any) -> None:
    """Add a job and show when it runs next.

    WHEN is a cron expression, `every 30m`, `in 2h`, or a date such as `2030-12-24 18:00`. A PROMPT of `-` is read from
    standard input.

    \b
    Example: seasoned cron add morning "30 8 * * 1-5" "What changed in the repository since yesterday?" --to telegram
    """
    config, now = load(), time.time()
    # An empty prompt is allowed with a script, which is then the whole job.
    text = (sys.stdin.read() if prompt == "-" else prompt or "").strip()
    delivery = delivery or ("stdout",)
    with jobs_database(config) as database:
        job = add_job(config, database, prompt=text, delivery=delivery, now=now, **options)
        state = health(database, now)
    _print_job(job, now)
    if not state.is_kept and not wants_json():
        # Without a scheduler the job would silently wait forever.
        say(state.sentence, err=True)


@cron.command("list")
@click.argument("job", required=False)
@json_option
def list_jobs(job: str | None) -> None:
    """List jobs, or show one and its next five times.

    \b
    Example: seasoned cron list morning
    """
    now = time.time()
    with jobs_database() as database:
        if job is not None:
            _print_one(job_table.find(database, job), now)
            return
        found = job_table.jobs(database)
        # One look-up for each job is quick, because the history is indexed by job.
        last = {one.job.id: next(iter(job_table.history(database, one.job.id, limit=1)), None) for one in found}
        state = health(database, now)
    answers = [{**describe(one, now=now), "last": msgspec.to_builtins(last[one.job.id])} for one in found]
    if answered("cron-jobs", {"jobs": answers, "is_kept": state.is_kept, "said": state.sentence}):
        return
    if not found:
        say('No jobs yet. Try: seasoned cron add NAME "every 1h" "What to do."')
        return

    def outcome(one: StoredJob) -> str | None:
        record = last[one.job.id]
        return None if record is None else record.outcome

    time_words = ("when", lambda one: in_words(one.job.schedule, one.job.zone))
    records(found, "job=job.name", time_words, "next=next_at state runs", ("last", outcome), nowrap=["job", "next"])
    # On stdout if all is well, on stderr as a warning.
    say(state.sentence, err=not state.is_kept)


def _print_one(stored: StoredJob, now: float) -> None:
    _print_job(stored, now)
    for field in (*_SHOWN, *_RULES) if not wants_json() else ():
        value = getattr(stored.job, field)
        if value not in (None, "", (), False):
            text = ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else value
            say(printable(f"{field.replace('_', ' ')}: {text}"))


@cron.command()
@_job_argument
@json_option
def run(job: str) -> None:
    """Run a job now and deliver its answer.

    \b
    Example: seasoned cron run morning
    """
    config = load()
    with jobs_database(config) as database:
        # Programs read JSON from stdout, so what the job itself prints goes to stderr.
        ran, record, is_here = run_job(config, database, job, out=sys.stderr if wants_json() else sys.stdout)
    is_printed = is_here and "stdout" in ran.delivery and record.delivery == "delivered"
    if not answered("cron-run", msgspec.to_builtins(record)) and not is_printed:
        _print_run(record, ran.name)
    # After printing, so that the exit code and the record both reach the caller.
    if record.outcome in ("failed", "unknown"):
        raise CannotDo(record.reason or f"The run of {ran.name!r} is {record.outcome}.")


@cron.command()
@_job_argument
@click.option("--undo", is_flag=True, help="Resume it at its next time.")
@json_option
def pause(job: str, undo: bool) -> None:
    """Pause a job, or resume it.

    \b
    Example: seasoned cron pause morning
    """
    with jobs_database() as database:
        change = job_table.resume if undo else job_table.pause
        _print_job(change(database, job, now=time.time()), time.time())


@cron.command()
@_job_argument
@yes_option
@json_option
def remove(job: str, yes: bool) -> None:
    """Remove a job; its history stays.

    \b
    Example: seasoned cron remove morning --yes
    """
    with jobs_database() as database:
        # Before the question, so that a wrong name is not confirmed first.
        job_table.find(database, job)
        if not agrees(f"Remove the job {job!r}?", yes=yes):
            raise click.exceptions.Exit(1)
        _print_job(job_table.remove(database, job, now=time.time()), time.time())


@cron.command()
@click.argument("job", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, help="List at most this many runs.")
@click.option("--output", "with_output", is_flag=True, help="Print the whole answers.")
@json_option
def history(job: str | None, limit: int, with_output: bool) -> None:
    """List past runs, what they cost and what came of them.

    JOB is a name, or the id of a removed job. Without one, the runs of all jobs are listed.

    \b
    Example: seasoned cron history morning --output
    """
    with jobs_database() as database:
        names = {one.job.id: one.job.name for one in job_table.jobs(database)}
        job_id = job
        if job is not None:
            try:
                job_id = job_table.find(database, job).job.id
            except NotFound:
                # A removed job has no name any more, but its runs are still there.
                if not job_table.history(database, job, limit=1):
                    raise
        found = job_table.history(database, job_id, limit=limit)
    if answered("cron-history", {"runs": msgspec.to_builtins(found)}):
        return
    if not found:
        say("Nothing has run yet.")
    elif with_output:
        for one in found:
            _print_run(one, names.get(one.job_id, one.job_id))
    else:
        who = ("job", lambda one: names.get(one.job_id, one.job_id))
        figures = (("seconds", _seconds), "in=tokens_in out=tokens_out", ("cost", _cost), "delivery", ("what", _what))
        nowrap = ["time", "outcome", "delivery"]
        records(found, "time=scheduled_at", who, ("outcome", _outcome), *figures, nowrap=nowrap)


def _outcome(one: JobRun) -> str:
    return f"{one.outcome} ({one.fault})" if one.fault else one.outcome


def _seconds(one: JobRun) -> str | None:
    return None if one.started_at is None or one.ended_at is None else f"{one.ended_at - one.started_at:.1f}"


def _cost(one: JobRun) -> str | None:
    return None if one.cost_usd is None else f"${one.cost_usd:.4f}"


def _what(one: JobRun) -> str:
    """The most telling text there is, in one line: why it failed, what was noted, or how the answer begins."""
    return " ".join((one.reason or one.note or one.output).split())[:100]


def _print_job(stored: StoredJob, now: float) -> None:
    """A job and its next five times."""
    found = describe(stored, now=now)
    if answered("cron-job", found):
        return
    say(printable(f"{found['name']} · {found['when']} · {found['zone']} · {found['state']} · id {found['id']}"))
    if not found["next_times"]:
        say("It will not run again." if found["state"] == "done" else "No times to come.")
    for text in found["next_times"]:
        say(f"  {datetime.fromisoformat(text):%a %Y-%m-%d %H:%M:%S %z}")


def _print_run(record: JobRun, name: str) -> None:
    """One run with everything it said."""
    from rich.text import Text

    out = console()
    head = Text(f"{when(record.scheduled_at)} {printable(name)} ")
    head.append(_outcome(record), style=_COLOURS.get(record.outcome, ""))
    head.append(f" · delivery: {record.delivery}", style="dim")
    out.print(head)
    for text in (record.reason, record.note, record.delivery_error, record.output):
        if text:
            out.print(Text(printable(text)))
