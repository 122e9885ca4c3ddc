"""`memory`: what agents remember, as a person sees and mends it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from seasoned.cli.change import add_decisions, desk_for, folder_option, memory_folder, tell
from seasoned.cli.options import json_option

if TYPE_CHECKING:
    from seasoned.agent.memory.journal import MemoryName

user_option = click.option("--user", is_flag=True, help="What is known of the user, instead of the notes.")


@click.group()
def memory() -> None:
    """Notes and what is known of the user: two small files that are shown to every new session."""


@memory.command("list")
@folder_option
@json_option
def show(folder: Path | None, as_json: bool) -> None:
    """Show every entry, and how full the files are.

    \b
    Example: seasoned memory list
    """
    from seasoned.agent.memory.journal import FILES, NOTES_LIMIT, USER_LIMIT
    from seasoned.agent.memory.memory_file import read
    from seasoned.cli.output import print_json, printable
    from seasoned.config import load

    limits: dict[MemoryName, int] = {"notes": NOTES_LIMIT, "user": USER_LIMIT}
    found = [read(memory_folder(load(), folder), which, limit=limits[which]) for which in FILES]
    if as_json:
        answers = [
            {
                "memory": one.which,
                "path": str(one.path),
                "entries": list(one.entries),
                "characters": one.size,
                "limit": one.limit,
                "problem": one.problem,
            }
            for one in found
        ]
        print_json("memory", {"memories": answers})
        return
    for one in found:
        click.echo(f"{one.which}: {one.fill} ({one.path})")
        if one.problem:
            click.echo(f"  Damaged, nothing is written to it: {one.problem}. It holds:")
            click.echo("  " + printable(one.raw.decode("utf-8", "replace")).replace("\n", "\n  "))
            continue
        for entry in one.entries:
            click.echo("  - " + printable(entry).replace("\n", "\n    "))


@memory.command()
@click.argument("text")
@user_option
@folder_option
@json_option
def add(text: str, user: bool, folder: Path | None, as_json: bool) -> None:
    """Keep one more entry.

    \b
    Example: seasoned memory add "The database listens on port 5433."
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.memory.memory_file import add as keep

    with desk_for(memory=folder) as desk:
        reply = keep(desk, _which(user), text, by=PERSON)
    tell(reply, as_json)


@memory.command()
@click.argument("piece")
@click.argument("text")
@user_option
@folder_option
@json_option
def replace(piece: str, text: str, user: bool, folder: Path | None, as_json: bool) -> None:
    """Put TEXT in the place of the one entry that holds PIECE.

    \b
    Example: seasoned memory replace 5433 "The database listens on port 5434."
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.memory.memory_file import replace as put

    with desk_for(memory=folder) as desk:
        reply = put(desk, _which(user), piece, text, by=PERSON)
    tell(reply, as_json)


@memory.command()
@click.argument("piece")
@user_option
@folder_option
@json_option
def remove(piece: str, user: bool, folder: Path | None, as_json: bool) -> None:
    """Drop the one entry that holds PIECE.

    \b
    Example: seasoned memory remove 5433
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.memory.memory_file import remove as drop

    with desk_for(memory=folder) as desk:
        reply = drop(desk, _which(user), piece, by=PERSON)
    tell(reply, as_json)


@memory.command("import")
@click.argument("source", required=False, metavar="[FOLDER]", type=click.Path(path_type=Path, readable=False))
@folder_option
@json_option
def take(source: Path | None, folder: Path | None, as_json: bool) -> None:
    """Take over the memory of another folder; without one, of Hermes. That folder is only read.

    \b
    Example: seasoned memory import ~/.hermes/memories
    """
    from seasoned.agent.memory.journal import Provenance, preview
    from seasoned.agent.memory.memory_file import import_entries
    from seasoned.cli.output import print_json, printable
    from seasoned.config import load
    from seasoned.text import plural

    source = source or load().hermes_home / "memories"
    by = Provenance(actor="person", origin="import", platform="cli")
    with desk_for(memory=folder) as desk:
        replies = import_entries(desk, source, by=by)
    taken = sum(reply.state == "kept" for _, reply in replies)
    refused = [(entry, reply) for entry, reply in replies if not reply.ok]
    if as_json:
        left_out = [{"entry": preview(entry), "said": reply.said} for entry, reply in refused]
        print_json("import", {"folder": str(source), "taken": taken, "left_out": left_out})
    else:
        click.echo(f"Took {plural(taken, 'entry', 'entries')} from {source}.")
        for entry, reply in refused:
            click.echo(f"Left out {printable(preview(entry))!r}: {reply.said}", err=True)
    if refused:
        raise click.exceptions.Exit(1)


def _which(user: bool) -> MemoryName:
    return "user" if user else "notes"


add_decisions(memory, "memory")
