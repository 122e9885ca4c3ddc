"""The plots of a running experiment: arms, effects, and the deciding effect as it stood at every look."""

from __future__ import annotations

from typing import Any

from seasoned.experiment.live.live_report import MEASURES, LiveArm, LiveEffect, LiveLook, LiveReport
from seasoned.report.page import charts
from seasoned.report.page.plots import Plot
from seasoned.report.page.rows import (
    DASH,
    change,
    change_between,
    ends_of,
    number,
    p_value,
    plural,
    rate,
    rate_between,
    signed,
    unique,
    visible,
)
from seasoned.report.trials import share

_LABEL_CHARS = 60
_PANEL = 150
_POINTS = "(datum.value > 0 ? '+' : datum.value < 0 ? '\N{MINUS SIGN}' : '') + format(abs(datum.value), '~f')"


def live_plots(report: LiveReport) -> tuple[Plot, ...]:
    """A forest plot of the effects, the arms side by side, and the effect over time."""
    return _forest(report), _arms(report), _looks(report)


def _forest(report: LiveReport) -> Plot:
    rows = unique([_effect_row(one) for one in report.effects])
    known = any(row["value"] is not None for row in rows)
    return Plot(
        "live-effects",
        "Effects",
        "Each arm minus the control, by intention to treat, with an interval that stays valid while one keeps looking. "
        "Failed calls decide; the other measures are shown as well.",
        "Why sessions differ; nor that an effect whose interval holds the line is absent.",
        charts.changes(rows, title="difference in points") if known else None,
        ("measure", "arm", "against", "difference", "interval", "p by Holm", "sessions"),
        tuple(_effect_cells(one) for one in report.effects),
        (("dot", "difference with its interval"),),
        None if known else "no session has an outcome yet",
    )


def _effect_row(one: LiveEffect) -> dict[str, Any]:
    label = visible(f"{one.arm} − {one.against}, {MEASURES[one.measure]}", _LABEL_CHARS)
    value_text = DASH if one.estimate.value is None else signed(one.estimate.value)
    held = ", found" if one.is_found else ""
    tip = f"{label}: {change(one.estimate)}, interval {change_between(one.estimate)}{held}"
    return {"label": label, **ends_of(one.estimate, digits=4), "text": f"{value_text}{held}", "tip": tip}


def _effect_cells(one: LiveEffect) -> tuple[str, ...]:
    return (
        MEASURES[one.measure],
        visible(one.arm, _LABEL_CHARS),
        visible(one.against, _LABEL_CHARS),
        change(one.estimate),
        change_between(one.estimate),
        f"{p_value(one.adjusted_p)}{', found' if one.is_found else ''}",
        number(one.estimate.n),
    )


def _arms(report: LiveReport) -> Plot:
    rows = unique([_arm_row(one) for one in report.arms])
    known = any(row["value"] is not None for row in rows)
    return Plot(
        "live-arms",
        "Arms: failed calls of a session",
        "Each arm's mean over its sessions of failed / (ok + failed), with an interval that is valid at every look.",
        "Whether two arms differ: that is what the effects say.",
        charts.dots(rows, title="failed calls of a session") if known else None,
        ("arm", "failed calls", "interval", "first call works", "without a failed call", "measured", "assigned"),
        tuple(_arm_cells(one) for one in report.arms),
        (("dot", "mean with its interval"),),
        None if known else "no session has an outcome yet",
    )


def _arm_row(one: LiveArm) -> dict[str, Any]:
    label = visible(one.arm, _LABEL_CHARS)
    sessions = plural(one.measured, "session")
    tip = f"{label}: {rate(one.error)}, interval {rate_between(one.error)}, {sessions}"
    return {
        "label": label,
        **ends_of(one.error, digits=4),
        "text": f"{share(one.error.value)} in {sessions}",
        "tip": tip,
    }


def _arm_cells(one: LiveArm) -> tuple[str, ...]:
    return (
        visible(one.arm, _LABEL_CHARS),
        rate(one.error),
        rate_between(one.error),
        rate(one.first_call),
        rate(one.flawless),
        number(one.measured),
        number(one.assigned),
    )


def _looks(report: LiveReport) -> Plot:
    arms = list(dict.fromkeys(one.arm for one in report.looks))
    panels = [[_look_row(one) for one in report.looks if one.arm == arm and one.value is not None] for arm in arms]
    # A single point is not a line.
    drawn = [panel for panel in panels if len(panel) > 1]
    return Plot(
        "live-looks",
        "The effect as it came to be",
        "The difference in failed calls after each twentieth of the sessions. The interval may be read at any time: "
        "it holds the true value at every look at once.",
        "What comes next: a narrowing band may still end up on either side of the line.",
        _panels(drawn) if drawn else None,
        ("arm", "sessions", "difference", "from", "to"),
        tuple(
            (
                visible(one.arm, _LABEL_CHARS),
                number(one.sessions),
                *[DASH if end is None else signed(end) for end in (one.value, one.low, one.high)],
            )
            for one in report.looks
        ),
        (("line", "difference in points"), ("band", "its interval")),
        None if drawn else "too few sessions have ended",
    )


def _look_row(one: LiveLook) -> dict[str, Any]:
    label = visible(one.arm, _LABEL_CHARS)
    ends = {name: None if end is None else round(100 * end, 3) for name, end in (("low", one.low), ("high", one.high))}
    assert one.value is not None
    value = round(100 * one.value, 3)
    between = "" if one.low is None or one.high is None else f" ({signed(one.low)} to {signed(one.high)})"
    tip = f"{label} after {plural(one.sessions, 'session')}: {signed(one.value)} points{between}"
    return {"label": label, "sessions": one.sessions, "value": value, **ends, "tip": tip}


def _panels(panels: list[list[dict[str, Any]]]) -> charts.Spec:
    """Stacked panels on one scale. Names of arms are in the data, never in the specification."""
    values = [abs(row["value"]) for panel in panels for row in panel]
    ends = [abs(row[name]) for panel in panels for row in panel for name in ("low", "high") if row[name] is not None]
    # Early intervals are very wide; drawn in full they would flatten everything that came later.
    reach = max(min(max(ends, default=1.0), 4 * max(values) + 3), 1.0)
    return {"vconcat": [_panel(panel, reach, is_last=panel is panels[-1]) for panel in panels]}


def _panel(rows: list[dict[str, Any]], reach: float, *, is_last: bool) -> charts.Spec:
    """A line with its band, and the label of the rows in a corner; panels of one plot share their scales."""
    axis = {"title": "sessions that have ended" if is_last else None, "grid": False, "tickCount": 6}
    x = {"field": "sessions", "type": "quantitative", "scale": {"zero": False, "nice": False}, "axis": axis}
    side = {"title": None, "tickCount": 4, "minExtent": charts.SIDE, "maxExtent": charts.SIDE, "labelExpr": _POINTS}
    y = {"type": "quantitative", "scale": {"domain": [-reach, reach], "clamp": True}, "axis": side}
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    value = {"y": {**y, "field": "value"}}
    zero = {"y": {**y, "datum": 0}, "x": None, "tooltip": None}
    point = {"type": "point", "fill": charts.FIRST, "stroke": charts.PAPER, "size": 42, "opacity": 1}
    name = {"type": "text", "align": "left", "baseline": "top", "fontSize": 12, "stroke": charts.PAPER}
    first = {"transform": [{"window": [{"op": "row_number", "as": "place"}]}, {"filter": "datum.place === 1"}]}
    corner = {"x": {"value": 4}, "y": {"value": -6}, "text": {"field": "label"}, "tooltip": None}
    return {
        "height": _PANEL,
        "data": {"values": list(rows)},
        "encoding": {"x": x, "tooltip": {"field": "tip"}},
        "layer": [
            {"mark": {"type": "rule", "color": charts.QUIET, "strokeWidth": 1}, "encoding": zero},
            {"mark": {"type": "area", "opacity": 0.16, "color": charts.FIRST}, "encoding": ends},
            {"mark": {"type": "rule", "opacity": 0.4, "color": charts.FIRST}, "encoding": ends},
            {"mark": {"type": "line", "color": charts.FIRST}, "encoding": value},
            {"mark": point, "encoding": value},
            # Twice: first a broad outline in the colour of the paper, so that the text can be read on the band.
            {**first, "mark": {**name, "strokeWidth": 4}, "encoding": corner},
            {**first, "mark": {**name, "stroke": None}, "encoding": corner},
        ],
    }
