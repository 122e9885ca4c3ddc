"""The plots of usage: cost and tokens by day, as bars that can be summed up by dragging over them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, TypeVar

import msgspec

from seasoned.insight.page import charts
from seasoned.insight.page.plots import Plot
from seasoned.insight.page.rows import dollars, number, plural

_HEIGHT = 180
_MOST_DAYS = 100
"""More days than this are shown as weeks."""
N = TypeVar("N", int, float)
_COST = "'$' + format(datum.value, ',~f')"
_TOKENS = "format(datum.value, '~s')"


class Day(msgspec.Struct, frozen=True):
    """What was used on one day."""

    day: str
    cost_usd: float | None
    input: int | None
    output: int | None
    count: int
    """Requests, or sessions."""
    unpriced: int


def usage_plots(gateway: Sequence[Day], recorded: Sequence[Day]) -> tuple[Plot, ...]:
    """Cost and tokens of each source that has any."""
    found = []
    for name, title, unit, days in (
        ("gateway", "through the gateway", "request", gateway),
        ("recorded", "as agents recorded it", "session", recorded),
    ):
        if days:
            bars = by_week(days) if len(days) > _MOST_DAYS else list(days)
            period = "day" if len(bars) == len(days) else "week"
            found += [_cost(name, title, unit, period, bars), _tokens(name, title, unit, period, bars)]
    return tuple(found)


def by_week(days: Sequence[Day]) -> list[Day]:
    """The same summed up by week, under the day on which each began."""
    weeks: dict[str, list[Day]] = {}
    for one in days:
        day = date.fromisoformat(one.day)
        weeks.setdefault((day - timedelta(days=day.weekday())).isoformat(), []).append(one)
    return [
        Day(
            name,
            _sum([one.cost_usd for one in week]),
            _sum([one.input for one in week]),
            _sum([one.output for one in week]),
            sum(one.count for one in week),
            sum(one.unpriced for one in week),
        )
        for name, week in weeks.items()
    ]


def _sum(values: Sequence[N | None]) -> N | None:
    """Of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None


def _cost(name: str, title: str, unit: str, period: str, days: Sequence[Day]) -> Plot:
    rows = [
        {"day": one.day, "value": one.cost_usd, "tip": f"{one.day}: {_priced(one, unit)}", "calls": one.count}
        for one in days
    ]
    known = any(row["value"] for row in rows)
    return Plot(
        f"cost-{name}",
        f"Cost by {period}, {title}",
        f"Dollars for each {period} in UTC. Drag over bars to sum them up. What has no known price is in no bar.",
        "What subscriptions cost: only prices by token are known.",
        _bars(rows, _COST, "'$' + format(datum.total, ',.2f')") if known else None,
        (),
        (),
        (),
        None if known else f"no {unit} has a known price",
    )


def _priced(one: Day, unit: str) -> str:
    said = "cost unknown" if one.cost_usd is None else dollars(one.cost_usd)
    without = f", {number(one.unpriced)} without a price" if one.unpriced else ""
    return f"{said}, {plural(one.count, unit)}{without}"


def _tokens(name: str, title: str, unit: str, period: str, days: Sequence[Day]) -> Plot:
    rows = [
        {
            "day": one.day,
            "kind": kind,
            "value": value,
            "tip": f"{one.day}: {number(one.input)} input, {number(one.output)} output, {plural(one.count, unit)}",
        }
        for one in days
        for kind, value in (("input", one.input), ("output", one.output))
        if value is not None
    ]
    return Plot(
        f"tokens-{name}",
        f"Tokens by {period}, {title}",
        f"Input and output tokens for each {period} in UTC. Drag over bars to sum them up.",
        "Tokens that were read from a cache, which cost less: the tables by session hold them apart.",
        _bars(rows, _TOKENS, "format(datum.total, ',') + ' tokens'", is_split=True) if rows else None,
        (),
        (),
        (("bar-first", "input"), ("bar-second", "output")),
        None if rows else f"no {unit} recorded its tokens",
    )


def _slots(days: Sequence[str]) -> int:
    """How many bars would stand side by side, also where days are missing between them."""
    known = sorted({date.fromisoformat(day).toordinal() for day in days})
    steps = [after - before for before, after in pairwise(known)]
    return (known[-1] - known[0]) // min(steps, default=1) + 2


def _bars(rows: Sequence[dict[str, Any]], labels: str, total: str, *, is_split: bool = False) -> charts.Spec:
    """One bar for each day; what a dragged span holds is said above."""
    slots = _slots([row["day"] for row in rows])
    axis = {"title": None, "grid": False, "tickCount": 6, "format": "%-d %b", "labelOverlap": True}
    x = {"field": "day", "type": "temporal", "scale": {"type": "utc", "padding": 10}, "axis": axis}
    side = {"title": None, "labelExpr": labels, "tickCount": 4}
    y: charts.Spec = {"field": "value", "type": "quantitative", "axis": side, "stack": "zero" if is_split else None}
    colour: charts.Spec = {"value": charts.FIRST}
    if is_split:
        scale = {"domain": ["input", "output"], "range": [charts.FIRST, charts.SECOND]}
        colour = {"field": "kind", "type": "nominal", "legend": None, "scale": scale}
    mark = {"fill": charts.FIRST, "fillOpacity": 0.12, "stroke": charts.FIRST, "strokeOpacity": 0.4}
    span = {"name": "span", "select": {"type": "interval", "encodings": ["x"], "mark": mark}}
    summed: list[charts.Spec] = [
        {"filter": {"param": "span", "empty": False}},
        {"aggregate": [{"op": "sum", "field": "value", "as": "total"}]},
        {"filter": "datum.total > 0"},
        {"calculate": total + " + ' in the chosen bars'", "as": "said"},
    ]
    text = {"type": "text", "align": "right", "baseline": "bottom", "fontWeight": 600, "dy": -2}
    corner = {"x": {"value": {"expr": "width"}}, "y": {"value": 0}, "text": {"field": "said"}}
    bar = {"type": "bar", "width": {"expr": f"max(2, 0.8 * width / {slots})"}}
    return {
        "autosize": {"type": "fit-x"},
        "height": _HEIGHT,
        "data": {"values": list(rows)},
        "layer": [
            {"params": [span], "mark": bar, "encoding": {"x": x, "y": y, "fill": colour, "tooltip": {"field": "tip"}}},
            {"transform": summed, "mark": text, "encoding": corner},
        ],
    }
