"""The page of memory and skills: what agents keep, who wrote it, and in which session."""

from __future__ import annotations

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.begin.memory import FILES, LIMITS, MemoryFile, MemoryName, read
from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.redact import Redactor
from seasoned.review.journal import Change, changes, preview
from seasoned.review.memory_file import KeptForProject, kept_for_projects
from seasoned.store import Store
from seasoned.web.display import project_link, session_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router, redactor_of
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
_NOTHING_YET = "Nothing has been kept yet. `seasoned review SESSION` reviews a session and keeps what it taught."
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


def _changes_table(found: list[Change], *, after: str | None, has_previous: bool) -> Table:
    return Table(
        name="changes",
        title="All changes",
        columns=_CHANGES,
        rows=[_change_row(one) for one in found],
        empty=_NOTHING_YET,
        note="Who wrote what, in which session. `seasoned memory --undo N` undoes a change; later ones stay.",
        after=after,
        has_previous=has_previous,
    )


def _change_row(one: Change) -> tuple[TableCell, ...]:
    # The session that was reviewed, not the session of the review itself.
    learned_in = one.parent if one.actor == "review" and one.parent else one.session
    what = f"{one.target}: {preview(one.after or one.before or '')}" if one.kind == "memory" else one.target
    return (
        TableCell(one.id),
        time_cell(one.at),
        TableCell(
            one.state, shown="pending" if one.state == "staged" else one.state, tone=_STATES.get(one.state, "quiet")
        ),
        TableCell(one.actor),
        TableCell(one.action),
        TableCell(what if one.kind == "memory" or not one.file else f"{what}/{one.file}"),
        TableCell(learned_in, href=None if learned_in is None else session_link(learned_in)),
        TableCell(one.task),
    )
