"""The pages of a team's server: projects, sessions and usage in numbers, what sessions learned, search, advice.

Members see numbers and lessons without names; admins also see machines and volumes, but no words of single sessions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, TypeVar

from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.stores import shared_database
from seasoned.app.team import team_advice
from seasoned.confirm.service.service import service_of
from seasoned.confirm.service.waiting import StoreThreads
from seasoned.errors import CannotDo, NotFound, Refused
from seasoned.insight.page.rows import number
from seasoned.store import Database
from seasoned.team import overview, server
from seasoned.text import dollars, plural
from seasoned.web.cache import CacheLookup, TellProgress, cache_of
from seasoned.web.display import experiment_link, short
from seasoned.web.login import Decider, Here, Visitor
from seasoned.web.response import Page, page_router
from seasoned.web.table import Column, Table, TableCell, answer, cost_cell, cursor_place, numbers, row_limit, time_cell

PAGE = Page("Team", "team", is_rare=True)
router = page_router()
_PROJECTS = (
    Column("project", "project"),
    *numbers(people="people", sessions="sessions", calls="calls", failed="failed", tokens="tokens", cost_usd="cost"),
    Column("last", "last session"),
)
_LINES = (Column("command", "command"), Column("purpose", "for"), *numbers(sessions="sessions"))
_REPAIRS = (Column("fails", "fails here"), Column("works", "works instead"))
_MISTAKES = (
    Column("tool", "tool"),
    Column("form", "call"),
    *numbers(sessions="sessions", people="people", failures="failures", repaired="repaired"),
)
_TOOLS = (Column("tool", "tool"), *numbers(calls="calls", failed="failed", sessions="sessions"))
_SESSIONS = (
    Column("last", "when", no_wrap=True),
    Column("project", "project"),
    Column("agent", "agent"),
    Column("model", "model"),
    *numbers(calls="calls", failed="failed", tokens="tokens", cost_usd="cost"),
    Column("member", "member"),
)
_EXPERIMENTS = (
    Column("experiment", "experiment"),
    Column("arms", "arms"),
    Column("begun", "begun by"),
    *numbers(machines="machines", sessions="sessions"),
)
_USAGE = numbers(sessions="sessions", calls="calls", input_tokens="input", output_tokens="output", cost_usd="cost")
_HITS = (
    Column("at", "pushed", no_wrap=True),
    Column("project", "project"),
    Column("tool", "tool"),
    Column("verdict", "verdict"),
    Column("text", "call"),
    Column("member", "member"),
)
_ADVICE = (
    Column("project", "project"),
    Column("what", "what to do"),
    Column("line", "line for the instructions"),
    Column("why", "why"),
    *numbers(people="people", calls="calls"),
)
_BYS: tuple[Literal["day", "project", "model", "agent"], ...] = ("day", "project", "model", "agent")
_LONGEST = 200
_FIRST_SECONDS = 60.0
_NOTHING = "No machine has pushed anything yet. Invite one with `seasoned team invite PERSON`."
T = TypeVar("T")
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


async def _read(request: HTTPRequest, look: Callable[[Database], T]) -> T:
    return await _threads(request).read(lambda book: look(book.database))


@router.get("/team")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show the projects of the team, and to an admin its machines."""
    tables = [_projects_table(await _read(request, server.projects))]
    if shared := await _read(request, overview.experiments):
        tables.append(_experiments_table(shared))
    if _is_admin(here):
        tables.append(_machines_table(await _read(request, server.machines)))
    return answer(request, here, "team.html", tables=tables, project=None)


@router.get("/team/project")
async def show_project(request: HTTPRequest, here: Here, key: str) -> Response:
    """Show what the sessions of one project have learned, without names."""
    known = await _read(request, server.projects)
    if key not in {one.project for one in known}:
        raise NotFound("No machine of the team shares this project.")
    found, known_mistakes, known_tools = await _kept(
        request,
        f"team project {key}",
        "What the team knows of a project",
        lambda book: (server.lessons(book, key), overview.mistakes(book, key), overview.tools(book, key)),
    )
    lines = [
        (TableCell(line.text), TableCell(line.purpose), TableCell(line.lineages, number(line.lineages)))
        for line in found.lines
    ]
    repairs = [(TableCell(form), TableCell(text)) for form, text in found.repairs]
    mistakes = [
        (TableCell(one.tool), TableCell(one.form), *_counts(one.sessions, one.people, one.failures, one.repaired))
        for one in known_mistakes
    ]
    tools = [(TableCell(one.tool), *_counts(one.calls, one.failed, one.sessions)) for one in known_tools]
    empty = "Too few sessions agree so far."
    never, newest = "Nothing failed in two sessions.", f"Of the newest {overview.NEWEST:,} sessions."
    tables = (
        Table(name="lines", title="What sessions run here", columns=_LINES, rows=lines, empty=empty),
        Table(name="repairs", title="What fails and what works", columns=_REPAIRS, rows=repairs, empty=empty),
        Table(name="mistakes", title="Mistakes", columns=_MISTAKES, rows=mistakes, empty=never, note=newest),
        Table(name="tools", title="Tools", columns=_TOOLS, rows=tools, empty="No calls were pushed.", note=newest),
    )
    return answer(request, here, "team.html", tables=tables, project=key)


def _counts(*values: int | None) -> tuple[TableCell, ...]:
    return tuple(TableCell(value, "unknown" if value is None else number(value)) for value in values)


@router.get("/team/sessions")
async def show_sessions(request: HTTPRequest, here: Here, key: str | None = None, after: str | None = None) -> Response:
    """Show the sessions of all machines, the newest first."""
    limit = row_limit(request)
    place = None if after is None else cursor_place(after)
    found = await _read(
        request, lambda database: overview.sessions(database, project=key, before=place, limit=limit + 1)
    )
    rows = [
        (
            time_cell(one.last),
            TableCell(one.project, href=f"team/project?key={one.project}"),
            TableCell(one.agent),
            TableCell(one.model, one.model or "unknown"),
            *_counts(one.calls, one.failed, one.tokens),
            cost_cell(one.cost_usd),
            TableCell(one.shown_as, one.shown_as or ""),
        )
        for one in found[:limit]
    ]
    more = f"{found[limit - 1].last}_{found[limit - 1].seq}" if len(found) > limit else None
    table = Table(
        name="sessions",
        title="Sessions",
        columns=_SESSIONS,
        rows=rows,
        empty=_NOTHING,
        note="Of all machines. A member is named only if they chose to be.",
        after=more,
        has_previous=after is not None,
    )
    return answer(request, here, "team.html", tables=(table,), project=None)


@router.get("/team/usage")
async def show_usage(request: HTTPRequest, here: Here) -> Response:
    """Show tokens and cost of all machines, and what is left of the budget of this month."""
    now = datetime.fromtimestamp(time.time(), UTC)
    month = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
    sums = await _kept(
        request,
        "team usage",
        "Tokens and cost of the team",
        lambda book: {by: overview.usage(book, by) for by in _BYS},
    )
    tables = [_usage_table(by, found) for by, found in sums.items()]
    spent = await _read(request, lambda database: overview.usage(database, "agent", since=month))
    known = [one.cost_usd for one in spent if one.cost_usd is not None]
    said = _budget_sentence(
        sum(known) if known else None,
        service_of(request).config.team.budget_usd,
        unpriced=sum(one.unpriced for one in spent),
    )
    return answer(request, here, "team.html", tables=tables, project=None, said=said)


def _usage_table(by: str, found: list[overview.TeamUsage]) -> Table:
    rows = [
        (
            TableCell(one.name, one.name or "unknown"),
            *_counts(one.sessions, one.calls, one.input_tokens, one.output_tokens),
            cost_cell(one.cost_usd),
        )
        for one in found
    ]
    return Table(name=by, title=f"By {by}", columns=(Column(by, by), *_USAGE), rows=rows, empty=_NOTHING)


def _budget_sentence(spent: float | None, budget: float | None, *, unpriced: int) -> str:
    without = f" The cost of {plural(unpriced, 'session')} is not known." if unpriced else ""
    if budget is None:
        none = "Set `budget_usd` under [team] to compare it with a budget."
        return f"This month so far: {dollars(spent, unknown='unknown')}.{without} {none}"
    share = "" if spent is None else f", {spent / budget:.0%} of it"
    return (
        f"Budget of this month: {dollars(budget)}; spent {dollars(spent, unknown='an unknown amount')}{share}.{without}"
    )


@router.get("/team/search")
async def show_search(request: HTTPRequest, here: Here, q: str = "", key: str | None = None) -> Response:
    """Find calls of all machines by words: commands, and what was said where members share that."""
    if not (isinstance(here, Decider) and here.who.role == "approver"):
        raise Refused("Search shows words of single sessions, which only members see. Log in as an approver.")
    limit = row_limit(request)
    words = q.strip()[:_LONGEST]
    found = (
        await _read(request, lambda database: overview.search(database, words, project=key, limit=limit))
        if words
        else []
    )
    rows = [
        (
            time_cell(one.at),
            TableCell(one.project, href=f"team/project?key={one.project}"),
            TableCell(one.tool),
            TableCell(one.verdict, tone=one.verdict),
            TableCell(one.text, short(one.text)),
            TableCell(one.shown_as, one.shown_as or ""),
        )
        for one in found
    ]
    table = Table(
        name="hits",
        title="Sessions found",
        columns=_HITS,
        rows=rows,
        empty="No session of the team has all of these words." if words else "Give words of a command.",
        note="The newest sessions with all words, each with the call that has most of them.",
    )
    return answer(request, here, "team.html", tables=(table,), project=None, asked=words)


@router.get("/team/advice")
async def show_advice(request: HTTPRequest, here: Here) -> Response:
    """Show what fails for several people, and what is worth doing about it."""
    redactor = service_of(request).secrecy.redactor()
    rows = [
        (
            TableCell(one.project, href=f"team/project?key={one.project}"),
            TableCell(one.what, has_code=True),
            TableCell(one.line, has_code=True),
            TableCell(one.why, has_code=True),
            *_counts(one.people, one.calls),
        )
        for one in await _kept(request, "team advice", "Advice for the team", lambda book: team_advice(book, redactor))
    ]
    table = Table(
        name="advice",
        title="Advice",
        columns=_ADVICE,
        rows=rows,
        empty="No advice: nothing has cost two people time.",
        note="What `seasoned advise` finds in one store, in the sessions of all, counted by person.",
    )
    return answer(request, here, "team.html", tables=(table,), project=None)


async def _kept(request: HTTPRequest, name: str, title: str, look: Callable[[Database], T]) -> T:
    """A slow answer from the cache, while a new one is computed if something was pushed since."""
    now, pages, config = await _read(request, overview.revision), cache_of(request), service_of(request).config
    earlier = pages.revision(name)
    # What was withdrawn must not be shown any more.
    if isinstance(earlier, overview.TeamRevision) and earlier.withdrawn != now.withdrawn:
        pages.drop(name)

    def find(_: TellProgress) -> T:
        with shared_database(config) as database:
            return look(database)

    # Only the very first page waits for all of it.
    wait = _FIRST_SECONDS if pages.last(name) is None else 0.0
    found: CacheLookup[T] = await pages.look(name, title, now, find, first_seconds=wait)
    if found.value is None:
        raise CannotDo("This is still being computed. Try again in a minute.")
    return found.value


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
                *_counts(one.people, one.sessions, one.calls or 0, one.failed or 0, tokens),
                cost_cell(one.cost_usd),
                time_cell(one.last, ""),
            )
        )
    return Table(
        name="projects",
        title="Projects",
        columns=_PROJECTS,
        rows=rows,
        empty=_NOTHING,
        note="Over all machines, without names.",
    )


def _experiments_table(found: list[overview.TeamExperiment]) -> Table:
    rows = [
        (
            TableCell(one.name, href=experiment_link(one.name)),
            TableCell(", ".join(one.arms)),
            TableCell("the server" if one.is_of_server else "a member"),
            *_counts(one.machines, one.sessions),
        )
        for one in found
    ]
    return Table(
        name="experiments",
        title="Experiments",
        columns=_EXPERIMENTS,
        rows=rows,
        empty="",
        note="Machines that name it in `experiments` under [team] take part. Only those with outcomes count.",
    )


def _machines_table(found: list[server.Volume]) -> Table:
    rows = [
        (
            TableCell(one.name),
            TableCell(one.person),
            time_cell(one.pushed_at, "never"),
            *_counts(one.records, one.bytes),
            time_cell(one.left_at, ""),
        )
        for one in found
    ]
    return Table(
        name="machines",
        title="Machines",
        columns=_MACHINES,
        rows=rows,
        empty="No machine has joined yet.",
        note="Only admins see this: when and how much, but not what. `seasoned team remove MACHINE` removes a machine.",
    )
