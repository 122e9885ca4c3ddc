"""The charts of the report as Vega-Lite specifications: JSON files in `chart/`, filled with rows and scales.

Values of sessions go into the data alone, never into an expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

Spec = dict[str, Any]
Rows = Sequence[dict[str, Any]]

# Colours are variables of the style sheet, so dark, light and print need no redrawing.
QUIET, PAPER = "var(--quiet)", "var(--paper)"
FIRST, SECOND = "var(--first)", "var(--second)"
# From low to high, each with the colour of text on it.
SHADES = tuple((f"var(--step-{number})", f"var(--on-{'weak' if number < 3 else 'strong'})") for number in range(6))
# Pixels to the left of stacked plots, whose axes must line up.
SIDE = 46
_NARROW_STEP = 46


@cache
def _chart(name: str) -> Spec:
    data = (Path(__file__).parent / "chart" / f"{name}.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, Any])


# Shared by every chart. `aria` is off: the table below each plot is its text alternative, and hundreds of labelled
# shapes would only slow down a screen reader.
CONFIG: Spec = _chart("config")


def _fill(name: str, **values: Any) -> Spec:
    """A chart with "$name" replaced by the value of that name.

    `{"$use": "x", …}` is the part `x` of the file with further keys; a layer with `"$if": "x"` is dropped where x is
    false.
    """
    chart = _chart(name)

    def filled(node: Any) -> Any:
        if isinstance(node, str):
            return values[node[1:]] if node.startswith("$") else node
        if isinstance(node, list):
            return [
                filled(item) for item in node if not isinstance(item, dict) or values.get(item.get("$if", ""), True)
            ]
        if isinstance(node, dict):
            part = filled(chart["parts"][node["$use"]]) if "$use" in node else {}
            return part | {key: filled(value) for key, value in node.items() if key not in ("$use", "$if")}
        return node

    spec: Spec = filled(chart["spec"])
    return spec


def ceiling(rows: Rows) -> float:
    """The end of a scale in percent: all values fit, and wide intervals do not squeeze them."""
    values = [row[name] for row in rows for name in ("value", "mix") if row.get(name) is not None] or [0.0]
    highs = [row[name] for row in rows for name in ("high", "mix_high") if row.get(name) is not None] or [0.0]
    wanted = max(1.25 * max(values), min(1.5 * median(highs), 3 * max(values)))
    return float(max(min(max(highs), wanted), max(values), 1.0))


def dots(rows: Rows, *, title: str) -> Spec:
    """A row for each label: its rate with the interval, where known the rate at equal tools, and the n as text."""
    has_mix = any("mix" in row for row in rows)
    return _fill(
        "dots",
        rows=list(rows),
        title=title,
        height=(34 if has_mix else 26) * len(rows),
        lift=-5 if has_mix else 0,  # pixels up, so that the second mark has its own line
        mix=has_mix,
        **_top(rows),
    )


def changes(rows: Rows, *, title: str) -> Spec:
    """A row for each label: a difference with its interval, and a line at zero."""
    ends = [abs(row[name]) for row in rows for name in ("value", "low", "high") if row[name] is not None]
    values = [abs(row["value"]) for row in rows if row["value"] is not None]
    reach = max(min(max(ends, default=1.0), 4 * max(values, default=1.0) + 3), 1.0)
    return _fill("changes", rows=list(rows), title=title, height=30 * len(rows), least=-reach, most=reach)


def ratios(rows: Rows, *, title: str, limit: float) -> Spec:
    """A row for each label: a ratio on a logarithmic scale."""
    ends = [row[name] for row in rows for name in ("value", "low", "high") if row[name]]
    reach = min(max([2.0, *ends, *[1 / end for end in ends]]), 8.0)
    height = 26 * len(rows)
    return _fill("ratios", rows=list(rows), title=title, height=height, least=1 / reach, most=reach, limit=limit)


def band(rows: Rows, *, title: str, is_time: bool = False) -> Spec:
    """A rate by position or date with its interval as a band, and below it the number of calls."""
    # There may be months without a session between two dates, so `timeline` draws rules instead of a band.
    return _fill(
        "timeline" if is_time else "band",
        rows=list(rows),
        title=title,
        order=_order(rows, "from") if not is_time else None,
        side=SIDE,
        left=-SIDE,
        mix=any("mix" in row for row in rows),
        most_calls=1.9 * max([row["calls"] for row in rows], default=1),  # leaves a line for the labels
        **_top(rows),
    )


def pairs(rows: Rows, *, title: str, groups: tuple[str, str]) -> Spec:
    """Two rates side by side at every position; the groups differ in shape and colour."""
    order = _order(rows, "from")
    return _fill("pairs", rows=list(rows), title=title, order=order, groups=list(groups), **_top(rows))


def grid(rows: Rows, *, across: str, down: str) -> Spec:
    """A cell for each pair with its rate and calls as text; the shade only repeats the rate."""
    order, lengths = _order(rows, "from"), _order(rows, "length")
    height = 46 * len(lengths)
    return _fill("grid", rows=list(rows), across=across, down=down, order=order, lengths=lengths, height=height)


def narrow(spec: Spec) -> Spec:
    """The same plot for a phone: labels to the left of the marks move above them."""
    if "y" not in spec.get("encoding", {}) or "x" in spec["encoding"]:
        return spec
    y = {**spec["encoding"]["y"], "axis": None}
    text = {"type": "text", "align": "left", "fontSize": 12, "dy": -17, "limit": {"expr": "width + 90"}}
    # Lines of the plot go behind the label: it has an edge in the colour of the paper.
    edge = {**text, "stroke": PAPER, "strokeWidth": 4}
    labels = [{"mark": mark, "encoding": {"x": {"value": 0}, "text": {"field": "label"}}} for mark in (edge, text)]
    height = _NARROW_STEP * len(spec["data"]["values"])
    return {**spec, "height": height, "encoding": {**spec["encoding"], "y": y}, "layer": [*spec["layer"], *labels]}


def _top(rows: Rows) -> dict[str, Any]:
    """The end of the scale of rates, and the test for rows whose interval exceeds it."""
    top = ceiling(rows)
    return {"top": top, "beyond": f"datum.high > {top!r}"}


def _order(rows: Rows, field: str) -> list[str]:
    """The values of a field in order of appearance: without it, each layer would sort by its own first value."""
    return list(dict.fromkeys(row[field] for row in rows))
