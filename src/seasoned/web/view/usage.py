"""The page of usage and cost: what went through the gateway, and what agents recorded themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import reduce
from typing import Any

from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.app.gateway import first_moment, gateway_sessions, gateway_usage
from seasoned.confirm.service.service import service_of
from seasoned.errors import UsageError
from seasoned.gateway.accounting import GROUPINGS, GroupBy, UsageTotal, sum_known
from seasoned.gateway.history_usage import HistoryGroup, HistoryTotal, history_totals, price_source
from seasoned.report.page.rows import number, short_number
from seasoned.store.project import refs_in
from seasoned.text import dollars
from seasoned.web.chart import spending_chart
from seasoned.web.display import sessions_link
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here
from seasoned.web.response import Page, page_router
from seasoned.web.table import (
    PAGE_ROWS,
    Column,
    Table,
    TableCell,
    answer,
    choice_of,
    cost_cell,
    cut,
    figure,
    numbers,
)

PAGE = Page("Usage", "usage")
router = page_router()
# What single sessions cost is in the list of sessions.
BY = ("project", "model", "agent", "day", "block", "key")
DAYS = {"7": 7, "30": 30, "90": 90, "all": None}
_FIGURES = ("input", "output", "cache_read", "cache_write", "reasoning")
_GATEWAY = (
    *numbers(requests="Requests"),
    *numbers(is_minor=True, **{f"{name}_tokens": f"{name.replace('_', ' ').capitalize()} tokens" for name in _FIGURES}),
    *numbers(cost_usd="Cost", unpriced="Requests without a price"),
    Column("last_at", "Last", is_time=True, is_minor=True),
)
_RECORDED = (
    *numbers(sessions="Sessions", input_tokens="Tokens in"),
    *numbers(is_minor=True, output_tokens="Tokens out"),
    *numbers(cost_usd="Cost", unpriced="Sessions without a price"),
)
_NO_REQUESTS = "No requests went through the gateway yet. Set an agent's base URL to `/v1` of this address."
_OWN_NOTE = (
    "Tokens as the agents recorded them. The cost is what the agent recorded, else an estimate by the published prices "
    "of the day, caches included. Sessions that went through the gateway are counted there only."
)
_NO_SESSIONS = "No sessions yet, or none in this time: choose a longer one, or run `seasoned scan`."


@router.get("/usage")
async def show(
    request: HTTPRequest, here: Here, by: str = "project", days: str = "30", after: str | None = None
) -> Response:
    """Show tokens and cost by project, model, agent, day or key."""
    if by not in BY or days not in DAYS:
        raise UsageError(f"Usage is shown by {', '.join(BY)}, of the last {', '.join(DAYS)} days.")
    # A request names no project and no agent; what went through the gateway is then shown by day.
    passed: GroupBy = by if by in GROUPINGS else "day"
    # Only the gateway knows keys; histories are shown by agent instead.
    own_by: HistoryGroup = "agent" if by == "key" else by  # type: ignore[assignment]
    histories, config = histories_of(request), service_of(request).config
    chosen, prices = await histories.read(lambda store: (choice_of(store, request), price_source(store)))
    key, since = chosen.key, first_moment(DAYS[days])
    only = None if key is None else await histories.read(lambda store: refs_in(store, key))
    counted = await asyncio.to_thread(gateway_sessions, config)
    counted = counted if only is None else counted & only
    through, own, chart = await asyncio.gather(
        asyncio.to_thread(gateway_usage, config, passed, since=since, only=only),
        histories.read(lambda store: history_totals(store, own_by, since=since, project=key, without=counted)),
        histories.read(
            lambda store: spending_chart(store, now=histories.now(store), days=DAYS[days], project=key, without=counted)
        ),
    )
    return answer(
        request,
        here,
        "usage.html",
        tables=(
            _gateway_table(passed, through, key),
            _recorded_table(own_by, own, after, key),
        ),
        chart=chart,
        figures=_figures(through, own, days, counts_once=own_by in ("project", "agent")),
        project=chosen,
        prices=prices,
        by=by,
        bys=BY,
        days=days,
        all_days=DAYS,
    )


def _gateway_table(by: GroupBy, found: Sequence[UsageTotal], project: str | None) -> Table:
    unnamed = {"key": "without a key", "model": "no model named"}.get(by, "unknown")
    rows = [
        (
            TableCell(one.name, one.name or unnamed, link),
            TableCell(one.requests),
            *[_figure(getattr(one.usage, name), link) for name in _FIGURES],
            cost_cell(one.cost_usd),
            TableCell(one.unpriced),
            TableCell(one.last_at),
        )
        for one in found[:PAGE_ROWS]
        for link in [_sessions_of(by, one.name, project)]
    ]
    more = ""
    if len(found) > PAGE_ROWS:
        more = f" The first {PAGE_ROWS} of {number(len(found))} are shown; `seasoned usage --by {by}` prints all."
    return Table(
        name="gateway",
        title=f"Through the gateway, by {by}",
        columns=(Column(by, by.capitalize()), *_GATEWAY),
        rows=rows,
        empty=_NO_REQUESTS,
        note=f"As counted by providers. Requests without a known price are counted separately, never as zero.{more}",
    )


def _figure(value: int | None, href: str | None) -> TableCell:
    """A figure with a link to its sessions; an unknown one has no link."""
    return TableCell(value, href=None if value is None else href)


def _sessions_of(by: str, name: str | None, project: str | None) -> str | None:
    """The sessions that a figure is made of."""
    if not name or by in ("key", "block"):
        return None
    if by == "project":
        return sessions_link(project=name, sort="-cost")
    wanted = {"day": {"since": name, "until": name}, "agent": {"agent": name}, "model": {"q": name}}[by]
    return sessions_link(**wanted, project=project)


def _recorded_table(by: str, parts: Sequence[HistoryTotal], after: str | None, project: str | None) -> Table:
    shown, more = cut(parts, after)
    cells = [
        (
            TableCell(one.name or None, shown=one.name or "unknown", href=link),
            TableCell(one.sessions, href=link),
            # No session uses no tokens: a zero means that the agent did not record them.
            _figure(one.usage.prompt or None, link),
            _figure(one.usage.output or None, link),
            cost_cell(one.cost_usd, link),
            TableCell(one.unpriced),
        )
        for one in shown
        for link in [_sessions_of(by, one.name, project)]
    ]
    return Table(
        name="recorded",
        title=f"Read from histories, by {by}",
        columns=(Column(by, by.capitalize()), *_RECORDED),
        rows=cells,
        empty=_NO_SESSIONS,
        note=_OWN_NOTE,
        **more,
    )


def _figures(
    through: Sequence[UsageTotal], own: Sequence[HistoryTotal], days: str, *, counts_once: bool
) -> list[dict[str, Any]]:
    """The whole; `counts_once`: each session is in one row, and not in one for each of its days or models."""
    requests, unpriced = sum(one.requests for one in through), sum(one.unpriced for one in through)
    sessions, priced = sum(one.sessions for one in own), sum(one.sessions - one.unpriced for one in own)
    spent, recorded = (reduce(sum_known, [one.cost_usd for one in some], None) for some in (through, own))
    tokens = sum((one.usage.input or 0) + (one.usage.output or 0) for one in through)
    own_tokens = sum((one.usage.prompt or 0) + (one.usage.output or 0) for one in own)
    period = "all time" if days == "all" else f"the last {days} days"
    figures = [
        figure(
            "Read from histories",
            dollars(recorded, unknown="unknown") if sessions else "–",
            f"{period}{f'; known of {number(priced)} of {number(sessions)} sessions' if counts_once else ''}"
            if sessions
            else f"no session in {period}",
            "#table-recorded",
        )
    ]
    if requests:
        note = f"{period}; {number(requests)} requests, {number(unpriced)} without a price"
        figures.append(figure("Through the gateway", dollars(spent, unknown="unknown"), note, "#table-gateway"))
    shown = short_number(tokens + own_tokens) if tokens or own_tokens else "unknown"
    note = f"{short_number(tokens)} of them through the gateway" if tokens else "with what was read from caches"
    return [*figures, figure("Tokens", shown, note, "#table-recorded")]
