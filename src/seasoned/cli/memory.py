"""`memory` and `skill`: read and change what the agents remember and know how to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Literal

import click
import msgspec

from seasoned.app.stores import folder_of_project, memory_and_skills, project_folder_at, store_or_empty
from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json, printable, table, when
from seasoned.config import load
from seasoned.errors import CannotDo, UsageError
from seasoned.experience.memory import FILES, LIMITS, SKILLS, MemoryFile, MemoryName, read
from seasoned.review.journal import PERSON, Change, Provenance, WriteReply, changes, preview
from seasoned.review.memory_file import add as add_entry
from seasoned.review.memory_file import import_entries
from seasoned.review.memory_file import remove as remove_entry
from seasoned.review.memory_file import replace as replace_entry
from seasoned.review.skill_edit import create as create_skill
from seasoned.review.skill_edit import delete, remove_file
from seasoned.review.skill_edit import patch as patch_skill
from seasoned.review.skill_edit import write_file as write_skill_file
from seasoned.review.skill_library import SkillUsage, author, skills, usage
from seasoned.review.skill_library import view as view_skill
from seasoned.review.undo import undo
from seasoned.text import plural

_folder = click.option(
    "--folder", type=click.Path(path_type=Path, readable=False), help="Use this folder instead of your own."
)
_project = click.option("--project", metavar="P", help="Use what is kept for a project: its name, key or folder.")


def place_options(below: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options `--folder` and `--project`, as one argument `folder`; of a project's folder, the part `below`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def placed(*args: object, folder: Path | None, project: str | None, **more: object) -> None:
            if project is not None:
                if folder is not None:
                    raise UsageError("Give --folder or --project, not both.")
                folder = folder_of_project(load(), project) / below
            command(*args, folder=folder, **more)

        return _folder(_project(placed))

    return decorate


folder_option = place_options()


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


def add_history(group: click.Group, kind: Literal["memory", "skill"]) -> None:
    """Add `history` to a group."""

    def history(limit: int, waiting: bool, undone: int | None, as_json: bool) -> None:
        if undone is None:
            _show_changes(kind, limit, waiting=waiting, as_json=as_json)
            return
        with memory_and_skills(load()) as journal:
            reply = undo(journal, undone)
        print_reply(reply, as_json)

    # click takes the help from the docstring, and a docstring cannot be an f-string; the example names its group.
    history.__doc__ = f"""List changes and who made them, newest first.

    `seasoned review` accepts and drops those that wait for you.

    \b
    Example: seasoned {kind} history --undo 12
    """
    decorated = json_option(history)
    for option in (
        click.option("--undo", "undone", type=int, metavar="N", help="Undo a change; later ones stay."),
        click.option("--waiting", is_flag=True, help="Only changes that wait for your decision."),
        click.option("--limit", default=50, show_default=True, help="List at most this many."),
    ):
        decorated = option(decorated)
    group.command("history")(decorated)


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
    )


def _what(change: Change) -> str:
    if change.kind == "memory":
        return f"{change.target}: {preview(change.after or change.before or '')}"
    return f"{change.target}/{change.file}"


user_option = click.option("--user", is_flag=True, help="Use the file about the user instead of the notes.")


@click.group(cls=Commands)
def memory() -> None:
    """Manage the notes every new session sees.

    Small files: notes, what is known about the user, and the notes of each project, which only its sessions see.
    """


@memory.command("list")
@folder_option
@json_option
def list_(folder: Path | None, as_json: bool) -> None:
    """List the entries and how full the files are.

    \b
    Example: seasoned memory list
    """
    # The files are part of every prompt, so they are kept small.
    config = load()
    place = folder or config.memory_folder
    found: list[tuple[str, MemoryFile]] = [(which, read(place, which, limit=LIMITS[which])) for which in FILES]
    here = None if folder is not None else project_folder_at(config, Path.cwd())
    if here is not None and (notes := read(here, "notes", limit=LIMITS["notes"])).path.exists():
        found.insert(1, ("this project", notes))
    if as_json:
        answers = [
            {
                "memory": one.which,
                "is_of_project": name == "this project",
                "path": str(one.path),
                "entries": list(one.entries),
                "characters": one.size,
                "limit": one.limit,
                "problem": one.problem,
            }
            for name, one in found
        ]
        print_json("memory", {"memories": answers})
        return
    for name, one in found:
        click.echo(f"{name}: {one.fill} ({one.path})")
        if one.problem:
            # Shown as it is, so that the user can fix it with an editor.
            click.echo(f"  Damaged, so nothing is written to it: {one.problem}. It holds:")
            click.echo("  " + printable(one.raw.decode("utf-8", "replace")).replace("\n", "\n  "))
            continue
        for entry in one.entries:
            click.echo("  - " + printable(entry).replace("\n", "\n    "))


@memory.command()
@click.argument("text")
@click.option("--instead-of", "piece", metavar="PIECE", help="Replace the one entry that contains PIECE.")
@user_option
@folder_option
@json_option
def add(text: str, piece: str | None, user: bool, folder: Path | None, as_json: bool) -> None:
    """Add an entry, or replace one.

    \b
    Example: seasoned memory add "The database listens on port 5434." --instead-of 5433
    """
    with memory_and_skills(load(), memory=folder) as journal:
        if piece is None:
            reply = add_entry(journal, _which(user), text, by=PERSON)
        else:
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
    # Marked as imported: a later review can tell these entries from what the user wrote here.
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


add_history(memory, "memory")


from_option = click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, readable=False),
    help="Read the text from a file; `-` reads standard input.",
)


skill_place = place_options(SKILLS)


@click.group(cls=Commands)
def skill() -> None:
    """Manage skills in the SKILL.md format.

    A skill says how to do a kind of task, with references, templates and scripts.
    """


@skill.command("list")
@skill_place
@json_option
def list_skills(folder: Path | None, as_json: bool) -> None:
    """List the skills, who wrote them and their use.

    \b
    Example: seasoned skill list
    """
    config = load()
    place = folder or config.skill_folder
    with store_or_empty(config) as store:
        # For this folder alone: two folders may hold skills of the same name.
        counts = usage(store, place)
        rows = [(one, author(store, one), counts.get(one.id, SkillUsage())) for one in skills(place)]
    if as_json:
        answers = [
            {
                "skill": one.id,
                "description": one.description,
                "files": list(one.files),
                "created_by": by,
                "viewed": count.viewed,
                "used": count.used,
                "problem": one.problem,
            }
            for one, by, count in rows
        ]
        print_json("skills", {"skills": answers})
        return
    if not rows:
        click.echo("No skills yet.")
        return
    table(
        ["skill", "description", "by", "viewed", "used"],
        [
            (
                one.id,
                one.description if one.problem is None else f"Damaged: {one.problem}",
                by,
                count.viewed,
                count.used,
            )
            for one, by, count in rows
        ],
        nowrap=["skill"],
    )


@skill.command()
@click.argument("name")
@click.argument("file", required=False)
@skill_place
@json_option
def view(name: str, file: str | None, folder: Path | None, as_json: bool) -> None:
    """Show a skill, or one of its files.

    \b
    Example: seasoned skill view release-notes references/style.md
    """
    found = view_skill(folder or load().skill_folder, name, file)
    if as_json:
        answer = {
            "skill": found.skill.id,
            "file": found.file,
            "text": found.text,
            "files": list(found.skill.files),
            "problem": found.skill.problem,
        }
        print_json("skill", answer)
        return
    # The text as it is in the file, so that it can be redirected into another; remarks go to stderr.
    click.echo(printable(found.text), nl=not found.text.endswith("\n"))
    if found.skill.problem:
        click.echo(f"Damaged: {found.skill.problem}", err=True)
    elif file is None and found.skill.files:
        click.echo(f"Files: {', '.join(map(printable, found.skill.files))}", err=True)


@skill.command()
@click.argument("name")
@click.argument("text", required=False)
@from_option
@click.option("--description", default="", help="What it does and when to use it, in one sentence.")
@click.option("--category", help="The subfolder to put it in.")
@skill_place
@json_option
def create(
    name: str,
    text: str | None,
    source: Path | None,
    description: str,
    category: str | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Create a skill.

    A text with front matter needs no --description.

    \b
    Example: seasoned skill create release-notes --description "Write release notes." --from notes.md
    """
    body = text_of(text, source)
    with memory_and_skills(load(), skills=folder) as journal:
        reply = create_skill(journal, name, body, description=description, category=category, by=PERSON)
    print_reply(reply, as_json)


@skill.command()
@click.argument("name")
@click.argument("text", required=False)
@from_option
@click.option("--file", help="A file in its references/, templates/, scripts/ or assets/ folder. Default: SKILL.md.")
@click.option("--instead-of", "old", metavar="PIECE", help="Replace PIECE, which must occur exactly once.")
@skill_place
@json_option
def write(
    name: str,
    text: str | None,
    source: Path | None,
    file: str | None,
    old: str | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Write a file of a skill, or replace a piece of it.

    \b
    Example: seasoned skill write release-notes "newest first" --instead-of "newest last"
    Example: seasoned skill write release-notes --file references/style.md --from style.md
    """
    if file is None and old is None:
        raise UsageError("Name the --file to write, or the piece of SKILL.md to replace with --instead-of.")
    content = text_of(text, source)
    with memory_and_skills(load(), skills=folder) as journal:
        if old is not None:
            reply = patch_skill(journal, name, old, content, file=file or "SKILL.md", by=PERSON)
        else:
            reply = write_skill_file(journal, name, file or "", content, by=PERSON)
    print_reply(reply, as_json)


@skill.command("remove")
@click.argument("name")
@click.argument("file", required=False)
@skill_place
@json_option
def remove_skill(name: str, file: str | None, folder: Path | None, as_json: bool) -> None:
    """Remove a skill, or one of its files.

    `seasoned skill history --undo N` brings it back.

    \b
    Example: seasoned skill remove release-notes
    """
    with memory_and_skills(load(), skills=folder) as journal:
        reply = delete(journal, name, by=PERSON) if file is None else remove_file(journal, name, file, by=PERSON)
    print_reply(reply, as_json)


add_history(skill, "skill")
