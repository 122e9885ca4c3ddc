"""What `memory` and `skill` share: how a reply is printed, the history of changes, and decisions about them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click
import msgspec

from seasoned.agent.memory import undo
from seasoned.agent.memory.journal import Change, WriteReply, changes, preview
from seasoned.app.stores import memory_and_skills, store_or_empty
from seasoned.cli.options import json_option
from seasoned.cli.output import print_json, table, when
from seasoned.config import load
from seasoned.errors import CannotDo, UsageError

folder_option = click.option(
    "--folder", type=click.Path(path_type=Path, readable=False), help="Use this folder instead of your own."
)


def print_reply(reply: WriteReply, as_json: bool) -> None:
    """Print the result of a change; exit with 1 if it was refused."""
    if as_json:
        print_json("change", {"ok": reply.ok, "state": reply.state, "change": reply.change, "said": reply.said})
    else:
        number = f" (change {reply.change})" if reply.state == "kept" and reply.change else ""
        click.echo(reply.said + number, err=not reply.ok)
    # A script must notice that nothing was written.
    if not reply.ok:
        raise click.exceptions.Exit(1)


def text_of(text: str | None, file: Path | None) -> str:
    """A text given as an argument, in a file, or on standard input (`-`)."""
    # Exactly one of the two must be given.
    if (text is None) == (file is None):
        raise UsageError("Give the text itself, or a file with --from (`-` is standard input).")
    if file is None:
        return text or ""
    try:
        # Bytes, decoded strictly below: text in another encoding must not be stored garbled.
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDo(f"{str(file)!r} cannot be read as text: {error}.") from error


def add_decisions(group: click.Group, kind: Literal["memory", "skill"]) -> None:
    """Add `history`, `undo`, `accept` and `reject` to a group."""

    def history(limit: int, waiting: bool, as_json: bool) -> None:
        _show_changes(kind, limit, waiting=waiting, as_json=as_json)

    # click takes the help from the docstring, and a docstring cannot be an f-string; the example names its group.
    history.__doc__ = f"""List changes and who made them, newest first.

    \b
    Example: seasoned {kind} history --waiting
    """
    history = click.option("--waiting", is_flag=True, help="Only changes that wait for your decision.")(
        json_option(history)
    )
    history = click.option("--limit", default=50, show_default=True, help="List at most this many.")(history)
    group.command("history")(history)
    _add_decision(group, kind, "undo", "Undo a change; later ones stay.")
    _add_decision(group, kind, "accept", "Accept a staged change.")
    _add_decision(group, kind, "reject", "Reject a staged change.")


def _add_decision(group: click.Group, kind: str, name: str, sentence: str) -> None:
    def decide(change: int, as_json: bool) -> None:
        with memory_and_skills(load()) as journal:
            # `undo`, `accept` and `reject` have the same signature.
            reply = getattr(undo, name)(journal, change)
        print_reply(reply, as_json)

    decide.__doc__ = f"""{sentence}

    \b
    Example: seasoned {kind} {name} 12
    """
    group.command(name)(click.argument("change", type=int)(json_option(decide)))


def _show_changes(kind: Literal["memory", "skill"], limit: int, *, waiting: bool, as_json: bool) -> None:
    # Looking at the history must not create a store.
    with store_or_empty(load()) as store:
        found = changes(store, kind=kind, state="staged" if waiting else None, limit=limit)
    if as_json:
        print_json("changes", {"changes": [msgspec.structs.asdict(change) for change in found]})
        return
    if not found:
        click.echo("No staged changes." if waiting else "No changes yet.")
        return
    table(
        ["change", "when", "state", "by", "action", "what", "session"],
        [(one.id, when(one.at), one.state, one.actor, one.action, _what(one), one.session) for one in found],
        right=["change"],
    )


def _what(change: Change) -> str:
    if change.kind == "memory":
        return f"{change.target}: {preview(change.after or change.before or '')}"
    return f"{change.target}/{change.file}"
