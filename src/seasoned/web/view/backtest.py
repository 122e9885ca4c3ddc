"""The backtest page: what sessions would have seen and whether it was right, computed in the background."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.backtest import FEWEST_CONVERSATIONS, BacktestAnswer
from seasoned.backtest.page import (
    LIMIT,
    MEANINGS,
    BacktestCell,
    BacktestTable,
    SeenSession,
    comparison,
    headline,
    seen,
    tables,
)
from seasoned.insight.page.plots import Plot
from seasoned.insight.report import Revision, revision
from seasoned.web.cache import CacheLookup, TellProgress, cache_of, look_up_project, run_in_process
from seasoned.web.display import project_link, session_link
from seasoned.web.history_store import HistoryStore, histories_of
from seasoned.web.login import Here, Visitor, read_change
from seasoned.web.response import HEADERS, Page, page_router, redirect
from seasoned.web.table import Column, ProjectChoice, Table, TableCell, answer, choice_of, figure, plain, plot_table

PAGE = Page("Backtest", "backtest", is_rare=True)
router = page_router()
_NEEDED = ("numpy", "scipy")
_SEEN_COLUMNS = tuple(Column(name, name) for name in ("session", "project", "started", "place", "text", "outcome"))


class BacktestPage(msgspec.Struct, frozen=True):
    """A backtest ready to be put on a page."""

    answer: BacktestAnswer
    plot: Plot
    figures: list[dict[str, Any]]
    tables: tuple[Table, ...]
    seen: tuple[SeenSession, ...]


@router.get("/backtest")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show the last backtest over all projects, or over one."""
    return await _page(request, here)


@router.post("/backtest/make")
async def make(request: HTTPRequest, here: Here) -> Response:
    """Replay the sessions again, now."""
    await read_change(request, here)
    now, chosen = await _asked(request)
    await _seen(request, now, chosen.key, is_asked=True)
    return redirect(f"{here.visit.path}/{PAGE.path}{chosen.query}")


@router.get("/backtest/backtest.json")
async def whole(request: HTTPRequest, here: Here) -> Response:
    """Return the figures as JSON, as the command line prints them with --json."""
    now, chosen = await _asked(request)
    found = await _seen(request, now, chosen.key)
    if found.value is None:
        return await _page(request, here)
    data = {"schema": "seasoned/backtest/1", **msgspec.to_builtins(found.value.answer.found), "project": chosen.key}
    return Response(msgspec.json.encode(data), media_type="application/json", headers=HEADERS)


async def _page(request: HTTPRequest, here: Visitor) -> Response:
    now, chosen = await _asked(request)
    missing = [name for name in _NEEDED if find_spec(name) is None]
    found: CacheLookup[BacktestPage] = (
        CacheLookup(None) if missing or not now.sessions else await _seen(request, now, chosen.key)
    )
    shown = found.value
    return answer(
        request,
        here,
        "backtest.html",
        tables=() if shown is None else shown.tables,
        plots=() if shown is None else (shown.plot,),
        missing=missing,
        has_sessions=now.sessions > 0,
        found=found,
        shown=shown,
        project=chosen,
        project_page="" if chosen.key is None else project_link(chosen.key),
        limit=LIMIT,
        meanings=MEANINGS,
        session_link=session_link,
        fewest=FEWEST_CONVERSATIONS,
    )


async def _asked(request: HTTPRequest) -> tuple[Revision, ProjectChoice]:
    return await histories_of(request).read(lambda store: (revision(store), choice_of(store, request)))


def last_backtest(request: HTTPRequest, project: str, now: Revision) -> tuple[list[dict[str, Any]], float] | None:
    """The main figures of a project's last backtest and its time; none is made for that, since it takes minutes."""
    found = cache_of(request).last(f"backtest of {project}")
    if found is None or (isinstance(found.revision, Revision) and now.takes_back(found.revision)):
        return None
    page = f"{PAGE.path}?{urlencode({'project': project})}"
    return [{**one, "href": f"{page}{one['href']}"} for one in found.value.figures], found.made_at


async def _seen(
    request: HTTPRequest, now: Revision, project: str | None, *, is_asked: bool = False
) -> CacheLookup[BacktestPage]:
    return await look_up_project(request, "backtest", "Replaying sessions", now, project, _made, is_asked=is_asked)


def _made(histories: HistoryStore, tell: TellProgress, project: str | None) -> BacktestPage:
    data = run_in_process("seasoned.app.backtest", histories, tell, project, what="The backtest")
    return page_of(msgspec.msgpack.decode(data, type=BacktestAnswer))


def page_of(made: BacktestAnswer) -> BacktestPage:
    """What the page shows of a backtest, computed once for all visitors."""
    plot = comparison(made.found.all)
    links = {"Answered": "#table-hints", "Right hints": "#seen", "False hints": "#table-hints"}
    figures = [
        figure(name, plain(value), plain(note), links.get(name, "#table-start"))
        for name, value, note in headline(made.found.all)
    ]
    listed = seen(made.found, made.recent)
    found = (*map(_table, tables(made.found)), plot_table(plot), _seen_table(listed))
    return BacktestPage(made, plot, figures, found, listed)


def _table(one: BacktestTable) -> Table:
    return Table(
        name=one.name,
        title=one.title,
        columns=tuple(Column(name, title, is_number=is_number) for name, title, is_number in one.columns),
        rows=[tuple(map(_cell, row)) for row in one.rows],
        empty="No project has enough sessions.",
        note=plain(one.lead),
    )


def _cell(one: BacktestCell) -> TableCell:
    return TableCell(one.value, plain(one.shown), project_link(one.project) if one.project else None)


def _seen_table(seen: Sequence[SeenSession]) -> Table:
    """The list for programs; people see it by session."""
    rows = [
        tuple(map(TableCell, (one.session, one.project, one.started, thing.place, thing.text, thing.outcome)))
        for one in seen
        for thing in one.things
    ]
    return Table(name="seen", title="What sessions would have seen", columns=_SEEN_COLUMNS, rows=rows, empty="Nothing.")
