"""`skill`: read and change the skills of the agents."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.agent.memory.journal import PERSON
from seasoned.agent.skill.edit import create as create_skill
from seasoned.agent.skill.edit import delete, remove_file
from seasoned.agent.skill.edit import patch as patch_skill
from seasoned.agent.skill.edit import write_file as write_skill_file
from seasoned.agent.skill.library import SkillUsage, author, skills, usage
from seasoned.agent.skill.library import view as view_skill
from seasoned.app.stores import memory_and_skills, store_or_empty
from seasoned.cli.memory import add_decisions, place_options, print_reply, text_of
from seasoned.cli.options import Commands, json_option
from seasoned.cli.output import print_json, printable, table
from seasoned.config import load
from seasoned.experience.memory_file import SKILLS

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
def list_(folder: Path | None, as_json: bool) -> None:
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
        right=["viewed", "used"],
        whole=["skill"],
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
@click.argument("old")
@click.argument("new")
@click.option("--file", default="SKILL.md", show_default=True, help="The file of the skill to change.")
@skill_place
@json_option
def patch(name: str, old: str, new: str, file: str, folder: Path | None, as_json: bool) -> None:
    """Replace one piece of a skill.

    OLD must occur exactly once; it becomes NEW.

    \b
    Example: seasoned skill patch release-notes "newest last" "newest first"
    """
    with memory_and_skills(load(), skills=folder) as journal:
        reply = patch_skill(journal, name, old, new, file=file, by=PERSON)
    print_reply(reply, as_json)


@skill.command("write-file")
@click.argument("name")
@click.argument("file")
@click.argument("text", required=False)
@from_option
@skill_place
@json_option
def write_file(name: str, file: str, text: str | None, source: Path | None, folder: Path | None, as_json: bool) -> None:
    """Write a file of a skill.

    FILE lies in its references/, templates/, scripts/ or assets/ folder.

    \b
    Example: seasoned skill write-file release-notes references/style.md --from style.md
    """
    content = text_of(text, source)
    with memory_and_skills(load(), skills=folder) as journal:
        reply = write_skill_file(journal, name, file, content, by=PERSON)
    print_reply(reply, as_json)


@skill.command()
@click.argument("name")
@click.argument("file", required=False)
@skill_place
@json_option
def remove(name: str, file: str | None, folder: Path | None, as_json: bool) -> None:
    """Remove a skill, or one of its files.

    `undo` brings it back.

    \b
    Example: seasoned skill remove release-notes
    """
    with memory_and_skills(load(), skills=folder) as journal:
        reply = delete(journal, name, by=PERSON) if file is None else remove_file(journal, name, file, by=PERSON)
    print_reply(reply, as_json)


add_decisions(skill, "skill")
