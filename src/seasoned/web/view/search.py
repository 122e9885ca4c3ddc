"""The page of search: sessions by what was said and done in them, each with the place."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from seasoned.errors import UsageError
from seasoned.project import name_of
from seasoned.store import Store
from seasoned.store.full_text import VERDICTS, SearchAnswer, SearchFilter, SearchHit, fill, search
from seasoned.web.display import day_and_time, session_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.project import ProjectChoice, choice_of
from seasoned.web.response import PageRoute
from seasoned.web.table import Column, Table, TableCell, answer, name_cell, place_after, row_limit

router = APIRouter(include_in_schema=False, route_class=PageRoute)
_LONGEST = 200
# A page waits so long for sessions that were just read; the rest is indexed in the background.
_FILL_SECONDS = 0.05
_DAY_SECONDS = 86_400
_WHO = {"title": "Title", "person": "You", "agent": "Agent"}
_COLUMNS = (
    Column("session", "Session"),
    Column("at", "When", is_whole=True),
    Column("project", "Project"),
    Column("message", "Message", is_number=True),
    Column("by", "Said by"),
    Column("tool", "Tool"),
    Column("verdict", "Verdict"),
    Column("snippet", "Found"),
)


@router.get("/search")
async def show(request: Request, here: Here) -> Response:
    """Find sessions by words, the newest first."""
    asked = {
        name: request.query_params.get(name, "").strip()[:_LONGEST]
        for name in ("q", "agent", "tool", "verdict", "since", "until")
    }
    if asked["verdict"] and asked["verdict"] not in VERDICTS:
        raise UsageError(f"A verdict is one of {', '.join(VERDICTS)}.")
    after = request.query_params.get("after")
    limit = row_limit(request)

    def look(store: Store) -> tuple[SearchAnswer | None, list[str], ProjectChoice, list[TableCell], str]:
        chosen = choice_of(store, request)
        fill(store, within_seconds=_FILL_SECONDS)
        agents = [row["agent"] for row in store.rows("page.agents")]
        wanted = _filter(asked, chosen.key)
        before = None if after is None else place_after(after)[1]
        try:
            found = search(store, asked["q"], wanted, limit=min(limit, 200), before=before) if asked["q"] else None
        except UsageError as error:
            return None, agents, chosen, [], str(error)
        names = [name_cell(hit.session, store) for hit in found.hits] if found else []
        return found, agents, chosen, names, ""

    found, agents, chosen, names, problem = await histories_of(request).read(look)
    hits = [_shown(hit, name) for hit, name in zip(found.hits, names, strict=True)] if found else []
    return answer(
        request,
        here,
        "search.html",
        tables=(_table(found, names),),
        hits=hits,
        found=found,
        asked=asked,
        agents=agents,
        verdicts=VERDICTS,
        project=chosen,
        problem=problem,
        after=None if found is None or found.before is None else f"0_{found.before}",
        is_later=after is not None,
    )


def _filter(asked: dict[str, str], project: str | None) -> SearchFilter:
    # Imported here: the list of sessions includes this page.
    from seasoned.web.view.sessions import day_start

    return SearchFilter(
        project=project,
        agent=asked["agent"] or None,
        tool=asked["tool"] or None,
        verdict=asked["verdict"] or None,
        since=day_start(asked["since"]) if asked["since"] else None,
        until=day_start(asked["until"]) + _DAY_SECONDS if asked["until"] else None,
    )


def _shown(hit: SearchHit, name: TableCell) -> dict[str, Any]:
    session, place = hit.session, hit.place
    is_call = place.position is not None
    return {
        "name": name,
        "href": _link(hit),
        "at": day_and_time(session["ended"] or session["started"]),
        "agent": session["agent"],
        "project": session["project"],
        "project_name": name_of(session["project"]) if session["project"] else "",
        "who": f"Call {(place.position or 0) + 1}" if is_call else _WHO[place.by],
        "verdict": place.verdict,
        "pieces": hit.pieces,
        "more": hit.lines - 1,
    }


def _link(hit: SearchHit) -> str:
    """The page of the session, opened at the place."""
    place = hit.place
    link = session_link(f"{hit.session['agent']}:{hit.session['native_id']}")
    if place.by == "title":
        return link
    anchor = f"message-{place.message}" if place.position is None else f"call-{place.position}"
    return f"{link}?{urlencode({'at': place.message})}#{anchor}"


def _table(found: SearchAnswer | None, names: list[TableCell]) -> Table:
    """The hits for programs."""
    rows = [
        (
            TableCell(name.value),
            TableCell(hit.session["ended"] or hit.session["started"]),
            TableCell(hit.session["project"]),
            TableCell(hit.place.message),
            TableCell(hit.place.by),
            TableCell(hit.place.tool),
            TableCell(hit.place.verdict),
            TableCell(hit.snippet),
        )
        for hit, name in zip(found.hits if found else (), names, strict=True)
    ]
    after = None if found is None or found.before is None else f"0_{found.before}"
    return Table(name="hits", title="Found", columns=_COLUMNS, rows=rows, empty="Nothing was found.", after=after)
