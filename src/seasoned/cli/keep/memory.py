"""`memory` and `skill`: read what the agents remember and know how to do, and change the memory."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from seasoned.app.stores import folder_of_project, memory_and_skills, project_folder_at, store_or_empty
from seasoned.begin.memory import FILES, LIMITS, SKILLS, MemoryFile, MemoryName, read
from seasoned.cli.options import json_option
from seasoned.cli.output import print_json, printable, say, table, when
from seasoned.config import load
from seasoned.errors import UsageError
from seasoned.review.journal import PERSON, Change, WriteReply, changes, preview
from seasoned.review.memory_file import add as add_entry
from seasoned.review.memory_file import remove as remove_entry
from seasoned.review.skill_library import author, skills
from seasoned.review.skill_library import view as view_skill
from seasoned.review.undo import undo as undo_change

_project_option = click.option(
    "--project", metavar="P", help="Use what is kept for a project: its name, key or folder."
)


def print_reply(reply: WriteReply, as_json: bool) -> None:
    """Print the result of a change; exit with 1 if it was refused."""
    if as_json:
        print_json("change", {"ok": reply.ok, "state": reply.state, "change": reply.change, "said": reply.said})
    else:
        number = f" (change {reply.change})" if reply.state == "kept" and reply.change else ""
        say(reply.said + number, err=not reply.ok)
    # A script must notice that nothing was written.
    if not reply.ok:
        raise click.exceptions.Exit(1)


def _show_changes(limit: int, *, as_json: bool) -> None:
    # Looking at the history must not create a store.
    with store_or_empty(load()) as store:
        found = changes(store, limit=limit)
    if as_json:
        print_json("changes", {"changes": [msgspec.structs.asdict(change) for change in found]})
        return
    if not found:
        say("No changes yet.")
        return
    table(
        ["change", "when", "state", "by", "action", "what", "session"],
        [(one.id, when(one.at), one.state, one.actor, one.action, _what(one), one.session) for one in found],
    )


def _what(change: Change) -> str:
    if change.kind == "memory":
        return f"{change.target}: {preview(change.after or change.before or '')}"
    return f"{change.target}/{change.file}"


@click.command()
@click.option("--add", metavar="TEXT", help="Add an entry.")
@click.option("--remove", metavar="PIECE", help="Remove the one entry that contains PIECE.")
@click.option("--history", is_flag=True, help="List changes of notes and skills, and who made them, newest first.")
@click.option("--limit", default=50, show_default=True, help="With --history, list at most this many.")
@click.option("--undo", type=int, metavar="N", help="Undo a change of a note or a skill; later ones stay.")
@click.option("--user", is_flag=True, help="Use the file about the user instead of the notes.")
@_project_option
@json_option
def memory(
    add: str | None,
    remove: str | None,
    history: bool,
    limit: int,
    undo: int | None,
    user: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """Show and change the notes every new session sees.

    Small files: notes, what is known about the user, and the notes of each project, which only its sessions see.
    `seasoned inbox` has the changes that wait for you.

    \b
    Example: seasoned memory --add "The database listens on port 5433."
    Example: seasoned memory --remove 5433
    """
    if sum(map(bool, (add, remove, history, undo))) > 1:
        raise UsageError("Use one of --add, --remove, --history and --undo at a time.")
    folder = None if project is None else folder_of_project(load(), project)
    if undo is not None:
        with memory_and_skills(load()) as journal:
            reply = undo_change(journal, undo)
        print_reply(reply, as_json)
    elif history:
        _show_changes(limit, as_json=as_json)
    elif add is None and remove is None:
        _list_memory(folder, as_json=as_json)
    else:
        which: MemoryName = "user" if user else "notes"
        with memory_and_skills(load(), memory=folder) as journal:
            reply = (
                add_entry(journal, which, add, by=PERSON)
                if add is not None
                else remove_entry(journal, which, remove or "", by=PERSON)
            )
        print_reply(reply, as_json)


def _list_memory(folder: Path | None, *, as_json: bool) -> None:
    """Print the entries and how full the files are."""
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
        say(f"{name}: {one.fill} ({one.path})")
        if one.problem:
            # Shown as it is, so that the user can fix it with an editor.
            say(f"  Damaged, so nothing is written to it: {one.problem}. It holds:")
            say("  " + printable(one.raw.decode("utf-8", "replace")).replace("\n", "\n  "))
            continue
        for entry in one.entries:
            say("  - " + printable(entry).replace("\n", "\n    "))


@click.command()
@click.argument("name", required=False)
@click.argument("file", required=False)
@_project_option
@json_option
def skill(
    name: str | None,
    file: str | None,
    project: str | None,
    as_json: bool,
) -> None:
    """Show skills in the SKILL.md format.

    A skill says how to do a kind of task, with references, templates and scripts. Reviews write them, and so can you:
    each is a folder with a SKILL.md below skills in the home folder. Without NAME, all are listed.

    \b
    Example: seasoned skill release-notes references/style.md
    """
    folder = load().skill_folder if project is None else folder_of_project(load(), project) / SKILLS
    if name is None:
        _list_skills(folder, as_json=as_json)
    else:
        _view_skill(name, file, folder, as_json=as_json)


def _list_skills(folder: Path, *, as_json: bool) -> None:
    with store_or_empty(load()) as store:
        rows = [(one, author(store, one)) for one in skills(folder)]
    if as_json:
        answers = [
            {
                "skill": one.id,
                "description": one.description,
                "files": list(one.files),
                "created_by": by,
                "problem": one.problem,
            }
            for one, by in rows
        ]
        print_json("skills", {"skills": answers})
        return
    if not rows:
        say("No skills yet.")
        return
    table(
        ["skill", "description", "by"],
        [
            (
                one.id,
                one.description if one.problem is None else f"Damaged: {one.problem}",
                by,
            )
            for one, by in rows
        ],
        nowrap=["skill"],
    )


def _view_skill(name: str, file: str | None, folder: Path, *, as_json: bool) -> None:
    found = view_skill(folder, name, file)
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
        say(f"Damaged: {found.skill.problem}", err=True)
    elif file is None and found.skill.files:
        say(f"Files: {', '.join(map(printable, found.skill.files))}", err=True)
