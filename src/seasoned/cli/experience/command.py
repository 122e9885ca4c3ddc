"""`sheet` and `backtest`: what sessions of a project see, and whether it was right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import backtest as backtesting
from seasoned.app import experience
from seasoned.app.extras import require_numbers
from seasoned.app.stores import own_store
from seasoned.backtest.figures import Backtest, Figures
from seasoned.backtest.page.sections import LIMIT, render
from seasoned.backtest.replay import Replayed
from seasoned.cli.histories import histories, passed_over_answer
from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option
from seasoned.cli.output import print_json, printable, table, write_page
from seasoned.config import load
from seasoned.errors import NotFound, UsageError
from seasoned.experience.choice import decide
from seasoned.project import name_of
from seasoned.redact.key import Secrecy, load_key
from seasoned.stats.interval import Estimate
from seasoned.store import Store
from seasoned.store.project import find_project, project_at
from seasoned.text import plural

project_option = click.option("--project", metavar="P", help="A project: its name, key or folder.")


@click.command()
@project_option
@click.option("--pin", metavar="COMMAND", help="Always show this command.")
@click.option("--drop", metavar="COMMAND", help="Never show this command.")
@click.option("--undo", metavar="COMMAND", help="Forget what was decided about this command.")
@click.option("--evidence", is_flag=True, help="Show the sessions behind each line.")
@json_option
def sheet(
    project: str | None, pin: str | None, drop: str | None, undo: str | None, evidence: bool, as_json: bool
) -> None:
    """Show what sessions of a project see.

    The lines of its sheet with their evidence, and the hints that a call can get. Without --project, the project of the
    current folder.

    \b
    Example: seasoned sheet --drop "npm test"
    """
    given = [(name, text) for name, text in (("pin", pin), ("drop", drop), ("undo", undo)) if text]
    if len(given) > 1:
        raise UsageError("Use one of --pin, --drop and --undo at a time.")
    config = load()
    with own_store(config) as store:
        key, folder = _project(store, project)
        if given:
            choice, text = given[0]
            redactor = Secrecy(load_key(config.home), config.redact).redactor()
            form = decide(store, key, text, choice, redactor=redactor)
            done = {"pin": "is always shown", "drop": "is never shown", "undo": "is chosen by its evidence again"}
            click.echo(f"`{printable(form)}` {done[choice]} in {printable(name_of(key))}.", err=as_json)
        view = experience.sheet_view(store, key, folder)
    if as_json:
        print_json("sheet", msgspec.to_builtins(view))
        return
    _print_sheet(view, with_evidence=evidence)


def _project(store: Store, text: str | None) -> tuple[str, Path | None]:
    """The key of the project, and the folder to check its lines against if it is here."""
    here = Path.cwd()
    if text is not None:
        found = find_project(store, text, base=str(here))
        at_home = project_at(store, str(here))
        return found.key, here if at_home is not None and at_home.key == found.key else None
    current = project_at(store, str(here))
    if current is None:
        raise NotFound(
            f"No sessions of a project in {str(here)!r} yet. Give --project, or run `seasoned scan` first; "
            "`seasoned projects` lists the projects."
        )
    return current.key, here


def _print_sheet(view: experience.SheetView, *, with_evidence: bool) -> None:
    click.echo(f"{printable(view.project)}: {plural(view.conversations, 'conversation')}")
    click.echo()
    if view.text:
        click.echo("A session sees at its start:\n")
        click.echo("\n".join(f"  {line}" for line in printable_lines(view.text)))
    else:
        click.echo("A session sees nothing at its start: no command is used by enough sessions yet.")
    if view.lines:
        click.echo()
        rows = [
            (
                one.text,
                one.state if not one.reason else f"{one.state}: {one.reason}",
                None if one.share is None else f"{one.share:.0%}",
                one.conversations or None,
            )
            for one in view.lines
        ]
        table(["line", "state", "estimated use", "sessions"], rows, right=["estimated use", "sessions"])
    if with_evidence:
        for one in view.lines:
            click.echo(f"\n{printable(one.text)}")
            for session in one.sessions:
                click.echo(f"  {printable(session)}")
    if view.hints:
        click.echo("\nAt a call that fails here, one line:\n")
        for hint in view.hints[:20]:
            click.echo(f"  {printable(hint)}")


def printable_lines(text: str) -> list[str]:
    """The lines of a text without control characters."""
    return [printable(line) for line in text.splitlines()]


@click.command(epilog=PATHS_HELP)
@paths_argument
@project_option
@click.option("--as-one", metavar="NAME", help="Treat all sessions as those of one project.")
@click.option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write a page to this file.")
@click.option(
    "--fewest", default=backtesting.FEWEST_CONVERSATIONS, show_default=True, help="Fewest sessions of a project."
)
@click.option("--shown", is_flag=True, help="List what each session would have seen.")
@store_option
@json_option
def backtest(
    paths: tuple[Path, ...],
    project: str | None,
    as_one: str | None,
    output: Path | None,
    fewest: int,
    shown: bool,
    use_store: bool,
    as_json: bool,
) -> None:
    """Replay histories: was what sessions see right?

    Sessions in the order of time, each given only what had ended before it began, compared with what it then did. No
    model is asked. A replay shows what would have been in front of the agent, not what it would have done. With -o it
    also writes one page that opens offline.

    \b
    Example: seasoned backtest ~/.claude/projects
    Example: seasoned backtest -o backtest.html
    """
    require_numbers("backtest")
    with histories(paths, use_store=use_store, says_store=not as_json) as read:
        key = None if project is None else find_project(read.store, project, base=str(Path.cwd())).key
        found, replayed = backtesting.run_backtest(read.store, project=key, as_one=as_one, fewest=fewest)
    if not found.all.conversations:
        raise NotFound(
            f"No project has {fewest} sessions or more with a time and a folder. Lower --fewest, or give another PATH."
        )
    if output is not None:
        write_page(_page(found, replayed, key, as_one), output, kind="backtest")
    if as_json:
        answer: dict[str, Any] = {**msgspec.to_builtins(found), **passed_over_answer(read)}
        if shown:
            answer["sessions"] = msgspec.to_builtins(replayed)
        print_json("backtest", answer)
        return
    _print_backtest(found)
    if shown:
        for one in replayed:
            _print_told(one)
    if output is not None:
        click.echo(f"\nThe page with all tables: {output}")


def _page(found: Backtest, replayed: list[Replayed], project: str | None, as_one: str | None) -> str:
    answer = backtesting.answer_of(found, replayed, project=project)
    name = as_one if as_one is not None else "all projects" if project is None else name_of(project)
    return render(found, answer.recent, made_at=answer.made_at, title=f"Backtest of {name}")


def _print_backtest(found: Backtest) -> None:
    columns = ["project", "sessions", "told", "lines", "used", "frequent", "random", "ahead", "wrong", "foreign"]
    rows = [(*_cells(one), one.foreign) for one in (*found.projects, found.all)]
    table(columns, rows, right=columns[1:], whole=["project"], title="At the start and the first prompt")
    click.echo()
    columns = ["project", "mistakes", "known", "answered", "right", "hints", "false per 200", "unknown", "tokens"]
    rows = [
        (
            _name(one),
            one.mistakes,
            one.known_mistakes,
            _share(one.answered),
            _share(one.right),
            one.hints,
            one.false_per_200_calls,
            one.spoke_unknown,
            None if one.tokens is None else round(one.tokens),
        )
        for one in (*found.projects, found.all)
    ]
    table(columns, rows, right=columns[1:], whole=["project"], title="At calls")
    click.echo(
        "\nused: lines whose command the session then ran with success; frequent, random: the same number of lines "
        "chosen by plain frequency, by chance.\nanswered: known mistakes that the session repaired, for which the same "
        f"repair was shown.\n{LIMIT}"
    )
    if found.all.used_where_run.n < found.all.used.n:
        click.echo(f"In sessions that ran any command of the project {_share(found.all.used_where_run)} were used.")
    if found.left_out:
        click.echo(f"Left out: {plural(found.left_out, 'session')} without a time, a project or enough company.")


def _cells(one: Figures) -> tuple[object, ...]:
    return (
        _name(one),
        one.conversations,
        one.told,
        one.lines,
        _share(one.used),
        _share(one.used_by["frequent"], short=True),
        _share(one.used_by["random"], short=True),
        _share(one.ahead, short=True),
        _share(one.wrong, short=True),
    )


def _name(one: Figures) -> str:
    return name_of(one.project) if one.project else "all"


def _share(value: Estimate, *, short: bool = False) -> str | None:
    if value.value is None:
        return None
    if short or value.interval is None:
        return f"{value.value:.0%}"
    return f"{value.value:.0%} ({value.interval.low:.0%}–{value.interval.high:.0%})"


def _print_told(one: Replayed) -> None:
    lines = one.lines["chosen"]
    if not lines and not one.hints:
        return
    click.echo(f"\n{printable(one.root)} ({printable(name_of(one.project))})")
    for line in lines:
        mark = "used" if line.used else "wrong" if line.wrong else "not used"
        click.echo(f"  {line.place}: {printable(line.text)} [{mark}]")
    for hint in one.hints:
        mark = "false" if hint.false else {True: "right", False: "other repair", None: "not repaired"}[hint.right]
        click.echo(f"  {'before' if hint.is_before else 'after'} a call: {printable(hint.text)} [{mark}]")
