"""`adopt`: take over what the first version kept in the folder of Hermes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.adopt.record import AdoptItem
from seasoned.app import adopt as adoption
from seasoned.cli.options import json_option, yes_option
from seasoned.cli.output import print_json, printable
from seasoned.config import Config, load
from seasoned.errors import UsageError
from seasoned.text import plural

_TITLES = {
    "template": "Templates",
    "script": "Scripts",
    "skill": "Skills",
    "job": "Jobs",
    "memory": "Memory",
    "audit": "Audit of confirmations",
}
_COLOURS = {"new": "green", "changed": "green", "left out": "yellow"}


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, readable=False))
@click.option("--undo", is_flag=True, help="Undo what was taken over.")
@click.option("--dry-run", is_flag=True, help="Show what would be taken over, and write nothing.")
@yes_option
@json_option
def adopt(folder: Path | None, undo: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take over what the first version kept.

    FOLDER is that of Hermes, ~/.hermes by default, and is only read. Templates, jobs with their scripts and skills,
    memory and the audit of confirmations are shown, and taken over once you agree. Calls in templates are judged by
    their results: failed ones are left out. Jobs come paused.

    \b
    Example: seasoned adopt
    Example: seasoned adopt --undo
    """
    config = load()
    if undo:
        _undo(config, folder, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    items = adoption.preview(config, folder)
    state = "previewed" if dry_run else "unchanged"
    count = sum(one.state in ("new", "changed") for one in items)
    if not as_json:
        _show(items)
    if count and not dry_run:
        if not yes and (as_json or not click.confirm(f"Take over {plural(count, 'item')}?")):
            _refuse_questions(as_json)
            state = "declined"
        else:
            before, items, state = items, adoption.adopt(config, folder), "adopted"
            if not as_json:
                _show_surprises(before, items)
    _end(folder or config.hermes_home, state, items, as_json=as_json)


def _refuse_questions(as_json: bool) -> None:
    # A program that reads JSON cannot answer a question.
    if as_json:
        raise UsageError("--json asks no questions: add --yes, or --dry-run to look only.")


def _undo(config: Config, folder: Path | None, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    if folder is not None:
        raise UsageError("--undo takes no FOLDER: it undoes everything that was taken over.")
    record = adoption.adopted(config)
    items = [msgspec.to_builtins(one) for one in record.items]
    answer: dict[str, Any] = {"folder": record.folder, "state": "previewed", "items": [], "steps": [], "stays": []}
    answer["items"] = [
        {"kind": one["kind"], "name": one["name"], "source": one["source"], "state": "taken", "notes": []}
        for one in items
    ]
    if not as_json:
        for one in record.items:
            click.echo(printable(f"  {one.kind} {one.name}"))
    if not dry_run:
        if not yes and (as_json or not click.confirm(f"Undo {plural(len(items), 'item')}?")):
            _refuse_questions(as_json)
            answer["state"] = "declined"
        else:
            stays = adoption.undo(config)
            answer |= {"state": "undone", "stays": [{"name": one.name, "reason": why} for one, why in stays]}
    if as_json:
        print_json("adopt", answer)
        return
    for one in answer["stays"]:
        click.echo(printable(f"{one['name']}: {one['reason']}"), err=True)
    click.echo("Everything is as it was before." if answer["state"] == "undone" else "Nothing was changed.")


def _show(items: Sequence[AdoptItem]) -> None:
    for kind, title in _TITLES.items():
        found = [one for one in items if one.kind == kind]
        if found:
            click.secho(title, bold=True)
        for one in found:
            click.echo("  " + click.style(f"{one.state:<9}", fg=_COLOURS.get(one.state)) + printable(one.name))
            for note in one.notes:
                click.echo(f"           {printable(note)}")


def _show_surprises(before: Sequence[AdoptItem], after: Sequence[AdoptItem]) -> None:
    """What could not be known before: which texts were refused, and why."""
    said = {(one.kind, one.source): one.notes for one in before}
    for one in after:
        for note in [note for note in one.notes if note not in said.get((one.kind, one.source), ())]:
            click.echo(printable(f"{one.kind} {one.name}: {note}"), err=True)


def _end(folder: Path, state: str, items: Sequence[AdoptItem], *, as_json: bool) -> None:
    steps = adoption.next_steps(list(items)) if state in ("adopted", "unchanged") else []
    if as_json:
        shown = [msgspec.to_builtins(one) for one in items]
        print_json("adopt", {"folder": str(folder), "state": state, "items": shown, "steps": steps, "stays": []})
        return
    if state == "adopted":
        count = sum(one.state in ("new", "changed") for one in items)
        click.echo(f"Took over {plural(count, 'item')}. `seasoned adopt --undo` undoes it.")
    else:
        click.echo("Nothing new to take over." if state == "unchanged" else "Nothing was changed.")
    for number, step in enumerate(steps, start=1):
        if number == 1:
            click.echo("Left for you to do:")
        click.echo(f"  {number}. {step}")
