"""`review`, `memory`, `skill` and `model`: keep what a session taught, and the local model that can look back on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app import review as reviewing
from seasoned.app.stores import find_source, folder_of_project, memory_and_skills, project_folder_at, store_or_empty
from seasoned.begin.memory import FILES, SKILLS, MemoryFile, MemoryName, read
from seasoned.cli.options import Commands, json_option, paths_argument
from seasoned.cli.output import answered, printable, records, say, table
from seasoned.cli.project import histories
from seasoned.config import Config, load
from seasoned.errors import UsageError
from seasoned.review.due import settings_of
from seasoned.review.journal import PERSON, Change, changes, preview
from seasoned.review.ledger import Review
from seasoned.review.memory_file import add as add_entry
from seasoned.review.memory_file import remove as remove_entry
from seasoned.review.skill_library import author, skills
from seasoned.review.skill_library import view as view_skill
from seasoned.review.undo import undo as undo_change
from seasoned.runner.agent import AGENT_PROGRAMS
from seasoned.runner.model import LARGE, SMALL, fetch_model
from seasoned.runner.run import MODEL
from seasoned.text import plural

_REVIEWS_SHOWN = _CHANGES_SHOWN = 50


@click.command()
@click.argument("session", required=False)
@paths_argument
@click.option("--agent", type=click.Choice([*AGENT_PROGRAMS, MODEL]), help="Who reviews. Default: as in the settings.")
@click.option("--model", help="A model of the reviewer; without --agent, one of an API.")
@click.option("--dry-run", is_flag=True, help="Show what would be sent and written; ask no model.")
@click.option("--ledger", is_flag=True, help="List past reviews and today's usage.")
@json_option
def review(
    session: str | None,
    paths: tuple[Path, ...],
    agent: str | None,
    model: str | None,
    dry_run: bool,
    ledger: bool,
) -> None:
    """Keep what a session taught.

    The agent in which it ran looks back on it, with its own login, and says what to keep: notes, skills, your rules.
    SESSION is the id of any agent's session, or its beginning; without one, the newest in the store. PATH: look for it
    there instead. Only a redacted digest is sent. What repeats a result or a page, and all that a session with pages
    taught, waits in `seasoned inbox`: no session sees it until you accept it.

    \b
    Example: seasoned review --ledger
    """
    config = load()
    if ledger:
        _print_ledger(config, session)
        return
    # From its file and not from the store, which has the calls but not what was said.
    with histories(paths) as read:
        found = find_source(read.store, session)
    reviewer = reviewing.choose_reviewer(config, found, agent, model)
    if dry_run:
        _print_plan(reviewing.plan_review(config, found, reviewer))
        return
    done = reviewing.review(config, found, reviewer)
    # "Nothing worth keeping" is a good end of a review.
    is_bad = done.state in reviewing.BAD_STATES
    if not answered("review", _answer(done)):
        say(printable(done.said or ""), err=is_bad)
        if done.answer and done.answer != done.said:
            say(printable(done.answer))
    if is_bad:
        # 3, as for everything that was asked for correctly and could not be done.
        raise click.exceptions.Exit(3)


def _print_plan(plan: reviewing.ReviewPreview) -> None:
    if answered("review-plan", msgspec.structs.asdict(plan)):
        return
    waits = ", staged until you accept it" if plan.staging or plan.page else ""
    say(f"{plan.session}: {plural(plan.messages, 'message')}, the last {plan.whole_messages} in full")
    to = " ".join(filter(None, (plan.agent, plan.model)))
    say(f"to {to}: {plan.bytes:,} bytes, about {plan.tokens:,} tokens (--json shows them)")
    say(f"writes: memory in {plan.memory_folder}, skills in {plan.skill_folder}{waits}")
    if plan.page and not plan.staging:
        say(f"staged because the session read a page of others ({printable(plan.page)})")
    if plan.project_folder is not None:
        say(f"what is about the project {printable(plan.project or '')}: in {plan.project_folder}")
    if plan.problem:
        say(plan.problem, err=True)


def _print_ledger(config: Config, session: str | None) -> None:
    found, spent, week = reviewing.past_reviews(config, session, _REVIEWS_SHOWN)
    settings = settings_of(config)
    today = {
        "requests": spent.requests,
        "reviews": spent.reviews,
        "per_day": settings.per_day,
        "tokens": spent.tokens,
        "tokens_per_day": settings.tokens_per_day,
        # If no request has a price, the sum is unknown and not zero.
        "cost_usd": spent.cost_usd if spent.requests > spent.unpriced else None,
        "usd_per_day": settings.usd_per_day,
        "unpriced": spent.unpriced,
    }
    answer = {"today": today, "week": msgspec.to_builtins(week), "reviews": [_answer(one) for one in found]}
    if answered("review-ledger", answer):
        return
    most = "no limit" if settings.tokens_per_day is None else f"at most {settings.tokens_per_day:,}"
    reviews = f"{plural(spent.reviews, 'review')} (at most {settings.per_day})"
    say(f"Today: {reviews}, {spent.tokens:,} tokens ({most}).")
    if week is not None:
        say(printable(week.sentence))
    if not found:
        say("No reviews yet.")
        return
    rest = (("tokens", _tokens), ("US dollars", lambda one: one.cost_usd), ("what came of it", lambda one: one.said))
    records(found, "review=id when=started_at session state requests", *rest)


def _tokens(one: Review) -> int | None:
    return None if one.input_tokens is None else one.input_tokens + (one.output_tokens or 0)


def _answer(one: Review) -> dict[str, Any]:
    # The process that runs a review is of use only while it runs, and only on this machine.
    return {name: value for name, value in msgspec.structs.asdict(one).items() if name != "pid"}


_project_option = click.option(
    "--project", metavar="P", help="Use what is kept for a project: its name, key or folder."
)


@click.command()
@click.option("--add", metavar="TEXT", help="Add an entry.")
@click.option("--remove", metavar="PIECE", help="Remove the one entry that contains PIECE.")
@click.option("--history", is_flag=True, help="List changes of notes and skills, and who made them, newest first.")
@click.option("--undo", type=int, metavar="N", help="Undo a change of a note or a skill; later ones stay.")
@click.option("--user", is_flag=True, help="Use the file about the user instead of the notes.")
@_project_option
@json_option
def memory(
    add: str | None, remove: str | None, history: bool, undo: int | None, user: bool, project: str | None
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
    if history:
        _print_changes()
        return
    if add is None and remove is None and undo is None:
        _list_memory(folder)
        return
    which: MemoryName = "user" if user else "notes"
    with memory_and_skills(load(), memory=folder) as journal:
        if undo is not None:
            reply = undo_change(journal, undo)
        elif add is not None:
            reply = add_entry(journal, which, add, by=PERSON)
        else:
            reply = remove_entry(journal, which, remove or "", by=PERSON)
    if not answered("change", {"ok": reply.ok, "state": reply.state, "change": reply.change, "said": reply.said}):
        number = f" (change {reply.change})" if reply.state == "kept" and reply.change else ""
        say(reply.said + number, err=not reply.ok)
    # A script must notice that nothing was written.
    if not reply.ok:
        raise click.exceptions.Exit(1)


def _print_changes() -> None:
    # Looking at the history must not create a store.
    with store_or_empty(load()) as store:
        found = changes(store, limit=_CHANGES_SHOWN)
    if answered("changes", {"changes": [msgspec.structs.asdict(change) for change in found]}):
        return
    if not found:
        say("No changes yet.")
        return
    records(found, "change=id when=at state by=actor action", ("what", _what), "session")


def _what(change: Change) -> str:
    if change.kind == "memory":
        return f"{change.target}: {preview(change.after or change.before or '')}"
    return f"{change.target}/{change.file}"


def _list_memory(folder: Path | None) -> None:
    """Print the entries and how full the files are."""
    # The files are part of every prompt, so they are kept small.
    config = load()
    place = folder or config.memory_folder
    found: list[tuple[str, MemoryFile]] = [(which, read(place, which)) for which in FILES]
    here = None if folder is not None else project_folder_at(config, Path.cwd())
    if here is not None and (notes := read(here, "notes")).path.exists():
        found.insert(1, ("this project", notes))
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
    if answered("memory", {"memories": answers}):
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
def skill(name: str | None, file: str | None, project: str | None) -> None:
    """Show skills in the SKILL.md format.

    A skill says how to do a kind of task, with references, templates and scripts. Reviews write them, and so can you:
    each is a folder with a SKILL.md below skills in the home folder. Without NAME, all are listed.

    \b
    Example: seasoned skill release-notes references/style.md
    """
    folder = load().skill_folder if project is None else folder_of_project(load(), project) / SKILLS
    if name is None:
        _list_skills(folder)
        return
    found = view_skill(folder, name, file)
    answer = {"skill": found.skill.id, "file": found.file, "text": found.text}
    if answered("skill", {**answer, "files": list(found.skill.files), "problem": found.skill.problem}):
        return
    # The text as it is in the file, so that it can be redirected into another; remarks go to stderr.
    click.echo(printable(found.text), nl=not found.text.endswith("\n"))
    if found.skill.problem:
        say(f"Damaged: {found.skill.problem}", err=True)
    elif file is None and found.skill.files:
        say(f"Files: {', '.join(map(printable, found.skill.files))}", err=True)


def _list_skills(folder: Path) -> None:
    with store_or_empty(load()) as store:
        rows = [(one, author(store, one)) for one in skills(folder)]
    answers = [
        {"skill": one.id, "description": one.description, "files": one.files, "created_by": by, "problem": one.problem}
        for one, by in rows
    ]
    if answered("skills", {"skills": answers}):
        return
    if not rows:
        say("No skills yet.")
        return
    cells = [(one.id, f"Damaged: {one.problem}" if one.problem else one.description, by) for one, by in rows]
    table(["skill", "description", "by"], cells, nowrap=["skill"])


@click.group(cls=Commands)
def model() -> None:
    """Manage models on this machine."""


@model.command()
@click.option("--large", is_flag=True, help="Download one with 1.5 billion parameters instead (1.1 GB).")
@json_option
def fetch(large: bool) -> None:
    """Download the small local model (93 MB).

    Reviews, scheduled jobs and experiments use it with `--model local`. Its digest is checked. The large one is for
    experiments, and used by its path: `--model local:PATH`.

    \b
    Example: seasoned model fetch
    """
    path, is_new = fetch_model(load().model_folder, LARGE if large else SMALL)
    if not answered("model", {"path": str(path), "bytes": path.stat().st_size, "is_new": is_new}):
        click.echo(f"{'Downloaded' if is_new else 'Already there'}: {path}")
