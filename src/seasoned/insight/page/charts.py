"""Vega-Lite specifications as plain dicts. Values of sessions stand in their data alone, never in an expression."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

Spec = dict[str, Any]
Rows = Sequence[dict[str, Any]]

# The colours are variables of the style sheet: dark, light and print change them without drawing anew.
INK, QUIET, FAINT, PAPER, BAR = (f"var(--{name})" for name in ("ink", "quiet", "faint", "paper", "bar"))
FIRST, SECOND = "var(--first)", "var(--second)"
# From few to many, each with the colour of a text on it.
SHADES = tuple((f"var(--step-{number})", f"var(--on-{'weak' if number < 3 else 'strong'})") for number in range(6))
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif"
SMALL = 11
# Room for the axis of plots that stand one above the other: these cannot fit themselves into a width.
SIDE = 46
CONFIG: Spec = {
    "font": FONT,
    "background": None,
    "padding": {"top": 4, "left": 0, "right": 0, "bottom": 0},
    # The table below each plot is its text; hundreds of labelled shapes would only be in the way of a screen reader.
    "aria": False,
    "view": {"stroke": None},
    "concat": {"spacing": 6},
    "axis": {
        "labelColor": QUIET,
        "labelFontSize": SMALL,
        "titleColor": QUIET,
        "titleFontSize": SMALL,
        "titleFontWeight": "normal",
        "gridColor": FAINT,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "domain": False,
        "ticks": False,
        "labelPadding": 6,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    },
    "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "start", "titleX": 0, "titleY": -14},
    "text": {"font": FONT, "fontSize": SMALL, "fill": INK},
    "point": {"strokeWidth": 1.75, "size": 52},
    "rule": {"strokeWidth": 2},
}
_NARROW_STEP = 46
_PERCENT = "format(datum.value, '~f') + ' %'"
_POINTS = "(datum.value > 0 ? '+' : datum.value < 0 ? '\N{MINUS SIGN}' : '') + format(abs(datum.value), '~f')"
_UNKNOWN = {"filter": "!isValid(datum.value)"}


def ceiling(rows: Rows) -> float:
    """Where a scale of percents ends: all values fit, and wide intervals do not squeeze them."""
    values = [row[name] for row in rows for name in ("value", "mix") if row.get(name) is not None] or [0.0]
    highs = [row[name] for row in rows for name in ("high", "mix_high") if row.get(name) is not None] or [0.0]
    wanted = max(1.25 * max(values), min(1.5 * median(highs), 3 * max(values)))
    return float(max(min(max(highs), wanted), max(values), 1.0))


def dots(rows: Rows, *, title: str) -> Spec:
    """A row for each label: its rate with the interval, where known the rate at equal tools, and the n as text."""
    top = ceiling(rows)
    axis = {"title": title, "labelExpr": _PERCENT, "tickCount": 4, "titleAnchor": "start"}
    x = {"field": "value", "type": "quantitative", "scale": {"domain": [0, top], "clamp": True}, "axis": axis}
    lift = -5 if any("mix" in row for row in rows) else 0
    layers = [
        _rule("low", "high", x, FIRST, yOffset=lift),
        _point(x, FIRST, "circle", yOffset=lift),
        _beyond(top, x, lift),
        *(_mix_layers(x) if lift else ()),
    ]
    return _rows(rows, layers, step=34 if lift else 26)


def _mix_layers(x: Spec) -> list[Spec]:
    mixed = {**x, "field": "mix"}
    return [
        _rule("mix_low", "mix_high", mixed, SECOND, yOffset=7, strokeDash=[3, 2]),
        _point(mixed, SECOND, "diamond", yOffset=7, fill=PAPER),
    ]


def changes(rows: Rows, *, title: str) -> Spec:
    """A row for each label: a difference with its interval, and the line of no difference."""
    ends = [abs(row[name]) for row in rows for name in ("value", "low", "high") if row[name] is not None]
    values = [abs(row["value"]) for row in rows if row["value"] is not None]
    reach = max(min(max(ends, default=1.0), 4 * max(values, default=1.0) + 3), 1.0)
    axis = {"title": title, "labelExpr": _POINTS, "tickCount": 5, "titleAnchor": "start"}
    scale = {"domain": [-reach, reach], "nice": True, "clamp": True}
    x = {"field": "value", "type": "quantitative", "scale": scale, "axis": axis}
    layers = [_line_at(0.0, x), _rule("low", "high", x, FIRST), _point(x, FIRST, "circle")]
    return _rows(rows, layers, step=30)


def ratios(rows: Rows, *, title: str, limit: float) -> Spec:
    """A row for each label: how many times as much, on a scale where half and double lie equally far from one."""
    ends = [row[name] for row in rows for name in ("value", "low", "high") if row[name]]
    reach = min(max([2.0, *ends, *[1 / end for end in ends]]), 8.0)
    axis = {"title": title, "values": [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8], "titleAnchor": "start"}
    axis["labelExpr"] = "datum.value < 1 ? '1/' + format(1 / datum.value, '~f') : format(datum.value, '~f') + '×'"
    scale = {"type": "log", "domain": [1 / reach, reach], "clamp": True}
    x = {"field": "value", "type": "quantitative", "scale": scale, "axis": axis}
    layers = [
        _line_at(1.0, x),
        _line_at(limit, x, strokeDash=[2, 3]),
        _rule("low", "high", x, FIRST),
        _point(x, FIRST, "circle"),
    ]
    return _rows(rows, layers, step=26)


def _rows(rows: Rows, layers: list[Spec], *, step: int) -> Spec:
    labels = {"labelLimit": 300, "labelColor": INK, "labelFontSize": 12, "title": None}
    # `sort: null` keeps the order of the data; a list of labels would be written into an expression.
    y = {"field": "label", "type": "nominal", "sort": None, "axis": labels}
    return {
        "autosize": {"type": "fit-x"},
        "height": step * len(rows),
        "data": {"values": list(rows)},
        "encoding": {"y": y, "tooltip": {"field": "tip"}},
        # The text comes first: it has every row, also those without a value, and so makes the order of the axis.
        "layer": [_text_beside(), *layers],
    }


def narrow(spec: Spec) -> Spec:
    """The same plot for a phone: where labels stand beside the marks, they move above them."""
    if "y" not in spec.get("encoding", {}) or "x" in spec["encoding"]:
        return spec
    y = {**spec["encoding"]["y"], "axis": None}
    text = {"type": "text", "align": "left", "fontSize": 12, "dy": -17, "limit": {"expr": "width + 90"}}
    # Lines of the plot go behind the label: it has an edge in the colour of the paper.
    edge = {**text, "stroke": PAPER, "strokeWidth": 4}
    labels = [{"mark": mark, "encoding": {"x": {"value": 0}, "text": {"field": "label"}}} for mark in (edge, text)]
    height = _NARROW_STEP * len(spec["data"]["values"])
    return {**spec, "height": height, "encoding": {**spec["encoding"], "y": y}, "layer": [*spec["layer"], *labels]}


def _rule(low: str, high: str, x: Spec, colour: str, **mark: Any) -> Spec:
    return {
        "transform": [{"filter": f"isValid(datum.{low})"}],
        "mark": {"type": "rule", "color": colour, **mark},
        "encoding": {"x": {**x, "field": low}, "x2": {"field": high}},
    }


def _point(x: Spec, colour: str, shape: str, **mark: Any) -> Spec:
    drawn = {"type": "point", "shape": shape, "stroke": colour, "fill": colour, "opacity": 1, **mark}
    return {"transform": [{"filter": f"isValid(datum.{x['field']})"}], "mark": drawn, "encoding": {"x": x}}


def _beyond(top: float, x: Spec, lift: int) -> Spec:
    """Where an interval goes on beyond the plot."""
    return {
        "transform": [{"filter": f"datum.high > {top!r}"}],
        "mark": {
            "type": "point",
            "shape": "triangle-right",
            "fill": FIRST,
            "stroke": None,
            "size": 40,
            "yOffset": lift,
        },
        "encoding": {"x": {**x, "field": "high"}},
    }


def _above(top: float, colour: Spec) -> Spec:
    """The same where rates stand upright."""
    mark = {"type": "point", "shape": "triangle-up", "strokeWidth": 0, "opacity": 1}
    encoding = {"y": {"value": 0}, **colour}
    return {"transform": [{"filter": f"datum.high > {top!r}"}], "mark": mark, "encoding": encoding}


def _line_at(value: float, x: Spec, **mark: Any) -> Spec:
    without_field = {name: part for name, part in x.items() if name != "field"}
    return {
        "mark": {"type": "rule", "color": QUIET, "strokeWidth": 1, **mark},
        "encoding": {"x": {**without_field, "datum": value}, "y": None, "tooltip": None},
    }


def _text_beside() -> Spec:
    """Value and n at the right edge; of what is unknown the dash."""
    mark = {"type": "text", "align": "left", "baseline": "middle"}
    return {"mark": mark, "encoding": {"x": {"value": {"expr": "width + 10"}}, "text": {"field": "text"}}}


def band(rows: Rows, *, title: str, is_time: bool = False) -> Spec:
    """A rate along positions or dates with its band, below it the calls that it rests on."""
    top = ceiling(rows)
    scale = {"domain": [0, top], "clamp": True}
    axis = {"title": None, "labelExpr": _PERCENT, "tickCount": 4, "minExtent": SIDE, "maxExtent": SIDE}
    y = {"type": "quantitative", "scale": scale, "axis": axis}
    # Between two dates may lie months without a session: there a band would claim what nobody knows.
    area = {"type": "area", "opacity": 0.16} if not is_time else {"type": "rule", "opacity": 0.4}
    line = {"type": "line", "color": FIRST, "strokeWidth": 1 if is_time else 2}
    layers: list[Spec] = [
        {"mark": {**area, "color": FIRST}, "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}}},
        {"mark": line, "encoding": {"y": {**y, "field": "value"}}},
    ]
    if any("mix" in row for row in rows):
        dashed = {**line, "color": SECOND, "strokeDash": [5, 3]}
        layers.append({"mark": dashed, "encoding": {"y": {**y, "field": "mix"}}})
    point = {"type": "point", "fill": FIRST, "stroke": PAPER, "size": 44, "opacity": 1}
    layers.append({"mark": point, "encoding": {"y": {**y, "field": "value"}}})
    if is_time:
        layers.append(_above(top, {"fill": {"value": FIRST}}))
    dash = {"type": "text", "text": "–", "baseline": "bottom", "fill": QUIET}
    layers.append({"transform": [_UNKNOWN], "mark": dash, "encoding": {"y": {"value": {"expr": "height"}}}})
    x = _along(title, rows, is_time=is_time)
    main = {"height": 220, "encoding": {"x": x, "tooltip": {"field": "tip"}}, "layer": layers}
    return {"data": {"values": list(rows)}, "vconcat": [main, _calls_below(rows, x, is_time=is_time)]}


def _along(title: str, rows: Rows, *, is_time: bool) -> Spec:
    if is_time:
        axis = {"title": title, "grid": False, "tickCount": 6, "format": "%-d %b %Y", "labelOverlap": True}
        return {"field": "label", "type": "temporal", "scale": {"type": "utc", "padding": 12}, "axis": axis}
    axis = {"title": title, "grid": False, "labelAngle": 0, "labelOverlap": False}
    return {"field": "from", "type": "ordinal", "scale": {"domain": _order(rows, "from")}, "axis": axis}


def _order(rows: Rows, field: str) -> list[str]:
    """Blocks and lengths as they come: a layer without the first of them must not begin with the second."""
    return list(dict.fromkeys(row[field] for row in rows))


def _calls_below(rows: Rows, x: Spec, *, is_time: bool) -> Spec:
    most = max([row["calls"] for row in rows], default=1)
    axis = {"title": "calls", "labels": False, "grid": False, "minExtent": SIDE, "titleX": -SIDE, "titleY": 34}
    y = {"field": "calls", "type": "quantitative", "axis": axis, "scale": {"domain": [0, 1.9 * most]}}
    bar: Spec = {"type": "bar", "color": BAR, "width": 5 if is_time else {"band": 0.7}}
    layers: list[Spec] = [{"mark": bar}]
    if not is_time:
        mark = {"type": "text", "baseline": "bottom", "dy": -2, "fill": QUIET}
        layers.append({"mark": mark, "encoding": {"text": {"field": "short_calls"}}})
    encoding = {"x": {**x, "axis": None}, "y": y, "tooltip": {"field": "tip"}}
    return {"height": 38, "encoding": encoding, "layer": layers}


def pairs(rows: Rows, *, title: str, groups: tuple[str, str]) -> Spec:
    """Two rates side by side at every position; the groups differ in shape as well as in colour."""
    top = ceiling(rows)
    axis = {"title": None, "labelExpr": _PERCENT, "tickCount": 4}
    scale = {"domain": [0, top], "clamp": True}
    y = {"field": "value", "type": "quantitative", "scale": scale, "axis": axis}
    offset = {"field": "group", "type": "nominal", "scale": {"domain": list(groups), "paddingOuter": 0.6}}
    colour: Spec = {"field": "group", "type": "nominal", "legend": None}
    colour |= {"scale": {"domain": list(groups), "range": [SECOND, FIRST]}}
    shape = {**colour, "scale": {"domain": list(groups), "range": ["diamond", "circle"]}}
    return {
        "autosize": {"type": "fit-x"},
        "height": 240,
        "data": {"values": list(rows)},
        "encoding": {"x": _along(title, rows, is_time=False), "xOffset": offset, "tooltip": {"field": "tip"}},
        "layer": [
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule"},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}, "stroke": colour},
            },
            _above(top, {"fill": colour}),
            {
                "transform": [{"filter": "isValid(datum.value)"}],
                "mark": {"type": "point", "opacity": 1, "size": 58},
                "encoding": {"y": y, "stroke": colour, "shape": shape, "fill": {**colour, "field": "group"}},
            },
        ],
    }


def grid(rows: Rows, *, across: str, down: str) -> Spec:
    """A field for each pair, its rate and its calls written in it; the shade only repeats the rate."""
    top = {"title": across, "labelAngle": 0, "labelOverlap": False, "orient": "top"}
    x = {"field": "from", "type": "ordinal", "scale": {"domain": _order(rows, "from")}, "axis": top}
    axis = {"title": down, "labelColor": INK, "titleAlign": "right", "titleX": -6, "titleY": -10}
    y = {"field": "length", "type": "ordinal", "scale": {"domain": _order(rows, "length")}, "axis": axis}
    known = {"filter": "isValid(datum.value)"}
    text = {"type": "text", "fontSize": 12, "dy": -6}
    ink = {"field": "ink", "scale": None}
    return {
        "autosize": {"type": "fit-x"},
        "height": 46 * len({row["length"] for row in rows}),
        "data": {"values": list(rows)},
        "encoding": {"x": x, "y": y, "tooltip": {"field": "tip"}},
        "layer": [
            {
                "transform": [known],
                "mark": {"type": "rect", "stroke": PAPER, "strokeWidth": 2, "cornerRadius": 3},
                "encoding": {"fill": {"field": "shade", "scale": None}},
            },
            {"transform": [known], "mark": text, "encoding": {"text": {"field": "percent"}, "fill": ink}},
            {
                "transform": [known],
                "mark": {"type": "text", "dy": 9},
                "encoding": {"text": {"field": "short_calls"}, "fill": ink},
            },
            {"transform": [_UNKNOWN], "mark": {"type": "text", "text": "–", "fill": QUIET}},
        ],
    }
