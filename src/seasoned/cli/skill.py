"""`skill`: what agents have learned to do, as a person sees and mends it."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.cli.change import add_decisions, desk_for, folder_option, known_store, skill_folder, tell, text_of
from seasoned.cli.options import json_option

from_option = click.option(
    "--from", "source", type=click.Path(path_type=Path, readable=False), help="Read the text from a file; `-` is stdin."
)


@click.group()
def skill() -> None:
    """Skills in the open SKILL.md format: how to do a kind of task, with references, templates and scripts."""


@skill.command("list")
@folder_option
@json_option
def show(folder: Path | None, as_json: bool) -> None:
    """List the skills: what they are for, who wrote them, how often they were used.

    \b
    Example: seasoned skill list
    """
    from seasoned.agent.skill.library import SkillUsage, author, skills, usage
    from seasoned.cli.output import print_json, table
    from seasoned.config import load

    config = load()
    place = skill_folder(config, folder)
    with known_store(config) as store:
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
        right=["viewed", "used"],
        whole=["skill"],
    )


@skill.command()
@click.argument("name")
@click.argument("file", required=False)
@folder_option
@json_option
def view(name: str, file: str | None, folder: Path | None, as_json: bool) -> None:
    """Show a skill, or one of its files.

    \b
    Example: seasoned skill view release-notes references/style.md
    """
    from seasoned.agent.skill.library import view as look
    from seasoned.cli.output import print_json, printable
    from seasoned.config import load

    found = look(skill_folder(load(), folder), name, file)
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
    click.echo(printable(found.text), nl=not found.text.endswith("\n"))
    if found.skill.problem:
        click.echo(f"Damaged: {found.skill.problem}", err=True)
    elif file is None and found.skill.files:
        click.echo(f"Files: {', '.join(map(printable, found.skill.files))}", err=True)


@skill.command()
@click.argument("name")
@click.argument("text", required=False)
@from_option
@click.option("--description", default="", help="What it does and when to use it, in a sentence.")
@click.option("--category", help="The folder that it lies in.")
@folder_option
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
    """Make a new skill. Its text may bring its own front matter; then no description is needed.

    \b
    Example: seasoned skill create release-notes --description "Write release notes." --from notes.md
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.skill.edit import create as make

    body = text_of(text, source)
    with desk_for(skills=folder) as desk:
        reply = make(desk, name, body, description=description, category=category, by=PERSON)
    tell(reply, as_json)


@skill.command()
@click.argument("name")
@click.argument("old")
@click.argument("new")
@click.option("--file", default="SKILL.md", show_default=True, help="The file of the skill to change.")
@folder_option
@json_option
def patch(name: str, old: str, new: str, file: str, folder: Path | None, as_json: bool) -> None:
    """Replace the piece OLD, which must stand there once, by NEW.

    \b
    Example: seasoned skill patch release-notes "newest last" "newest first"
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.skill.edit import patch as change

    with desk_for(skills=folder) as desk:
        reply = change(desk, name, old, new, file=file, by=PERSON)
    tell(reply, as_json)


@skill.command("write-file")
@click.argument("name")
@click.argument("file")
@click.argument("text", required=False)
@from_option
@folder_option
@json_option
def write_file(name: str, file: str, text: str | None, source: Path | None, folder: Path | None, as_json: bool) -> None:
    """Write a file below references/, templates/, scripts/ or assets/ of a skill.

    \b
    Example: seasoned skill write-file release-notes references/style.md --from style.md
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.skill.edit import write_file as write

    content = text_of(text, source)
    with desk_for(skills=folder) as desk:
        reply = write(desk, name, file, content, by=PERSON)
    tell(reply, as_json)


@skill.command()
@click.argument("name")
@click.argument("file", required=False)
@folder_option
@json_option
def remove(name: str, file: str | None, folder: Path | None, as_json: bool) -> None:
    """Put a skill aside, or one of its files; `undo` brings it back.

    \b
    Example: seasoned skill remove release-notes
    """
    from seasoned.agent.memory.journal import PERSON
    from seasoned.agent.skill.edit import delete, remove_file

    with desk_for(skills=folder) as desk:
        reply = delete(desk, name, by=PERSON) if file is None else remove_file(desk, name, file, by=PERSON)
    tell(reply, as_json)


add_decisions(skill, "skill")
