"""The insight page: what the report on all sessions says, computed in the background, and the report itself."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request as HTTPRequest
from starlette.responses import HTMLResponse, Response

from seasoned.errors import NotFound
from seasoned.report.page.sections import render, words
from seasoned.report.report import Report, revision
from seasoned.web.display import session_link, sessions_link
from seasoned.web.history_store import CacheLookup, histories_of, look_up
from seasoned.web.login import Here
from seasoned.web.response import HEADERS, Page, page_router
from seasoned.web.table import ProjectChoice, answer, choice_of

PAGE = Page("Insight", "insight")
router = page_router()


@router.get("/insight")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show the verdict and the mistakes of the last report."""
    found, chosen, has_sessions = await _look(request)
    made = found.value
    values: dict[str, Any] = {} if made is None else {"report": made, "words": words(made), "met": _met(made)}
    return answer(
        request,
        here,
        "insight.html",
        has_sessions=has_sessions,
        found=found,
        # What a figure of the headline is made of.
        links={"Sessions": sessions_link(project=chosen.key), "Mistakes that recur": "#errors"},
        project=chosen,
        **values,
    )


@router.get("/insight/report")
async def show_report(request: HTTPRequest, here: Here) -> Response:
    """The report with its plots: the same page that `seasoned report` writes."""
    found, _, _ = await _look(request)
    if found.value is None:
        raise NotFound("The report is not there yet. Open the page of insight first.")
    # Its own policy allows exactly the scripts and the style that it holds.
    headers = {name: value for name, value in HEADERS.items() if name != "content-security-policy"}
    return HTMLResponse(render(found.value), headers=headers)


async def _look(request: HTTPRequest) -> tuple[CacheLookup[Report], ProjectChoice, bool]:
    now, chosen = await histories_of(request).read(lambda store: (revision(store), choice_of(store, request)))
    if not now.sessions:
        return CacheLookup(None), chosen, False
    return look_up(request, "seasoned.report.report", Report, "Making the report", now, chosen.key), chosen, True


def _met(report: Report) -> list[list[tuple[str, str]]]:
    """For each recurring error, links to a few sessions in which it occurred."""
    return [[(session_link(ref), ref) for ref in one.refs[:3]] for one in report.recurrences]
