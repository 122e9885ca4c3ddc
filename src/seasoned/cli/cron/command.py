"""`cron …`: agents that run by themselves, at times that are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seasoned.cli.cron.run import Wanted, add_job, ask_for_later, import_hermes, run_now, serve_schedule
from seasoned.cli.cron.show import change_job, print_history, print_job, print_jobs
from seasoned.cli.options import Commands, json_option, verbose_option, yes_option

_RUNS_AT_ONCE = 4


@click.group(cls=Commands)
def cron() -> None:
    """Agents that run by themselves: jobs with a time, a prompt, a script that goes first, and a place for the answer.

    Something must keep the schedule: `seasoned cron serve`, or `seasoned serve`.
    """


@cron.command()
@click.argument("name")
@click.argument("when")
@click.argument("prompt", required=False)
@click.option("--zone", help="The time zone, such as Europe/Berlin. By default this machine's.")
@click.option("--script", help="Runs first; a path inside ~/.seasoned/scripts. Without a prompt it is the whole job.")
@click.option("--skill", "skills", multiple=True, help="A skill that the run has before it; may be repeated.")
@click.option("--model", help="As for `chat`. By default by the routes of the configuration, else the usual one.")
@click.option("--provider", help="openai, anthropic, local, or the address of a server.")
@click.option("--toolsets", help="Toolsets by name, with commas between them; `none` for no tools.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where the agent works. By default one of the job's own."
)
@click.option(
    "--to",
    "delivery",
    multiple=True,
    metavar="PLACE",
    help="stdout, file:PATH, webhook, telegram, discord, email:ADDRESS, none; may be repeated. By default stdout.",
)
@click.option("--repeat", type=int, help="How often it runs before it is done.")
@click.option(
    "--missed", type=click.Choice(["skip", "once", "all"]), default="once", help="Slots that were slept through."
)
@click.option("--max-age", default="1d", metavar="SPAN", help="A slot that is older never runs, such as 12h.")
@click.option("--overlap", type=click.Choice(["skip", "queue", "allow"]), default="skip", help="While a run goes on.")
@click.option("--timeout", default="30m", metavar="SPAN", help="How long one run may take.")
@click.option("--retries", type=int, default=0, help="Further attempts after a failure; needs --no-side-effects.")
@click.option("--no-side-effects", is_flag=True, help="Running it twice does nothing twice.")
@click.option("--min-context", type=int, help="The smallest window in tokens that will do, instead of 64,000.")
@click.option("--context-length", type=int, help="The model's window in tokens, instead of what is detected.")
@click.option("--jitter", metavar="SPAN", help="Start up to so much later, so that not all jobs start at once.")
@click.option("--warm", metavar="NAME|auto", help="Begin with the examples of a template.")
@click.option("--steps", type=int, help="Requests to the model in one run.")
@click.option("--allow-terminal", is_flag=True, help="Terminal and code also with a model in the cloud.")
@click.option("--paused", is_flag=True, help="Do not start it yet.")
@json_option
def add(as_json: bool, **options: Any) -> None:
    """Add a job, and show when it will run next.

    WHEN: a cron expression, `every 30m`, `in 2h`, or a date such as `2030-12-24 18:00`. PROMPT: `-` reads it.

    \b
    Example: seasoned cron add morning "30 8 * * 1-5" "What changed in the repository since yesterday?" --to telegram
    """
    add_job(Wanted(**options), as_json=as_json)


@cron.command("list")
@json_option
def show_all(as_json: bool) -> None:
    """List the jobs: when they run next, and how the last run went.

    \b
    Example: seasoned cron list
    """
    print_jobs(as_json=as_json)


@cron.command()
@click.argument("job")
@json_option
def show(job: str, as_json: bool) -> None:
    """Show everything about a job, with its next five times.

    \b
    Example: seasoned cron show morning
    """
    print_job(job, as_json=as_json)


@cron.command()
@click.argument("job")
@click.option("--later", is_flag=True, help="Leave it to the scheduler that keeps the schedule.")
@json_option
def run(job: str, later: bool, as_json: bool) -> None:
    """Run a job now, here, and hand its answer on.

    \b
    Example: seasoned cron run morning
    """
    if later:
        ask_for_later(job, as_json=as_json)
    else:
        run_now(job, as_json=as_json)


@cron.command()
@click.argument("job")
@json_option
def pause(job: str, as_json: bool) -> None:
    """Start no more runs of a job, until it is resumed.

    \b
    Example: seasoned cron pause morning
    """
    change_job(job, "pause", as_json=as_json)


@cron.command()
@click.argument("job")
@json_option
def resume(job: str, as_json: bool) -> None:
    """Go on with a paused job at its next time.

    \b
    Example: seasoned cron resume morning
    """
    change_job(job, "resume", as_json=as_json)


@cron.command()
@click.argument("job")
@yes_option
@json_option
def remove(job: str, yes: bool, as_json: bool) -> None:
    """Take a job off the board. Its history stays.

    \b
    Example: seasoned cron remove morning --yes
    """
    if not yes:
        click.confirm(f"Remove the job {job!r}?", abort=True, err=True)
    change_job(job, "remove", as_json=as_json)


@cron.command()
@click.argument("job", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, help="How many lines.")
@click.option("--output", "with_output", is_flag=True, help="With the whole answers.")
@json_option
def history(job: str | None, limit: int, with_output: bool, as_json: bool) -> None:
    """Show what ran, when, what came of it, what it took, and whether it was delivered.

    JOB: a name, or the id of a job that was removed; without one, the runs of all jobs.

    \b
    Example: seasoned cron history morning --output
    """
    print_history(job, limit=limit, with_output=with_output, as_json=as_json)


@cron.command("import")
@click.argument("path", type=click.Path(path_type=Path, readable=False), required=False)
@click.option("--zone", help="The time zone of its cron expressions. By default this machine's.")
@json_option
def import_(path: Path | None, zone: str | None, as_json: bool) -> None:
    """Take over the jobs of Hermes; what does not fit is said.

    PATH: its jobs.json or the folder above it; without one, that of this user's Hermes.

    \b
    Example: seasoned cron import ~/.hermes/cron/jobs.json
    """
    import_hermes(path, zone, as_json=as_json)


@cron.command()
@click.option("--runs", type=click.IntRange(1, 64), default=_RUNS_AT_ONCE, help="Runs at the same time.")
@verbose_option
def serve(runs: int, verbose: bool) -> None:
    """Keep the schedule, until interrupted. Several may, on one machine or many.

    \b
    Example: seasoned cron serve
    """
    serve_schedule(runs, verbose=verbose)
