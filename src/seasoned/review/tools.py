"""The tools of a review: memory and skills. A scheduled job may read skills with two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic_ai import RunContext

from seasoned.begin.memory import SKILLS as SKILL_FOLDER
from seasoned.begin.memory import MemoryName, project_folder
from seasoned.errors import SeasonedError
from seasoned.redact.key import Secrecy
from seasoned.review import memory_file as memories
from seasoned.review import skill_edit as edit
from seasoned.review import skill_library as skill_reading
from seasoned.review.journal import Actor, ChangeJournal, Origin, Provenance, WriteReply
from seasoned.review.overlap import ForeignTexts
from seasoned.review.skill_library import MAIN
from seasoned.store import open_store


@dataclass(frozen=True, kw_only=True)
class Context:
    """One session. A review has its own context, so that what it writes names its author."""

    home: Path
    secrecy: Secrecy
    memory_folder: Path
    skill_folder: Path
    actor: Actor = "review"
    origin: Origin = "review"
    # `agent:native id`.
    session: str | None = None
    parent: str | None = None
    platform: str | None = "cli"
    # Where the session works; None if it has no folder.
    folder: str | None = None
    # The key of its project, whose notes and skills it reads and writes; None if it has none.
    project: str | None = None
    task: str | None = None
    # Writes of memory and skills wait until a person accepts them.
    staging: bool = False
    # For a review: the texts of the session, and whether everything waits if the session read web pages.
    foreign: ForeignTexts | None = None
    stage_pages: bool = True
    allow_person_skills: bool = False

    @property
    def project_folder(self) -> Path | None:
        """Where notes and skills of its project are."""
        return None if self.project is None else project_folder(self.home, self.project)

    def provenance(self, *, tool: str, call_id: str | None) -> Provenance:
        return Provenance(
            actor=self.actor,
            origin=self.origin,
            session=self.session,
            parent=self.parent,
            platform=self.platform,
            tool=tool,
            call_id=call_id,
            task=self.task,
        )

    @contextmanager
    def journal(self, *, skill_folder: Path | None = None) -> Iterator[ChangeJournal]:
        """A journal with its own connection to the store, since tools run in several threads."""
        with open_store(self.home / "seasoned.db") as store:
            yield ChangeJournal(
                store=store,
                redactor=self.secrecy.redactor(),
                home=self.home,
                memory_folder=self.memory_folder,
                skill_folder=skill_folder or self.skill_folder,
                notes_folder=self.project_folder,
                staging=self.staging,
                foreign=self.foreign,
                stage_pages=self.stage_pages,
                allow_person_skills=self.allow_person_skills,
            )


Answer = dict[str, Any]
Scope = Literal["project", "everywhere"]


def memory(
    ctx: RunContext[Context],
    action: Literal["add", "replace", "remove"],
    target: MemoryName = "notes",
    text: str = "",
    old_text: str = "",
) -> Answer:
    """Keep something for later sessions, or correct what was kept. Every new session is shown it from its start.

    Keep who the user is, what they prefer and expect, and facts about this environment that will hold. Leave out what
    is over when the task is: progress, transient errors, one-off stories, claims that a tool does not work. Entries
    are short. When memory is full, replace or remove first.

    Args:
        action: "add" an entry, "replace" the one that holds old_text, or "remove" it.
        target: "notes" for facts and lessons, which are kept for the project that the session works in; "user" for
            what is known of the user, which every session sees.
        text: The new entry, for add and replace.
        old_text: A piece of the entry that is meant, for replace and remove.
    """
    by = ctx.deps.provenance(tool="memory", call_id=ctx.tool_call_id)
    with ctx.deps.journal() as journal:
        if action == "add":
            return _answer(memories.add(journal, target, text, by=by))
        if action == "replace":
            return _answer(memories.replace(journal, target, old_text, text, by=by))
        return _answer(memories.remove(journal, target, old_text, by=by))


def skills_list(ctx: RunContext[Context]) -> Answer:
    """List the skills: how to do kinds of tasks, learned or written down before."""
    found = [(scope, one) for scope, folder in _folders(ctx.deps) for one in skill_reading.skills(folder)]
    listed = [
        {
            "name": one.id,
            "description": one.description,
            "files": list(one.files),
            "problem": one.problem,
            "scope": scope,
        }
        for scope, one in found
    ]
    return {"success": True, "skills": listed, "count": len(listed)}


def skill_view(ctx: RunContext[Context], name: str, file: str | None = None) -> Answer:
    """Read a skill before doing a task of its kind, or one of its support files.

    Args:
        name: The name as skills_list gives it.
        file: A support file such as "references/api.md"; leave it out for the skill itself.
    """
    try:
        folder = _folder_of(ctx.deps, name)
        view = skill_reading.view(folder, name, file)
        with ctx.deps.journal(skill_folder=folder) as journal:
            skill_reading.count(journal, view.skill.id, "viewed")
    except SeasonedError as error:
        return {"success": False, "error": str(error)}
    return {"success": True, "name": view.skill.id, "content": view.text, "files": list(view.skill.files)}


def skill_manage(
    ctx: RunContext[Context],
    action: Literal["create", "patch", "write_file", "remove_file", "delete"],
    name: str,
    content: str = "",
    description: str = "",
    category: str | None = None,
    file: str | None = None,
    old_string: str = "",
    new_string: str = "",
    scope: Scope = "project",
) -> Answer:
    """Keep how a kind of task is done, for later sessions: create a skill, correct it, or add a support file.

    A skill is about a class of tasks, never about one ticket, one error or one day. Prefer to patch a skill that is
    there. View a skill before you patch it.

    Args:
        action: "create" a skill, "patch" a piece of its text, "write_file" or "remove_file" a support file, "delete".
        name: The skill's name: lower-case letters, digits and dashes.
        content: The text of the skill, for create; of the support file, for write_file.
        description: When the skill is to be used, in one sentence, for create.
        category: A folder that the skill belongs to, for create.
        file: A support file such as "references/api.md"; for patch, leave it out to patch the skill itself.
        old_string: The piece of text to replace, for patch. It must occur exactly once.
        new_string: The text that replaces it.
        scope: For create: "project" if it is about the project that the session works in, "everywhere" if it is about
            the user or holds in any project.
    """
    by = ctx.deps.provenance(tool="skill_manage", call_id=ctx.tool_call_id)
    folders = dict(_folders(ctx.deps))
    folder = folders.get(scope, ctx.deps.skill_folder) if action == "create" else _folder_of(ctx.deps, name)
    with ctx.deps.journal(skill_folder=folder) as journal:
        if action == "create":
            made = edit.create(journal, name, content, description=description, category=category, by=by)
            return _answer(made)
        if action == "patch":
            return _answer(edit.patch(journal, name, old_string, new_string, file=file or MAIN, by=by))
        if action == "write_file":
            return _answer(edit.write_file(journal, name, file or "", content, by=by))
        if action == "remove_file":
            return _answer(edit.remove_file(journal, name, file or "", by=by))
        return _answer(edit.delete(journal, name, by=by))


def _folders(context: Context) -> list[tuple[Scope, Path]]:
    """Where the skills are that the session has: of its project first."""
    own = context.project_folder
    everywhere: tuple[Scope, Path] = ("everywhere", context.skill_folder)
    return [everywhere] if own is None else [("project", own / SKILL_FOLDER), everywhere]


def _folder_of(context: Context, name: str) -> Path:
    """The folder that holds the skill; the general one if none does, which then reports that."""
    for _, folder in _folders(context):
        if any(name in (one, one.rpartition("/")[2]) for one in skill_reading.ids(folder)):
            return folder
    return context.skill_folder


def _answer(reply: WriteReply) -> Answer:
    if not reply.ok:
        return {"success": False, "error": reply.said}
    return {"success": True, "message": reply.said, "state": reply.state, "change": reply.change}


MEMORY_AND_SKILLS: tuple[Callable[..., Answer], ...] = (memory, skills_list, skill_view, skill_manage)
READING: tuple[Callable[..., Answer], ...] = (skills_list, skill_view)
