"""`receipt`: what a session was shown, what of it was used, and what was kept."""

from __future__ import annotations

import click
import msgspec

from seasoned.app.stores import store_or_empty
from seasoned.cli.options import json_option
from seasoned.cli.output import print_json, printable, table, when
from seasoned.config import load
from seasoned.experience.receipt import Receipt, SavedCalls, find_conversation, receipt_of, require_conversation
from seasoned.text import plural

_PLACES = {
    "start": "at the start",
    "prompt": "at the prompt",
    "before": "before a call",
    "after": "after a failure",
    "memory": "memory",
    "skill": "skill",
    "examples": "examples",
}


@click.command()
@click.argument("session", required=False)
@json_option
def receipt(session: str | None, as_json: bool) -> None:
    """Show what a session was shown and used.

    Also what was kept of it, and what hints may have saved. SESSION is an id or its beginning; without one, the newest
    that was shown anything.

    \b
    Example: seasoned receipt 53ea19c1
    """
    with store_or_empty(load()) as store:
        found = find_conversation(store, None) if session is None else require_conversation(store, session)
        shown = None if found is None else receipt_of(store, found)
    if as_json:
        print_json("receipt", _answer(shown))
    elif shown is None:
        click.echo("No session was shown anything yet.")
    else:
        _print(shown)


def _answer(found: Receipt | None) -> dict[str, object]:
    if found is None:
        return {"session": None, "project": None, "is_read": False, "items": [], "counts": None, "saved": []}
    counts = {"shown": len(found.shown), "kept": len(found.kept)}
    counts |= {name.replace(" ", "_"): found.count(name) for name in ("used", "not used", "failed", "unknown")}
    return {**msgspec.to_builtins(found), "counts": counts}


def _print(found: Receipt) -> None:
    where = f", {printable(found.project)}" if found.project else ""
    click.secho(f"{found.session}{where}", bold=True)
    if found.shown:
        states = [f"{found.count(name)} {name}" for name in ("used", "not used", "failed", "unknown")]
        click.echo(f"{plural(len(found.shown), 'thing')} shown: {', '.join(states)}.\n")
        table(
            ["when", "where", "what", "used"],
            [(when(one.at), _PLACES[one.place], printable(one.text), one.used) for one in found.shown],
        )
        for reason in dict.fromkeys(one.reason for one in found.shown if one.reason):
            click.echo(f"\nUnknown: {reason}.", nl=False)
        click.echo()
    if not found.is_read and found.shown:
        click.echo("This session is not in the store yet. Run `seasoned scan` to see what it used.")
    for one in found.saved:
        click.echo(_saved(one))
    if found.kept:
        click.echo(f"\nKept of this session: {plural(len(found.kept), 'change')}.")
        for item in found.kept:
            click.echo(f"  {printable(item.text)}")
        click.echo("Undo one with `seasoned memory undo N` or `seasoned skill undo N`.")
    if not found.items:
        click.echo("It was shown nothing, and nothing was kept of it.")


def _saved(one: SavedCalls) -> str:
    usual = plural(int(one.usual), "call") if one.usual.is_integer() else f"{one.usual:g} calls"
    basis = (
        f"{plural(one.cases, 'earlier failure')} of this kind here took {usual} to repair (median), "
        f"this session {one.needed}"
    )
    amount = f"about {plural(round(one.calls), 'call')}" if round(one.calls) else "nothing"
    return f"The hint {printable(one.hint)!r} may have saved {amount}: {basis}."
