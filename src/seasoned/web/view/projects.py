"""The projects page: what sessions of each project see, where it comes from, and how to change it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.lessons import LessonEntry, lesson_view
from seasoned.confirm.service.service import service_of
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import is_connected
from seasoned.errors import NotFound, UsageError
from seasoned.gateway.history_usage import price_source
from seasoned.lesson.ask import decide as decide_line
from seasoned.lesson.rules import is_behind
from seasoned.report.page.rows import number
from seasoned.store import DatabaseRow, Store
from seasoned.store.project import ProjectFinder, ProjectRow, folders_of, list_projects
from seasoned.text import dollars
from seasoned.web.chart import WEEKS, rate_chart, spending_chart, weekly_rates
from seasoned.web.display import percent, project_link, session_link, sessions_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Deciding, Here, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect, with_query
from seasoned.web.table import (
    Column,
    Table,
    TableCell,
    answer,
    cost_cell,
    cut,
    figure,
    numbers,
    rate_cell,
    session_cell,
)
from seasoned.web.view.inbox import FoundInbox, inbox_for
from seasoned.web.view.sessions import newest_sessions

PAGE = Page("Projects", "projects")
router = page_router()
_COLUMNS = (
    Column("name", "Project"),
    Column("key", "Key", is_minor=True),
    *numbers(sessions="Sessions"),
    *numbers(is_minor=True, calls="Calls", failed="Failed"),
    *numbers(rate="Error rate", cost="Cost"),
    Column("agents", "Agents", is_minor=True),
    Column("last", "Last seen", is_time=True),
)
_MISTAKE_COLUMNS = (
    Column("error", "Error"),
    Column("form", "What fails"),
    *numbers(sessions="Sessions", calls="Calls lost"),
    Column("said", "What sessions see"),
    Column("last", "Last seen", is_time=True, is_minor=True),
    Column("session", "For example in", is_minor=True),
)
_MISTAKES = 20
_FOLDERS = 12
_NONE_YET = "No projects yet: `seasoned scan` reads the histories that your agents keep."


class LineCard(msgspec.Struct, frozen=True):
    """One line of the sheet as the page shows it."""

    entry: LessonEntry
    # What the forms send back: a text that was shortened stands for its form.
    command: str
    sources: list[TableCell]

    @property
    def is_told(self) -> bool:
        """Whether sessions see it, or a person decided about it."""
        return self.entry.state != "silent" or self.entry.is_pinned


@router.get("/projects")
async def show_list(request: HTTPRequest, here: Here, after: str | None = None) -> Response:
    """List the projects, the newest first."""

    def look(store: Store) -> tuple[Table, DatabaseRow | None]:
        rows, more = cut(list_projects(store), after)
        names = [one.name for one in rows]
        cells = [_row(one, is_alone=names.count(one.name) == 1) for one in rows]
        table = Table(name="projects", title="Projects", columns=_COLUMNS, rows=cells, empty=_NONE_YET, **more)
        return table, store.row("project.without")

    table, without = await histories_of(request).read(look)
    return answer(request, here, "projects.html", tables=(table,), without=without and without["sessions"])


@router.get("/projects/{key:path}")
async def show_one(request: HTTPRequest, here: Here, key: str, folder: str = "") -> Response:
    """Show the sheet of a project as a session sees it, with the evidence of each line."""
    histories = histories_of(request)
    row = await histories.read(lambda store: _find(store, key))
    found = await inbox_for(request, row.key)
    shown = await histories.read(lambda store: _shown(store, row, folder, now=histories.now(store)))
    mistakes, newest = shown.pop("tables")
    return answer(
        request,
        here,
        "project.html",
        tables=(mistakes, newest),
        shown=shown,
        found=found,
        figures=_figures(row, found, shown["prices"]),
        agents=[(one, is_connected(one, home=service_of(request).config.home)) for one in row.agents],
        connectable=tuple(AGENTS),
        project_link=project_link,
        session_link=session_link,
    )


@router.post("/project-line")
async def change(request: HTTPRequest, here: Deciding) -> Response:
    """Pin or drop a line of a sheet, or undo that."""
    form = await read_change(request, here)
    key, command = form.get("project", ""), form.get("command", "").strip()
    choice, folder = form.get("choice", ""), form.get("folder", "")
    if not command:
        raise UsageError("The command is empty. Enter one command, such as `make test`.")
    redactor = redactor_of(request)

    def decide(store: Store) -> None:
        if not list_projects(store, key):
            raise NotFound(f"There is no project {key[:200]!r}. See the list of projects.")
        decide_line(store, key, command, choice, redactor=redactor)

    await histories_of(request).read(decide)
    query = with_query({}, folder=folder) if folder else ""
    return redirect(f"{here.visit.path}/{project_link(key)}{query}#sheet")


def _find(store: Store, key: str) -> ProjectRow:
    """The project of this key, or of this name: an address may name one by its last part, as people do."""
    projects = list_projects(store)
    target = ProjectFinder(store).target(key)
    named = [one for one in projects if one.name == key]
    row = next((one for one in projects if one.key == target), named[0] if len(named) == 1 else None)
    if row is None:
        raise NotFound(f"There is no project {key[:200]!r}, or its sessions were forgotten. See the list of projects.")
    return row


def _row(one: ProjectRow, *, is_alone: bool) -> tuple[TableCell, ...]:
    sessions = sessions_link(project=one.key)
    usage = f"usage?{urlencode({'project': one.key})}"
    failures = sessions_link(project=one.key, outcome="failures", sort="-failed")
    return (
        # Where the keys have no room, two of one name must differ.
        TableCell(one.name, href=project_link(one.key), small_print="" if is_alone else one.key),
        TableCell(one.key),
        TableCell(one.sessions, href=sessions),
        TableCell(one.calls, href=sessions_link(project=one.key, sort="-calls")),
        TableCell(one.failed, href=failures),
        rate_cell(one.failed, one.ok + one.failed),
        cost_cell(one.cost_usd, usage, unknown="–"),
        TableCell(", ".join(one.agents)),
        TableCell(one.last),
    )


def _figures(row: ProjectRow, found: FoundInbox, prices: str | None) -> list[dict[str, Any]]:
    """How the sessions of a project go."""
    asked = urlencode({"project": row.key})
    recurring = None if found.gathered is None else found.gathered.recurring.get(row.key, 0)
    use = None if found.gathered is None else found.gathered.use
    used = f"{use.used} of {use.shown} lines" if use is not None and use.shown else "nothing was shown yet"
    rate = f"{number(row.failed)} of {number(row.ok + row.failed)} calls"
    mistakes = "–" if recurring is None else number(recurring)
    return [
        figure("Sessions", number(row.sessions), href=sessions_link(project=row.key)),
        figure("Error rate", percent(row.failed, row.ok + row.failed), rate, f"insight?{asked}"),
        figure("Repeated mistakes", mistakes, "in two sessions or more", "#table-mistakes"),
        figure(
            "Cost",
            dollars(row.cost_usd),
            "as recorded" if prices is None else "as recorded, else estimated",
            f"usage?{asked}",
        ),
        figure(
            "Used of what was shown",
            percent(use.used, use.shown) if use is not None and use.shown else "–",
            used,
        ),
    ]


def _shown(store: Store, row: ProjectRow, asked: str, *, now: float) -> dict[str, Any]:
    """What the store knows of a project; `asked` is the folder whose sheet is shown, empty for the newest."""
    folders = folders_of(store, row.key)
    # Only folders that sessions ran in: the address must not choose which files are looked at.
    if asked and asked not in {one.folder for one in folders}:
        raise NotFound(f"No session of this project ran in {asked[:200]!r}. Choose one of its folders.")
    folder = asked or next((one.folder for one in folders[:_FOLDERS] if Path(one.folder).is_dir()), "")
    view = lesson_view(store, row.key, Path(folder) if folder else None, refreshed=False)
    commands = [one for one in view.lessons if one.kind == "command"]
    rates = weekly_rates(store, now=now, weeks=WEEKS, project=row.key)
    return {
        "row": row,
        "view": view,
        "lines": [LineCard(one, _command(one), [session_cell(ref, store) for ref in one.sessions]) for one in commands],
        "folders": folders[:_FOLDERS],
        "folder": folder,
        "is_checked": bool(folder) and Path(folder).is_dir(),
        "prices": price_source(store),
        # Sessions that nothing was learned from yet.
        "waits": is_behind(store),
        "charts": (
            rate_chart(rates, now=now),
            spending_chart(store, now=now, days=7 * WEEKS, project=row.key),
        ),
        "tables": (
            _mistake_table(store, [one for one in view.lessons if one.kind == "repair"]),
            newest_sessions(store, project=row.key),
        ),
    }


def _command(entry: LessonEntry) -> str:
    return entry.form if not entry.text or entry.text.endswith("…") else entry.text


def _mistake_table(store: Store, lessons: Sequence[LessonEntry]) -> Table:
    """Errors that came back, each with what sessions see about it, or why they see nothing."""
    rows = [
        (
            TableCell(one.error),
            TableCell(one.form or None),
            TableCell(one.among),
            TableCell(one.calls_lost),
            TableCell(one.said or f"nothing: {one.reason}", has_code=True),
            TableCell(one.last),
            session_cell(one.sessions[0], store) if one.sessions else TableCell(None),
        )
        for one in lessons[:_MISTAKES]
    ]
    return Table(
        name="mistakes",
        title="Recurring errors",
        columns=_MISTAKE_COLUMNS,
        rows=rows,
        note="A session sees each hint once, as one line, and never what fails.",
        empty="No error occurred in more than one session so far.",
    )
