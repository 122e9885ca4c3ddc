"""The list of sessions and search: by words, agent, task, length and outcome, page by page."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from seasoned.errors import UsageError
from seasoned.project import name_of
from seasoned.store import DatabaseRow, Store
from seasoned.store.search import VERDICTS, SearchAnswer, SearchFilter, SearchHit, fill, pattern_of, search
from seasoned.text import dollars
from seasoned.web.chart import Chart, calendar
from seasoned.web.display import session_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router
from seasoned.web.table import (
    PAGE_ROWS,
    Column,
    ProjectChoice,
    Table,
    TableCell,
    answer,
    choice_of,
    cursor_place,
    name_cell,
    rate_cell,
    row_offset,
    sort_order,
)
from seasoned.web.view import session

PAGE = Page("Sessions", "sessions")
router = page_router()
# 2**62 stands for no limit.
LENGTHS = {"short": (0, 49), "medium": (50, 99), "long": (100, 2**62)}
# Fewest and most failed calls, and the label of the whole task.
OUTCOMES: dict[str, tuple[int, int, int | None]] = {
    "failures": (1, 2**62, None),
    "flawless": (0, 0, None),
    "succeeded": (0, 2**62, 1),
    "unsuccessful": (0, 2**62, 0),
}
_NEWEST = 8
COLUMNS = (
    Column("session", "Session"),
    Column("agent", "Agent", is_minor=True, no_wrap=True),
    Column("at", "When", is_time=True, can_sort=True),
    Column("task_type", "Task", is_minor=True),
    Column("messages", "Messages", is_number=True, can_sort=True, is_minor=True),
    Column("calls", "Calls", is_number=True, can_sort=True, is_minor=True),
    Column("failed", "Failed", is_number=True, can_sort=True),
    Column("rate", "Error rate", is_number=True, can_sort=True, is_minor=True),
    Column("cost", "Cost", is_number=True, can_sort=True),
)
_LONGEST_SEARCH = 200


class SessionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """The filters of the form; an empty text filters nothing."""

    q: str = ""
    agent: str = ""
    task: str = ""
    length: str = ""
    outcome: str = ""
    tool: str = ""
    project: str = ""
    since: str = ""
    until: str = ""

    @property
    def is_all(self) -> bool:
        return not any(msgspec.structs.astuple(self))


@router.get("/sessions")
async def show(request: Request, here: Here) -> Response:
    """List the sessions that match the filters, the newest first or as sorted."""
    asked = request.query_params
    wanted = SessionFilter(
        **{name: asked.get(name, "").strip()[:_LONGEST_SEARCH] for name in SessionFilter.__struct_fields__}
    )
    sort = sort_order(request, COLUMNS, "at")
    given = params(wanted, sort, asked.get("after"), PAGE_ROWS)

    histories = histories_of(request)

    def look(store: Store) -> tuple[Table, list[str], ProjectChoice, Chart]:
        chosen = choice_of(store, request)
        rows = store.rows("page.sessions", {**given, "project": chosen.key})
        found = _table(rows, wanted, sort, has_previous=asked.get("after") is not None)
        agents = [row["agent"] for row in store.rows("page.agents")]
        return found, agents, chosen, calendar(store, now=histories.now(store))

    table, agents, chosen, days = await histories.read(look)
    return answer(
        request,
        here,
        "sessions.html",
        tables=(table,),
        wanted=wanted,
        agents=agents,
        project=chosen,
        chart=days,
    )


def params(wanted: SessionFilter, sort: str, after: str | None, limit: int) -> dict[str, Any]:
    """The parameters of a query for the list."""
    least, most = LENGTHS.get(wanted.length, (0, 2**62))
    least_failed, most_failed, succeeded = OUTCOMES.get(wanted.outcome, (0, 2**62, None))
    until = math.inf if not wanted.until else day_start(wanted.until) + 86_400
    # A cursor is the sort value and the id of the last row; the first page begins above every row.
    at, last = (math.inf, 2**62) if after is None else cursor_place(after)
    return {
        "order": sort,
        "sort": at,
        "id": last,
        "agent": wanted.agent or None,
        "task_type": wanted.task or None,
        "least": least,
        "most": most,
        "least_failed": least_failed,
        "most_failed": most_failed,
        "succeeded": succeeded,
        "since": -math.inf if not wanted.since else day_start(wanted.since),
        "until": until,
        "words": pattern_of(wanted.q) if wanted.q else None,
        "tool": wanted.tool or None,
        "project": wanted.project or None,
        # One more than is shown says whether there is a next page.
        "limit": limit + 1,
    }


def day_start(text: str) -> float:
    """When a day in UTC begins, as addresses name it."""
    try:
        return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"A day is written as {date.min + timedelta(days=737_000)}, not {text[:40]!r}.") from error


def _table(rows: list[Any], wanted: SessionFilter, sort: str, *, has_previous: bool) -> Table:
    shown = rows[:PAGE_ROWS]
    after = f"{float(shown[-1][sort])!r}_{shown[-1]['id']}" if len(rows) > PAGE_ROWS else None
    empty = "No sessions match. Remove a word or a filter."
    if wanted.is_all:
        empty = (
            "No sessions yet: `seasoned scan` reads the histories that your agents keep, `seasoned scan PATH` others."
        )
    return Table(
        name="sessions",
        title="Sessions",
        columns=COLUMNS,
        rows=[line(row) for row in shown],
        empty=empty,
        sort=sort,
        after=after,
        has_previous=has_previous,
    )


def line(row: DatabaseRow) -> tuple[TableCell, ...]:
    """One session in a list."""
    name = name_cell(row)
    link = name.href
    counted = row["ok"] + row["failed"]
    cost = row["cost"] if row["cost"] >= 0 else None
    failed = "failed" if row["failed"] else ""
    return (
        name,
        TableCell(row["agent"]),
        TableCell(row["at"] or None),
        TableCell(row["task_type"]),
        TableCell(row["messages"], href=link),
        TableCell(row["calls"], href=f"{link}#table-calls"),
        TableCell(row["failed"], href=f"{link}?show=failed#table-calls" if row["failed"] else None, tone=failed),
        rate_cell(row["failed"], counted),
        # An estimate by published prices where the agent recorded no cost.
        TableCell(cost, dollars(cost) if cost is None or row["cost_usd"] is not None else f"~{dollars(cost)}"),
    )


# The page of one session is below the list, so it has no entry in the navigation.
router.include_router(session.router)


def newest_sessions(store: Store, *, project: str = "") -> Table:
    """The newest sessions, of one project or of all."""
    # `params` asks for one row more than it is given.
    rows = store.rows("page.sessions", params(SessionFilter(project=project), "at", None, _NEWEST - 1))
    return Table(
        name="newest",
        title="Newest sessions",
        columns=tuple(msgspec.structs.replace(column, can_sort=False) for column in COLUMNS),
        rows=[line(row) for row in rows],
        empty="No sessions yet: `seasoned scan` reads the histories that your agents keep.",
    )


# A page waits so long for sessions that were just read; the rest is indexed in the background.
_FILL_SECONDS = 0.05
_DAY_SECONDS = 86_400
_WHO = {"title": "Title", "person": "You", "agent": "Agent"}


@router.get("/search")
async def show_search(request: Request, here: Here) -> Response:
    """Find sessions by words, those first in which they stand closest together."""
    asked = {
        name: request.query_params.get(name, "").strip()[:_LONGEST_SEARCH]
        for name in ("q", "agent", "tool", "verdict", "since", "until")
    }
    if asked["verdict"] and asked["verdict"] not in VERDICTS:
        raise UsageError(f"A verdict is one of {', '.join(VERDICTS)}.")
    after = request.query_params.get("after")

    def look(store: Store) -> tuple[SearchAnswer | None, list[str], ProjectChoice, str]:
        chosen = choice_of(store, request)
        fill(store, within_seconds=_FILL_SECONDS)
        agents = [row["agent"] for row in store.rows("page.agents")]
        wanted = _filter(asked, chosen.key)
        first = row_offset(after)
        try:
            found = search(store, asked["q"], wanted, limit=PAGE_ROWS, after=first) if asked["q"] else None
        except UsageError as error:
            return None, agents, chosen, str(error)
        return found, agents, chosen, ""

    found, agents, chosen, problem = await histories_of(request).read(look)
    hits = [_shown_hit(hit) for hit in found.hits] if found else []
    return answer(
        request,
        here,
        "search.html",
        hits=hits,
        found=found,
        asked=asked,
        agents=agents,
        verdicts=VERDICTS,
        project=chosen,
        problem=problem,
        after=row_offset(after) + PAGE_ROWS if found is not None and found.has_more else None,
        has_previous=after is not None,
    )


def _filter(asked: dict[str, str], project: str | None) -> SearchFilter:
    return SearchFilter(
        project=project,
        agent=asked["agent"] or None,
        tool=asked["tool"] or None,
        verdict=asked["verdict"] or None,
        since=day_start(asked["since"]) if asked["since"] else None,
        until=day_start(asked["until"]) + _DAY_SECONDS if asked["until"] else None,
    )


def _shown_hit(hit: SearchHit) -> dict[str, Any]:
    session, place = hit.session, hit.place
    is_call = place.position is not None
    return {
        "name": name_cell(session),
        "href": _hit_link(hit),
        "at": session["ended"] or session["started"],
        "agent": session["agent"],
        "project": session["project"],
        "project_name": name_of(session["project"]) if session["project"] else "",
        "who": f"Call {(place.position or 0) + 1}" if is_call else _WHO[place.by],
        "verdict": place.verdict,
        "pieces": hit.pieces,
        "more": hit.lines - 1,
    }


def _hit_link(hit: SearchHit) -> str:
    """The page of the session, opened at the place."""
    place = hit.place
    link = session_link(f"{hit.session['agent']}:{hit.session['native_id']}")
    if place.by == "title":
        return link
    anchor = f"message-{place.message}" if place.position is None else f"call-{place.position}"
    return f"{link}?{urlencode({'at': place.message})}#{anchor}"
