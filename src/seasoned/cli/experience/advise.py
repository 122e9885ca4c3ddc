"""`advise`: what is worth doing now; each step is shown first, applied on request, undone and followed up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.advise.advice import MOST, Advice
from seasoned.advise.gather import gather
from seasoned.advise.step import ShownList, read_shown, save_shown
from seasoned.advise.view import (
    AdviceView,
    ShownAdvice,
    advice_view,
    apply_advice,
    dismiss_advice,
    find_advice,
    find_decided,
    plan_of,
    undo_advice,
    undo_preview,
)
from seasoned.app.stores import make_redactor, own_store
from seasoned.cli.connect import show_plan
from seasoned.cli.options import Commands, json_option, yes_option
from seasoned.cli.output import ReadingBar, print_json, printable, when
from seasoned.config import Config, load
from seasoned.connect.plan import ConnectPlan, preview
from seasoned.errors import UsageError
from seasoned.store import Store
from seasoned.store.project import find_project

_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@click.group(cls=Commands, invoke_without_command=True)
@click.option("--project", metavar="P", help="Only this project: its name, key or folder.")
@click.option("--all", "is_whole", is_flag=True, help=f"Show everything, not only the {MOST} that save most.")
@json_option
@click.pass_context
def advise(context: click.Context, project: str | None, is_whole: bool, as_json: bool) -> None:
    """Show what is worth doing now.

    Mistakes that keep coming back, commands that sessions look for, slow steps, tools that never work: what would save
    most comes first, each with its evidence and one step. `advise apply` takes the step, `advise undo` takes it back.

    \b
    Example: seasoned advise --project shop
    """
    if context.invoked_subcommand is not None:
        if project is not None or is_whole or as_json:
            raise UsageError("Options of the list come without a subcommand: `seasoned advise --json`.")
        return
    config = load()
    with own_store(config) as store:
        key = None if project is None else find_project(store, project, base=str(Path.cwd())).key
        view = advice_of(config, store, key)
        shown = view.advice if is_whole else view.advice[:MOST]
        save_shown(config.home, ShownList(tuple(one.advice.id for one in view.advice), key))
        if as_json:
            print_json("advise", _answer(view, shown, key))
            return
    _print(view, shown)


def advice_of(config: Config, store: Store, project: str | None) -> AdviceView:
    """What is worth doing now in a project, or in all."""
    with ReadingBar() as bar:
        gathered = gather(store, project=project, tell=bar)
    return advice_view(config, store, gathered, make_redactor(config), project=project)


def _answer(view: AdviceView, shown: tuple[ShownAdvice, ...], project: str | None) -> dict[str, Any]:
    return {
        "project": project,
        "sessions": view.sessions,
        "found": len(view.advice),
        "advice": [advice_answer(number, one) for number, one in enumerate(shown, start=1)],
        "decided": [
            {
                "id": one.advice.id,
                "kind": one.advice.kind,
                "project": one.advice.project,
                "sentence": one.advice.sentence,
                "state": one.advice.state,
                "at": one.advice.at,
                "follow_up": None if one.follow_up is None else msgspec.to_builtins(one.follow_up),
            }
            for one in view.decided
        ],
    }


def advice_answer(number: int, one: ShownAdvice) -> dict[str, Any]:
    """One piece of advice for programs."""
    return {
        "number": number,
        "id": one.advice.id,
        "kind": one.advice.kind,
        "project": one.advice.project,
        "sentence": one.advice.sentence,
        "evidence": msgspec.to_builtins(one.advice.evidence),
        "step": {**msgspec.to_builtins(one.advice.step), "what": one.step, "can_apply": one.can_apply},
    }


def _print(view: AdviceView, shown: tuple[ShownAdvice, ...]) -> None:
    if not shown:
        click.echo("Nothing to advise: no mistake, search or wait recurs that a step would save.")
    for number, one in enumerate(shown, start=1):
        where = f" [{one.project}]" if one.project else ""
        click.secho(f"{number}. {printable(one.advice.sentence)}{printable(where)}", bold=True)
        click.echo(f"   {printable(one.evidence)}.")
        how = f"`seasoned advise apply {number}`" if one.can_apply else "by hand"
        click.echo(f"   Step: {printable(one.step)} ({how})")
        if not one.can_apply and one.advice.step.text != one.advice.sentence:
            click.echo(f"         {printable(one.advice.step.text)}")
    if len(view.advice) > len(shown):
        click.echo(f"\n{len(view.advice) - len(shown)} more with --all.")
    applied = [one for one in view.decided if one.advice.state == "applied"]
    if applied:
        click.echo("\nApplied:")
    for done in applied:
        where = f" [{printable(done.project)}]" if done.project else ""
        click.echo(f"  {done.advice.id}  {when(done.advice.at)}  {printable(done.advice.sentence)}{where}")
        if done.said:
            click.echo(f"            {done.said}")


def _find(config: Config, store: Store, text: str) -> Advice:
    """The advice with a number of the list that was printed last, or with an id."""
    # The order may have changed since: a number means what the user saw.
    shown = read_shown(config.home)
    return find_advice(advice_of(config, store, shown.project), shown.id_of(text))


@advise.command()
@click.argument("number")
@_dry_run
@yes_option
@json_option
def apply(number: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take the step of a piece of advice.

    NUMBER is its number in the list, or its id. Every change is shown first; former contents are kept.

    \b
    Example: seasoned advise apply 1
    """
    config = load()
    with own_store(config) as store:
        advice = _find(config, store, number)
        plan = plan_of(config, store, advice)
        if not as_json:
            click.secho(printable(advice.sentence), bold=True)
            show_plan(plan, undo=False)
        state = "previewed"
        if not dry_run and _agrees("Write these changes?", yes, as_json):
            plan = apply_advice(config, store, advice, make_redactor(config))
            state = "applied"
        elif not dry_run:
            state = "declined"
    _end(advice.id, state, plan, as_json)


@advise.command()
@click.argument("id", required=False)
@_dry_run
@yes_option
@json_option
def undo(id: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Undo a step that was taken.

    Without ID, the one that was applied or dismissed last. Files become what they were, byte for byte; one that was
    edited since only loses the line.

    \b
    Example: seasoned advise undo
    """
    config = load()
    with own_store(config) as store:
        one = find_decided(store, id)
        plan = undo_preview(config, one)
        if not as_json:
            click.secho(printable(one.sentence), bold=True)
            show_plan(plan, undo=True)
        state = "previewed"
        if not dry_run and _agrees("Undo these changes?", yes, as_json):
            plan = undo_advice(config, store, one)
            state = "undone"
        elif not dry_run:
            state = "declined"
    _end(one.id, state, plan, as_json)


@advise.command()
@click.argument("number")
def dismiss(number: str) -> None:
    """Stop giving a piece of advice.

    \b
    Example: seasoned advise dismiss 2
    """
    config = load()
    with own_store(config) as store:
        advice = _find(config, store, number)
        dismiss_advice(store, advice)
    click.echo(f"Dismissed: {printable(advice.sentence)} `seasoned advise undo {advice.id}` gives it again.")


def _agrees(question: str, yes: bool, as_json: bool) -> bool:
    if as_json and not yes:
        # A program that reads JSON cannot answer a question.
        raise UsageError("--json asks no questions: add --yes, or --dry-run to look only.")
    return yes or click.confirm(question)


def _end(name: str, state: str, plan: ConnectPlan, as_json: bool) -> None:
    if as_json:
        changes = [{"path": str(one.path), "why": one.why, "diff": preview(one)} for one in plan.changes]
        print_json("advice", {"id": name, "state": state, "changes": changes})
        return
    said = {
        "applied": f"Applied. `seasoned advise undo {name}` undoes it.",
        "undone": "Undone: everything is as it was before.",
    }
    click.echo(said.get(state, "Nothing was changed."))
