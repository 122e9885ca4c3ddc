"""`memory`: read and change what the agents remember."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.agent.memory.journal import FILES, NOTES_LIMIT, PERSON, USER_LIMIT, MemoryName, Provenance, preview
from seasoned.agent.memory.memory_file import add as add_entry
from seasoned.agent.memory.memory_file import import_entries, read
from seasoned.agent.memory.memory_file import remove as remove_entry
from seasoned.agent.memory.memory_file import replace as replace_entry
from seasoned.app.stores import memory_and_skills
from seasoned.cli.change import add_decisions, folder_option, print_reply
from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json, printable
from seasoned.config import load
from seasoned.text import plural

user_option = click.option("--user", is_flag=True, help="Use the file about the user instead of the notes.")


@click.group(cls=Commands)
def memory() -> None:
    """Manage the notes every new session sees.

    Two small files: notes, and what is known about the user.
    """


@memory.command("list")
@folder_option
@json_option
def list_(folder: Path | None, as_json: bool) -> None:
    """List the entries and how full the files are.

    \b
    Example: seasoned memory list
    """
    # Both files are part of every prompt, so they are kept small.
    limits: dict[MemoryName, int] = {"notes": NOTES_LIMIT, "user": USER_LIMIT}
    found = [read(folder or load().memory_folder, which, limit=limits[which]) for which in FILES]
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
            # Shown as it is, so that the user can fix it with an editor.
            click.echo(f"  Damaged, so nothing is written to it: {one.problem}. It holds:")
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
    """Add an entry.

    \b
    Example: seasoned memory add "The database listens on port 5433."
    """
    with memory_and_skills(load(), memory=folder) as journal:
        reply = add_entry(journal, _which(user), text, by=PERSON)
    print_reply(reply, as_json)


@memory.command()
@click.argument("piece")
@click.argument("text")
@user_option
@folder_option
@json_option
def replace(piece: str, text: str, user: bool, folder: Path | None, as_json: bool) -> None:
    """Replace an entry.

    The one entry that contains PIECE becomes TEXT.

    \b
    Example: seasoned memory replace 5433 "The database listens on port 5434."
    """
    with memory_and_skills(load(), memory=folder) as journal:
        reply = replace_entry(journal, _which(user), piece, text, by=PERSON)
    print_reply(reply, as_json)


@memory.command()
@click.argument("piece")
@user_option
@folder_option
@json_option
def remove(piece: str, user: bool, folder: Path | None, as_json: bool) -> None:
    """Remove an entry.

    The one entry that contains PIECE.

    \b
    Example: seasoned memory remove 5433
    """
    with memory_and_skills(load(), memory=folder) as journal:
        reply = remove_entry(journal, _which(user), piece, by=PERSON)
    print_reply(reply, as_json)


@memory.command("import")
@click.argument("source", required=False, metavar="[FOLDER]", type=click.Path(path_type=Path, readable=False))
@folder_option
@json_option
def import_memory(source: Path | None, folder: Path | None, as_json: bool) -> None:
    """Import the memory of another folder.

    Without FOLDER, that of Hermes. The folder is only read.

    \b
    Example: seasoned memory import ~/.hermes/memories
    """
    source = source or load().hermes_home / "memories"
    # Marked as imported: a later review can print_reply these entries from what the user wrote here.
    by = Provenance(actor="person", origin="import", platform="cli")
    with memory_and_skills(load(), memory=folder) as journal:
        replies = import_entries(journal, source, by=by)
    taken = sum(reply.state == "kept" for _, reply in replies)
    refused = [(entry, reply) for entry, reply in replies if not reply.ok]
    if as_json:
        left_out = [{"entry": preview(entry), "said": reply.said} for entry, reply in refused]
        print_json("import", {"folder": str(source), "taken": taken, "left_out": left_out})
    else:
        click.echo(f"Imported {plural(taken, 'entry', 'entries')} from {source}.")
        for entry, reply in refused:
            click.echo(f"Left out {printable(preview(entry))!r}: {reply.said}", err=True)
    # What fits was imported all the same; the exit code says that something is missing.
    if refused:
        raise click.exceptions.Exit(1)


def _which(user: bool) -> MemoryName:
    return "user" if user else "notes"


add_decisions(memory, "memory")
