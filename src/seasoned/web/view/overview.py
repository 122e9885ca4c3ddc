"""The overview: what to do, what needs a decision, how sessions go, and what Seasoned did."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from seasoned.app.lessons import repair_entry
from seasoned.confirm.service.service import service_of
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import is_connected
from seasoned.lesson.advice import MOST
from seasoned.report.page import charts
from seasoned.report.page.plots import Plot
from seasoned.report.page.rows import figure_cells, figure_row, number, rate_between
from seasoned.report.trials import DaySums, Figure, over_time
from seasoned.store import DatabaseRow, Store
from seasoned.store.project import ProjectRow, list_projects
from seasoned.text import dollars, plural
from seasoned.web.display import (
    day_and_time,
    percent,
    project_link,
    session_link,
    sessions_link,
)
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router, redirect
from seasoned.web.table import Column, Table, TableCell, answer, choice_of, figure
from seasoned.web.view.advice import FoundAdvice, advice_for
from seasoned.web.view.projects import mistake_table, project_table
from seasoned.web.view.sessions import day_start, newest_sessions

PAGE = Page("Overview", "overview")
router = page_router()
_PROJECTS = 6


@router.get("/overview")
async def show(request: Request, here: Here) -> Response:
    """Show the overview."""
    chosen = await histories_of(request).read(lambda store: choice_of(store, request))
    if chosen.key is not None:
        # The page of a project is its overview.
        return redirect(f"{here.visit.path}/{project_link(chosen.key)}")
    service = service_of(request)
    histories = histories_of(request)
    days = await histories.read(lambda store: store.rows("page.days"))
    found = await advice_for(request)

    def ask(store: Store) -> dict[str, Any]:
        counts = _changes(store)
        return {
            "figures": _figures(days, store.row("usage.known")),
            "did": [*_did(store, counts.get("kept", 0)), *_used(found)],
            "tables": (
                _projects(list_projects(store)[:_PROJECTS], found),
                _mistakes(store, found),
                newest_sessions(store),
            ),
            "learned": counts.get("staged", 0),
            "wrong": _went_wrong(store, histories.now(store)),
        }

    return answer(
        request,
        here,
        "overview.html",
        plots=(_plot(over_time(days)),),
        is_empty=not days,
        found=found,
        most=MOST,
        is_connected=any(is_connected(agent, home=service.config.home) for agent in AGENTS),
        is_sample=histories.is_sample,
        project=chosen,
        project_link=project_link,
        session_link=session_link,
        waiting=await service.pending_count(),
        **await histories.read(ask),
    )


def _changes(store: Store) -> dict[str, int]:
    """How many changes to memory and skills are in each state."""
    counts: dict[str, int] = {}
    for row in store.rows("learned.counts"):
        counts[row["state"]] = counts.get(row["state"], 0) + row["changes"]
    return counts


# What went wrong when: the first and the last day, counted back from today.
_PERIODS = {"today": (0, 0), "yesterday": (1, 1), "in the last 7 days": (6, 0)}


def _went_wrong(store: Store, now: float) -> list[dict[str, str]]:
    """The failed calls of the last days, each with a link to their sessions; none for a day without them."""
    today = datetime.fromtimestamp(now, UTC).date()
    found = []
    for period, (first, last) in _PERIODS.items():
        days = [str(today - timedelta(days=back)) for back in (first, last)]
        between = {"since": day_start(days[0]), "until": day_start(days[1]) + 86_400}
        row = store.row("page.failed_between", between)
        if row is not None and row["sessions"]:
            link = sessions_link(since=days[0], until=days[1], outcome="failures", sort="-failed")
            said = f"{plural(row['failed'], 'failed call')} in {plural(row['sessions'], 'session')} {period}"
            found.append({"said": said, "href": link})
    return found


def _figures(days: Sequence[DatabaseRow], known: DatabaseRow | None) -> list[dict[str, Any]]:
    total = {name: sum(row[name] for row in days) for name in ("sessions", "messages", "calls", "failed", "unclear")}
    rate = DaySums(days).rate()
    priced, cost = (known["sessions"], known["usd"]) if known is not None else (0, None)
    shown = "–" if rate.value is None else f"{100 * rate.value:.1f} %"
    between = rate.reason or "" if rate.interval is None else f"between {rate_between(rate)}"
    known_of = f"known of {number(priced)} sessions" if priced else "of no session known"
    failures = sessions_link(outcome="failures", sort="-failed")
    return [
        figure("Sessions", number(total["sessions"]), f"{number(total['messages'])} messages", "sessions"),
        figure("Calls", number(total["calls"]), f"{number(total['unclear'])} unclear", "insight"),
        figure("Failed calls", number(total["failed"]), href=failures),
        figure("Error rate", shown, between, "insight"),
        figure("Cost", dollars(cost), known_of, "usage"),
    ]


# What each place is called that a session sees something at.
_PLACES = {
    "start": "Shown at the start",
    "prompt": "Shown at the first prompt",
    "before": "Hinted before a call",
    "after": "Hinted after a failure",
    "memory": "Shown from memory",
}


def _did(store: Store, kept: int) -> list[dict[str, Any]]:
    """What sessions were shown, and what was kept of them."""
    told = {row["place"]: row for row in store.rows("receipt.places")}
    found = [
        figure(
            name,
            number(told[place]["conversations"]),
            f"{plural(told[place]['conversations'], 'session')}, last {day_and_time(told[place]['last'])}",
            "sessions",
        )
        for place, name in _PLACES.items()
        if place in told
    ]
    if kept:
        found.append(figure("Kept", number(kept), "notes and skills", "learned"))
    return found


def _used(found: FoundAdvice) -> list[dict[str, Any]]:
    """Of what the newest sessions were shown, what they used."""
    use = None if found.gathered is None else found.gathered.use
    if use is None or not use.shown:
        return []
    note = f"{use.used} of {plural(use.shown, 'line')} in the newest {plural(use.conversations, 'session')}"
    return [figure("Used", percent(use.used, use.shown), note)]


def _projects(projects: Sequence[ProjectRow], found: FoundAdvice) -> Table:
    """The projects, with their repeated mistakes as far as they have been counted."""
    table = project_table(projects)
    known = {} if found.gathered is None else found.gathered.recurring
    cells = [
        TableCell(known.get(one.key), href=f"{project_link(one.key)}#table-mistakes" if one.key in known else None)
        for one in projects
    ]
    # Beside the error rate, and without the key, which the page of the project shows.
    rows = [(row[0], *row[2:6], cell, *row[6:]) for row, cell in zip(table.rows, cells, strict=True)]
    column = Column("mistakes", "Repeated mistakes", is_number=True)
    columns = (table.columns[0], *table.columns[2:6], column, *table.columns[6:])
    return msgspec.structs.replace(table, title="By project", rows=rows, columns=columns)


def _plot(figures: tuple[Figure, ...]) -> Plot:
    has_any = any(figure.rate.value is not None for figure in figures)
    return Plot(
        "rate",
        "Error rate over time",
        "The error rate of the sessions that began in each span, with its 95 % interval over sessions.",
        "What changed: model, agent, tasks and tools all change with time.",
        charts.band([figure_row(figure) for figure in figures if figure.calls], title="session began", is_time=True)
        if has_any
        else None,
        ("from", "error rate", "interval", "level", "failed", "calls", "sessions"),
        tuple((figure.label, *figure_cells(figure)) for figure in figures),
        key=(("line", "error rate"), ("rule", "its interval")),
        reason=None if has_any else "No session with a call that counts has a date.",
    )


def _mistakes(store: Store, found: FoundAdvice) -> Table:
    """The errors of all projects that cost most calls."""
    costly = () if found.gathered is None else found.gathered.costly
    return mistake_table(store, [repair_entry(one) for one in costly])
