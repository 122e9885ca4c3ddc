"""The page of a team's server: projects in numbers, what their sessions learned, and for admins the machines."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.service.waiting import StoreThreads
from seasoned.errors import NotFound
from seasoned.insight.page.rows import number
from seasoned.team import server
from seasoned.text import dollars
from seasoned.web.display import moment
from seasoned.web.login import Decider, Here, Visitor
from seasoned.web.response import Page, PageRoute
from seasoned.web.table import Column, Table, TableCell, answer, numbers

PAGE = Page("Team", "team")
router = APIRouter(prefix="/visit/{number}", include_in_schema=False, route_class=PageRoute)
_PROJECTS = (
    Column("project", "project"),
    *numbers(people="people", sessions="sessions", calls="calls", failed="failed", tokens="tokens", cost_usd="cost"),
    Column("last", "last session"),
)
_LINES = (Column("command", "command"), Column("purpose", "for"), *numbers(sessions="sessions"))
_REPAIRS = (Column("fails", "fails here"), Column("works", "works instead"))
_MACHINES = (
    Column("machine", "machine"),
    Column("person", "person"),
    Column("pushed_at", "last push"),
    *numbers(records="records", bytes="bytes"),
    Column("left_at", "left"),
)


def _threads(request: HTTPRequest) -> StoreThreads:
    found: StoreThreads = request.app.state.team
    return found


@router.get("/team")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show the projects of the team, and to an admin its machines."""
    found = await _threads(request).read(lambda book: server.projects(book.database))
    tables = [_projects_table(found)]
    if _is_admin(here):
        tables.append(_machines_table(await _threads(request).read(lambda book: server.machines(book.database))))
    return answer(request, here, "team.html", tables=tables, project=None)


@router.get("/team/project")
async def show_project(request: HTTPRequest, here: Here, key: str) -> Response:
    """Show what the sessions of one project have learned, without names."""
    known = await _threads(request).read(lambda book: server.projects(book.database))
    if key not in {one.project for one in known}:
        raise NotFound("No machine of the team shares this project.")
    found = await _threads(request).read(lambda book: server.lessons(book.database, key))
    lines = [
        (TableCell(line.text), TableCell(line.purpose), TableCell(line.lineages, number(line.lineages)))
        for line in found.lines
    ]
    repairs = [(TableCell(form), TableCell(text)) for form, text in found.repairs]
    empty = "Too few sessions agree so far."
    tables = (
        Table(name="lines", title="What sessions run here", columns=_LINES, rows=lines, empty=empty),
        Table(name="repairs", title="What fails and what works", columns=_REPAIRS, rows=repairs, empty=empty),
    )
    return answer(request, here, "team.html", tables=tables, project=key)


def _is_admin(here: Visitor) -> bool:
    return isinstance(here, Decider) and here.who.role == "admin"


def _projects_table(found: list[server.ProjectTotals]) -> Table:
    rows = []
    for one in found:
        known = [count for count in (one.input_tokens, one.output_tokens) if count is not None]
        tokens = sum(known) if known else None
        rows.append(
            (
                TableCell(one.project, href=f"team/project?key={one.project}"),
                TableCell(one.people, number(one.people)),
                TableCell(one.sessions, number(one.sessions)),
                TableCell(one.calls, number(one.calls or 0)),
                TableCell(one.failed, number(one.failed or 0)),
                TableCell(tokens, "unknown" if tokens is None else number(tokens)),
                TableCell(one.cost_usd, dollars(one.cost_usd, unknown="unknown")),
                TableCell(one.last, "" if one.last is None else moment(one.last)),
            )
        )
    return Table(
        name="projects",
        title="Projects",
        columns=_PROJECTS,
        rows=rows,
        empty="No machine has pushed anything yet. Invite one with `seasoned team invite PERSON`.",
        note="Over all machines, without names.",
    )


def _machines_table(found: list[server.Volume]) -> Table:
    rows = [
        (
            TableCell(one.name),
            TableCell(one.person),
            TableCell(one.pushed_at, "never" if one.pushed_at is None else moment(one.pushed_at)),
            TableCell(one.records, number(one.records)),
            TableCell(one.bytes, number(one.bytes)),
            TableCell(one.left_at, "" if one.left_at is None else moment(one.left_at)),
        )
        for one in found
    ]
    return Table(
        name="machines",
        title="Machines",
        columns=_MACHINES,
        rows=rows,
        empty="No machine has joined yet.",
        note="For admins. When and how much, nothing of what. `seasoned team remove MACHINE` removes one.",
    )
