"""The overview on one screen: this week against last, what went wrong, what to do, what sessions saw."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from seasoned.app.review import week_of_reviews
from seasoned.command.call import brief_of
from seasoned.command.tool import tool_of
from seasoned.confirm.service.service import service_of
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import is_connected
from seasoned.lazy_regex import LazyRegex
from seasoned.project import name_of
from seasoned.report.page.rows import moment, number, rate_between
from seasoned.report.trials import rate_of_sums
from seasoned.store import DatabaseRow, Store
from seasoned.text import dollars, plural
from seasoned.web.chart import weekly_rates
from seasoned.web.display import percent, project_link, session_link, sessions_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router, redirect
from seasoned.web.table import answer, choice_of
from seasoned.web.view.inbox import FoundInbox, inbox_for

PAGE = Page("Overview", "overview")
router = page_router()
_WEEKS = 8
_WEEK_SECONDS = 7 * 86_400.0
_FAILURES = 6
_PROPOSALS = 3
# Of an error of several lines, the one that says what is wrong.
_TELLING = LazyRegex(r"error|fail|not found|cannot|no such|denied|unknown|invalid|missing", re.IGNORECASE)
_EXIT_CODE = LazyRegex(r"\s*(?:exit code|process exited).{0,40}\Z", re.IGNORECASE)
# What a harness puts around an error.
_MARKUP = LazyRegex(r"</?\w{1,30}>")
_SPARK_WIDTH, _SPARK_HEIGHT = 120, 28


class WeekTrend(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the last seven days, the one of the seven days before, and the line over eight weeks."""

    name: str
    value: str
    note: str
    href: str
    # The line: points of an SVG of 120 by 28, empty where nothing is known.
    points: str
    said: str


@router.get("/overview")
async def show(request: Request, here: Here) -> Response:
    """Show the overview."""
    histories, service = histories_of(request), service_of(request)
    chosen = await histories.read(lambda store: choice_of(store, request))
    if chosen.key is not None:
        # The page of a project is its overview.
        return redirect(f"{here.visit.path}/{project_link(chosen.key)}")
    found = await inbox_for(request)
    worth = [one for _, one in found.inbox.first(_PROPOSALS)] if found.inbox else []

    def ask(store: Store) -> dict[str, Any]:
        now = histories.now(store)
        return {
            "is_empty": not store.rows("session.native_ids", {"limit": 1}),
            "trends": _trends(store, now),
            "wrong": _went_wrong(store, now),
            "failures": _failures(store),
            "told": _told(store, found),
            "week": week_of_reviews(store, now=now),
        }

    return answer(
        request,
        here,
        "overview.html",
        found=found,
        worth=worth,
        is_connected=any(is_connected(agent, home=service.config.home) for agent in AGENTS),
        is_sample=histories.is_sample,
        waiting=await service.store.read(lambda book: book.pending_count()),
        **await histories.read(ask),
    )


def _trends(store: Store, now: float) -> list[WeekTrend]:
    """The last seven days against the seven before, the oldest week first."""
    weeks = weekly_rates(store, now=now, weeks=_WEEKS)
    costs = {row["weeks_ago"]: row["usd"] for row in store.rows("page.week_costs", {"last_hour": int(now // 3600)})}
    order = range(_WEEKS - 1, -1, -1)
    sessions = [weeks[at]["sessions"] if at in weeks else 0 for at in order]
    rates = [rate_of_sums(weeks[at]) if at in weeks else None for at in order]
    values = [None if rate is None else rate.value for rate in rates]
    spent = [costs.get(at) for at in order]
    this = rates[-1]
    between = f"95 % interval {rate_between(this)}, " if this is not None and this.interval is not None else ""
    day = str(datetime.fromtimestamp(now - _WEEK_SECONDS, UTC).date())
    shares = ["–" if value is None else f"{100 * value:.1f} %" for value in values]
    return [
        _trend("Sessions", [number(one) for one in sessions], sessions, sessions_link(since=day)),
        _trend("Error rate", shares, values, sessions_link(since=day, outcome="failures", sort="-failed"), between),
        _trend("Cost", [dollars(one) for one in spent], spent, "usage?days=7&by=project"),
    ]


def _trend(name: str, shown: list[str], values: Sequence[float | None], href: str, more: str = "") -> WeekTrend:
    return WeekTrend(
        name=name,
        value=shown[-1],
        note=f"{more}{shown[-2]} the week before",
        href=href,
        points=_points(values),
        said=f"{name} of the last {len(shown)} weeks: {', '.join(shown)}",
    )


def _points(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    top, step = max(known) or 1.0, _SPARK_WIDTH / (len(values) - 1)
    points = [(step * at, value) for at, value in enumerate(values) if value is not None]
    # Two pixels at the edges, so that the line is not cut.
    return " ".join([f"{x:.0f},{_SPARK_HEIGHT - 2 - (_SPARK_HEIGHT - 4) * value / top:.1f}" for x, value in points])


def _went_wrong(store: Store, now: float) -> dict[str, str] | None:
    """How much failed since yesterday, with a link to its sessions; None if nothing did."""
    first = datetime.fromtimestamp(now, UTC).date() - timedelta(days=1)
    since = datetime.combine(first, datetime.min.time(), UTC).timestamp()
    row = store.row("page.failed_since", {"since": since})
    if row is None or not row["sessions"]:
        return None
    link = sessions_link(since=str(first), outcome="failures", sort="-failed")
    return {"said": f"{plural(row['failed'], 'call')} in {plural(row['sessions'], 'session')}", "href": link}


def _failures(store: Store) -> list[dict[str, Any]]:
    """The newest failed calls; one that failed again with the same words is counted."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in store.rows("page.failed_calls", {"limit": 5 * _FAILURES}):
        one = _failure(row)
        found.setdefault((one["call"], one["error"]), {**one, "times": 0})["times"] += 1
    return list(found.values())[:_FAILURES]


def _failure(row: DatabaseRow) -> dict[str, Any]:
    """One failed call: what was done, what it said, and the way to it."""
    lines = [
        line for line in (row["result"] or "").splitlines() if line.strip() and not _EXIT_CODE.compiled.match(line)
    ]
    telling = next((line for line in lines if _TELLING.compiled.search(line)), lines[-1] if lines else row["reason"])
    ref = f"{row['agent']}:{row['native_id']}"
    brief = brief_of(row["arguments"])
    return {
        "call": brief if tool_of(row["tool"]).form == "shell" and brief else f"{row['tool']} {brief}",
        "error": _MARKUP.compiled.sub("", telling).strip(),
        "where": name_of(row["project"]) if row["project"] else row["agent"],
        "at": row["time"],
        "href": f"{session_link(ref)}?at={row['message']}#call-{row['position']}",
    }


# Where a session sees something, in the order of a session.
_PLACES = {
    "start": "at the start of",
    "prompt": "at the first prompt of",
    "before": "before a call in",
    "after": "after a failure in",
    "memory": "from memory in",
}


def _told(store: Store, found: FoundInbox) -> list[str]:
    """What sessions were shown, and how much of it they used."""
    rows = {row["place"]: row for row in store.rows("receipt.places")}
    said = [f"{name} {plural(rows[at]['conversations'], 'session')}" for at, name in _PLACES.items() if at in rows]
    use = None if found.gathered is None else found.gathered.use
    if not said:
        return []
    last = max(row["last"] for row in rows.values())
    sentences = [f"Shown {', '.join(said)}; last {moment(last)}."]
    if use is not None and use.shown:
        used = f"{use.used} of {plural(use.shown, 'line')} ({percent(use.used, use.shown)})"
        sentences.append(f"Used: {used} in the newest {plural(use.conversations, 'session')}.")
    return sentences
