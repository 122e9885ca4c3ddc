"""The insight page: the report on all sessions, computed in the background, with interactive plots."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.report.page.plots import Plot, plots
from seasoned.report.page.sections import PARTS, words
from seasoned.report.report import Report, revision
from seasoned.web.cache import CacheLookup, TellProgress, look_up_project, run_in_process
from seasoned.web.display import session_link
from seasoned.web.history_store import HistoryStore, histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router
from seasoned.web.table import Table, answer, choice_of, plot_table

PAGE = Page("Insight", "insight")
router = page_router()
# What a figure of the headline is made of.
_LINKS = {"Sessions": "sessions", "Errors that recur": "#errors", "Cost": "usage"}


class ReportPage(msgspec.Struct, frozen=True):
    """A report ready to be put on a page."""

    report: Report
    plots: dict[str, Plot]
    words: dict[str, Any]
    tables: tuple[Table, ...]


@router.get("/insight")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show the last report on all sessions."""
    now = await histories_of(request).read(revision)
    chosen = await histories_of(request).read(lambda store: choice_of(store, request))
    found: CacheLookup[ReportPage] = (
        await look_up_project(request, "insight", "Making the report", now, chosen.key, _made)
        if now.sessions
        else CacheLookup(None)
    )
    shown = found.value
    return answer(
        request,
        here,
        "insight.html",
        tables=() if shown is None else shown.tables,
        plots=() if shown is None else tuple(shown.plots.values()),
        has_sessions=now.sessions > 0,
        found=found,
        shown=shown,
        parts=PARTS,
        links={name: chosen.link(link) for name, link in _LINKS.items()},
        project=chosen,
        met=[] if shown is None else _met(shown.report),
    )


def _made(histories: HistoryStore, tell: TellProgress, project: str | None) -> ReportPage:
    data = run_in_process("seasoned.report.report", histories, tell, project, what="The report")
    return page_of(msgspec.msgpack.decode(data, type=Report))


def _met(report: Report) -> list[list[tuple[str, str]]]:
    """For each recurring error, links to a few sessions in which it occurred."""
    return [[(session_link(ref), ref) for ref in one.refs] for one in report.recurrences]


def page_of(report: Report) -> ReportPage:
    """Everything that the page shows of a report, computed once for all visitors."""
    drawn = {plot.name: plot for plot in plots(report)}
    return ReportPage(report, drawn, words(report), tuple([plot_table(plot) for plot in drawn.values() if plot.rows]))
