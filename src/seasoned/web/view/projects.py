"""The projects page: what sessions of each project see, where it comes from, and how to change it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.lessons import LessonEntry, LessonView, lesson_view
from seasoned.confirm.service.service import service_of
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import is_connected
from seasoned.errors import NotFound, UsageError
from seasoned.gateway.history_usage import price_source
from seasoned.lesson.ask import decide as decide_line
from seasoned.lesson.rules import is_behind
from seasoned.report.page.rows import number
from seasoned.store import Store
from seasoned.store.project import FolderRow, ProjectFinder, ProjectRow, folders_of, list_projects
from seasoned.text import dollars
from seasoned.web.chart import WEEKS, Chart, rate_chart, spending_chart, weekly_rates
from seasoned.web.display import day_and_time, percent, project_link, session_link, sessions_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Deciding, Here, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect, with_query
from seasoned.web.table import (
    PAGE_ROWS,
    Column,
    Table,
    TableCell,
    answer,
    cost_cell,
    figure,
    numbers,
    rate_cell,
    row_offset,
    session_cell,
)
from seasoned.web.view.inbox import FoundInbox, inbox_for
from seasoned.web.view.sessions import newest_sessions

PAGE = Page("Projects", "projects")
router = page_router()
_COLUMNS = (
    Column("name", "Project"),
    Column("key", "Key"),
    *numbers(sessions="Sessions", calls="Calls", failed="Failed", rate="Error rate", cost="Cost"),
    Column("agents", "Agents"),
    Column("last", "Last seen", no_wrap=True),
)
MISTAKE_COLUMNS = (
    Column("error", "Error"),
    Column("form", "What fails"),
    *numbers(sessions="Sessions", calls="Calls lost"),
    Column("said", "What sessions see"),
    Column("last", "Last seen", no_wrap=True),
    Column("session", "For example in"),
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


class ProjectPage(msgspec.Struct, frozen=True):
    """What the page shows of one project."""

    row: ProjectRow
    view: LessonView
    lines: list[LineCard]
    mistakes: Table
    folders: list[FolderRow]
    # The folder whose sheet is shown; empty for the project as a whole.
    folder: str
    is_checked: bool


@router.get("/projects")
async def show_list(request: HTTPRequest, here: Here) -> Response:
    """List the projects, the newest first."""
    projects = await _all(request)
    without = await histories_of(request).read(_without)
    return answer(request, here, "projects.html", tables=(_list(request, projects),), without=without)


@router.get("/projects/{key:path}")
async def show_one(request: HTTPRequest, here: Here, key: str, folder: str = "") -> Response:
    """Show the sheet of a project as a session sees it, with the evidence of each line."""
    projects = {one.key: one for one in await _all(request)}
    waits, target, prices = await histories_of(request).read(
        lambda store: (is_behind(store), ProjectFinder(store).target(key), price_source(store))
    )
    # An address may name a project by its last part, as people do.
    named = [one for one in projects.values() if one.name == key]
    row = projects.get(target) or (named[0] if len(named) == 1 else None)
    if row is None:
        raise NotFound(f"There is no project {key[:200]!r}, or its sessions were forgotten. See the list of projects.")
    shown = await histories_of(request).read(lambda store: _shown(store, row, folder))
    found = await inbox_for(request, row.key)
    newest = await histories_of(request).read(lambda store: newest_sessions(store, project=row.key))
    charts = await histories_of(request).read(lambda store: _charts(store, histories_of(request).now(store), row.key))
    return answer(
        request,
        here,
        "project.html",
        tables=(shown.mistakes, newest),
        shown=shown,
        charts=charts,
        found=found,
        figures=_figures(row, found, prices),
        agents=[(one, is_connected(one, home=service_of(request).config.home)) for one in row.agents],
        connectable=tuple(AGENTS),
        project_link=project_link,
        session_link=session_link,
        waits=waits,
        sessions=sessions_link(project=row.key),
        link=project_link(row.key),
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


async def _all(request: HTTPRequest) -> list[ProjectRow]:
    return await histories_of(request).read(list_projects)


def _without(store: Store) -> int:
    row = store.row("project.without")
    return 0 if row is None else int(row["sessions"])


def _list(request: HTTPRequest, projects: Sequence[ProjectRow]) -> Table:
    first = row_offset(request.query_params.get("after"))
    return project_table(
        projects[first : first + PAGE_ROWS],
        after=str(first + PAGE_ROWS) if len(projects) > first + PAGE_ROWS else None,
        has_previous=first > 0,
    )


def project_table(projects: Sequence[ProjectRow], *, after: str | None = None, has_previous: bool = False) -> Table:
    """A list of projects, each with links to its page and to its sessions."""
    return Table(
        name="projects",
        title="Projects",
        columns=_COLUMNS,
        rows=[_row(one) for one in projects],
        empty=_NONE_YET,
        after=after,
        has_previous=has_previous,
    )


def _row(one: ProjectRow) -> tuple[TableCell, ...]:
    sessions = sessions_link(project=one.key)
    usage = f"usage?{urlencode({'project': one.key})}"
    failures = sessions_link(project=one.key, outcome="failures", sort="-failed")
    return (
        TableCell(one.name, href=project_link(one.key)),
        TableCell(one.key),
        TableCell(one.sessions, href=sessions),
        TableCell(one.calls, href=sessions_link(project=one.key, sort="-calls")),
        TableCell(one.failed, href=failures),
        rate_cell(one.failed, one.ok + one.failed),
        cost_cell(one.cost_usd, usage, unknown="–"),
        TableCell(", ".join(one.agents)),
        TableCell(one.last, day_and_time(one.last)),
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


def _charts(store: Store, now: float, project: str) -> list[Chart]:
    rates = weekly_rates(store, now=now, weeks=WEEKS, project=project)
    return [rate_chart(rates, now=now), spending_chart(store, now=now, days=7 * WEEKS, project=project)]


def _shown(store: Store, row: ProjectRow, asked: str) -> ProjectPage:
    folders = folders_of(store, row.key)
    known = {one.folder for one in folders}
    # Only folders that sessions ran in: the address must not choose which files are looked at.
    if asked and asked not in known:
        raise NotFound(f"No session of this project ran in {asked[:200]!r}. Choose one of its folders.")
    folder = asked or next((one.folder for one in folders[:_FOLDERS] if Path(one.folder).is_dir()), "")
    view = lesson_view(store, row.key, Path(folder) if folder else None, refreshed=False)
    commands = [one for one in view.lessons if one.kind == "command"]
    lines = [LineCard(one, _command(one), [session_cell(ref, store) for ref in one.sessions]) for one in commands]
    is_checked = bool(folder) and Path(folder).is_dir()
    mistakes = mistake_table(store, [one for one in view.lessons if one.kind == "repair"])
    return ProjectPage(row, view, lines, mistakes, folders[:_FOLDERS], folder, is_checked)


def _command(entry: LessonEntry) -> str:
    return entry.form if not entry.text or entry.text.endswith("…") else entry.text


def mistake_table(store: Store, lessons: Sequence[LessonEntry]) -> Table:
    """Errors that came back, each with what sessions see about it, or why they see nothing."""
    rows = [
        (
            TableCell(one.error),
            TableCell(one.form or None),
            TableCell(one.among),
            TableCell(one.calls_lost),
            TableCell(one.said or f"nothing: {one.reason}", has_code=True),
            TableCell(one.last, day_and_time(one.last)),
            session_cell(one.sessions[0], store) if one.sessions else TableCell(None),
        )
        for one in lessons[:_MISTAKES]
    ]
    return Table(
        name="mistakes",
        title="Recurring errors",
        columns=MISTAKE_COLUMNS,
        rows=rows,
        note="A session sees each hint once, as one line, and never what fails.",
        empty="No error occurred in more than one session so far.",
    )
