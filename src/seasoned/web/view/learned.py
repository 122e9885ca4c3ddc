"""The page of memory and skills: what agents keep, who wrote it and why, and how to undo it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.stores import memory_and_skills_in
from seasoned.atomic_write import digest
from seasoned.begin.memory import FILES, LIMITS, MemoryFile, MemoryName, read
from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.errors import SeasonedError
from seasoned.redact import Redactor
from seasoned.review.journal import (
    Change,
    WriteReply,
    changes,
    find,
    preview,
)
from seasoned.review.memory_file import KeptForProject, kept_for_projects
from seasoned.review.skill_library import view
from seasoned.review.undo import undo
from seasoned.store import Store
from seasoned.web.display import change_link, difference, project_link, session_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Deciding, Here, Visitor, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect
from seasoned.web.table import PAGE_ROWS, Column, RowId, Table, TableCell, answer, time_cell

PAGE = Page("Memory", "learned", is_rare=True)
router = page_router()
_NAMES: dict[MemoryName, str] = {"notes": "Notes", "user": "About you"}
_MOST_KNOWN = 500
_CHANGES = (
    Column("change", "change", is_number=True),
    Column("at", "when", no_wrap=True),
    Column("state", "state"),
    Column("by", "by"),
    Column("action", "action"),
    Column("what", "what"),
    Column("session", "from the session"),
    Column("task", "while at"),
)
_REASONS = {
    "setting": "everything that reviews write waits for you",
    "foreign": "it repeats a result or a page",
    "page": "the session read pages of others",
}
_NOTHING_YET = "Nothing has been kept yet. `seasoned review SESSION` reviews a session and keeps what it taught."
_REMOVING = ("remove", "delete", "remove_file")
_STATES = {"kept": "ok", "staged": "unclear", "undone": "quiet", "rejected": "quiet", "failed": "failed"}


class ShownEntry(msgspec.Struct, frozen=True):
    """One entry of memory, and the change that wrote it, where that is known."""

    text: str
    change: Change | None


class MemoryEntry(msgspec.Struct, frozen=True):
    """One file of memory."""

    name: str
    memory: MemoryFile
    entries: tuple[ShownEntry, ...]


class ProjectSection(msgspec.Struct, frozen=True):
    """What is kept for one project; `href` leads to its page, if it is known."""

    name: str
    href: str | None
    notes: MemoryEntry
    skills: tuple[TableCell, ...]
    problem: str = ""


class LearnedPage(msgspec.Struct, frozen=True):
    """What the page shows."""

    notes: tuple[MemoryEntry, ...]
    projects: tuple[ProjectSection, ...]
    waiting: int  # changes in the inbox
    table: Table


@router.get("/learned")
async def show(request: HTTPRequest, here: Here, after: RowId | None = None) -> Response:
    """Show memory and skills, and every change."""
    config, redactor = service_of(request).config, redactor_of(request)
    shown = await histories_of(request).read(lambda store: _shown(store, config, redactor, after))
    return answer(
        request,
        here,
        "learned.html",
        tables=(shown.table,),
        shown=shown,
        waiting=shown.waiting,
        memory_folder=str(config.home / config.memory_folder),
    )


@router.get("/learned/changes/{change}")
async def show_change(request: HTTPRequest, here: Here, change: RowId) -> Response:
    """Show one change: who made it, why, and what was there before."""
    return await _change_page(request, here, change)


@router.post("/learned/changes/{change}/undo")
async def undo_change(request: HTTPRequest, here: Deciding, change: RowId) -> Response:
    """Undo a change."""
    await read_change(request, here)
    config, redactor, name = service_of(request).config, redactor_of(request), here.visit.name

    def act(store: Store) -> WriteReply:
        return undo(memory_and_skills_in(config, store, redactor=redactor), change, decided_by=f"person ({name})")

    reply = await histories_of(request).read(act)
    if not reply.ok:
        return await _change_page(request, here, change, alert=reply.said, status=409)
    return redirect(f"{here.visit.path}/{change_link(change)}")


async def _change_page(
    request: HTTPRequest, here: Visitor, change: int, *, alert: str = "", status: int = 200
) -> Response:
    config, redactor = service_of(request).config, redactor_of(request)

    def ask(store: Store) -> tuple[Change, str | None, KeptForProject | None]:
        one = find(store, change)
        kept = kept_for_projects(store, config.home, [one])
        project = next((each for each in kept if each.holds(one.folder)), None)
        return one, _came_to(store, one, Path(one.folder)), project

    found, came_to, project = await histories_of(request).read(ask)
    before, after = (_text(redactor, text) for text in (found.before, came_to))
    is_known = after is not None or found.action in _REMOVING
    return answer(
        request,
        here,
        "change.html",
        status=status,
        change=found,
        before=before,
        after=after,
        difference=difference(before, after) if is_known else [],
        links={ref: session_link(ref) for ref in (found.session, found.parent) if ref},
        project=None if project is None else project.name,
        project_page=None if project is None or project.key is None else project_link(project.key),
        why=_REASONS.get(found.reason or ""),
        alert=alert,
    )


def _shown(store: Store, config: Config, redactor: Redactor, after: int | None) -> LearnedPage:
    # The oldest first, so that the newest change wins if an entry was written several times.
    wrote = {
        one.after: one
        for one in reversed(changes(store, kind="memory", limit=_MOST_KNOWN))
        if one.after is not None and one.state == "kept"
    }
    folder = config.home / config.memory_folder
    notes = tuple(_noted(_NAMES[which], read(folder, which, limit=LIMITS[which]), wrote, redactor) for which in FILES)
    waiting = sum(row["changes"] for row in store.rows("learned.counts") if row["state"] == "staged")
    kept = kept_for_projects(store, config.home)
    sections = tuple(_section(one, wrote, redactor) for one in kept if one.notes.entries or one.skills or one.problem)
    every = changes(store, before=after, limit=PAGE_ROWS + 1)
    more = str(every[PAGE_ROWS - 1].id) if len(every) > PAGE_ROWS else None
    return LearnedPage(
        notes,
        sections,
        waiting,
        _changes_table(every[:PAGE_ROWS], after=more, has_previous=after is not None),
    )


def _noted(name: str, memory: MemoryFile, wrote: dict[str, Change], redactor: Redactor) -> MemoryEntry:
    entries = tuple(ShownEntry(redactor.text(text), wrote.get(text)) for text in memory.entries)
    return MemoryEntry(name, memory, entries)


def _section(one: KeptForProject, wrote: dict[str, Change], redactor: Redactor) -> ProjectSection:
    return ProjectSection(
        one.name,
        None if one.key is None else project_link(one.key),
        _noted("Notes", one.notes, wrote, redactor),
        tuple(
            TableCell(
                each.id,
                small_print=redactor.text(each.description if each.problem is None else f"damaged: {each.problem}"),
            )
            for each in one.skills
        ),
        one.problem,
    )


def _text(redactor: Redactor, text: str | None) -> str | None:
    return None if text is None else redactor.text(text)


def _came_to(store: Store, change: Change, folder: Path) -> str | None:
    """The text that a change wrote. The journal does not hold that of a skill, so it is searched for."""
    if change.after is not None or change.kind == "memory" or change.after_digest is None:
        return change.after
    later = changes(store, kind="skill", target=change.target, limit=_MOST_KNOWN)
    # The next change of the same file recorded this text as what was there before.
    known = [one.before for one in later if one.id > change.id and one.file == change.file and one.before is not None]
    # The skill may have been removed since.
    with suppress(SeasonedError):
        known.append(view(folder, change.target, change.file or None).text)
    return next((text for text in known if digest(text) == change.after_digest), None)


def _changes_table(found: list[Change], *, after: str | None, has_previous: bool) -> Table:
    return Table(
        name="changes",
        title="All changes",
        columns=_CHANGES,
        rows=[_change_row(one) for one in found],
        empty=_NOTHING_YET,
        note="Who wrote what, in which session. Undoing a change keeps later ones.",
        after=after,
        has_previous=has_previous,
    )


def _change_row(one: Change) -> tuple[TableCell, ...]:
    # The session that was reviewed, not the session of the review itself.
    learned_in = one.parent if one.actor == "review" and one.parent else one.session
    what = f"{one.target}: {preview(one.after or one.before or '')}" if one.kind == "memory" else one.target
    return (
        TableCell(one.id, href=change_link(one.id)),
        time_cell(one.at),
        TableCell(
            one.state, shown="pending" if one.state == "staged" else one.state, tone=_STATES.get(one.state, "quiet")
        ),
        TableCell(one.actor),
        TableCell(one.action),
        TableCell(what if one.kind == "memory" or not one.file else f"{what}/{one.file}", href=change_link(one.id)),
        TableCell(learned_in, href=None if learned_in is None else session_link(learned_in)),
        TableCell(one.task),
    )
