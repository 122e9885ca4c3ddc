"""The page of an analysis, with its plots: effects as a forest, arms in their primary measure, error by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seasoned.experiment.analysis.analyse import Analysis, ArmFigures, TurnFigure, is_found
from seasoned.experiment.analysis.contrast import Effect
from seasoned.experiment.analysis.findings import amount, change, sentences
from seasoned.experiment.analysis.task_run import KINDS, MEASURES, Measure
from seasoned.insight.page import charts
from seasoned.insight.page.frame import environment, frame
from seasoned.insight.page.plots import Plot
from seasoned.insight.page.rows import (
    DASH,
    ends_of,
    number,
    p_value,
    plural,
    rate,
    rate_between,
    unique,
    unknown,
    visible,
)
from seasoned.stats.interval import Estimate

_LABEL_CHARS = 60
_PANEL = 84
_SCALE = {"share": 100.0, "number": 1.0}


def plots(found: Analysis, prefix: str) -> tuple[Plot, ...]:
    """The plots of one analysis; `prefix` keeps the names of several analyses on one page apart."""
    return _forest(found, prefix), _arms(found, prefix), _turns(found, prefix)


def _forest(found: Analysis, prefix: str) -> Plot:
    kind = KINDS[found.plan.primary]
    rows = unique([_effect_row(one, found) for one in found.effects])
    better = "right" if kind.is_better_high else "left"
    unit = "points" if kind.unit == "share" else kind.label
    return Plot(
        f"{prefix}-forest",
        "Effects",
        f"The difference in {kind.label} for each contrast that was named beforehand, paired by task, with its "
        f"interval; {better} of the line is better, and it is said which ones hold after Holm's correction.",
        "Other models or other tasks; nor that an effect whose interval holds the line is absent.",
        charts.changes(rows, title=f"difference in {unit}") if any(row["value"] is not None for row in rows) else None,
        (
            "contrast",
            "arm",
            "against",
            "difference",
            "p by Holm",
            "test",
            "smallest that would show",
            "tasks",
            "trials",
        ),
        tuple(effect_cells(one, found) for one in found.effects),
        (("dot", "difference with its interval"),),
        None if rows and rows[0]["value"] is not None else found.effects[0].estimate.reason,
    )


def _effect_row(one: Effect, found: Analysis) -> dict[str, Any]:
    scale = _SCALE[KINDS[one.measure].unit]
    held = "found" if is_found(one, found.plan.level) else "not found"
    value_text = DASH if one.estimate.value is None else change(one.estimate, one.measure).partition(" (")[0]
    label = visible(f"{one.arm} − {one.against}", _LABEL_CHARS)
    tip = f"{label}: {change(one.estimate, one.measure)}, {held}, {plural(one.estimate.clusters, 'task')}"
    return {"label": label, **ends_of(one.estimate, scale=scale, digits=4), "text": f"{value_text}, {held}", "tip": tip}


def effect_cells(one: Effect, found: Analysis) -> tuple[str, ...]:
    """One effect as the cells of a table."""
    smallest = DASH if one.detectable is None else amount(one.detectable, one.measure).replace(" %", " points")
    return (
        visible(f"{one.arm} − {one.against}", _LABEL_CHARS),
        amount(one.value, one.measure),
        amount(one.value_against, one.measure),
        change(one.estimate, one.measure),
        f"{p_value(one.adjusted_p)}{', found' if is_found(one, found.plan.level) else ''}",
        DASH if one.test is None else f"{one.test}{', exact' if one.is_exact else ''}",
        smallest,
        number(one.estimate.clusters),
        number(one.estimate.n),
    )


def _arms(found: Analysis, prefix: str) -> Plot:
    name = found.plan.primary
    kind = KINDS[name]
    rows = unique([_arm_row(one, name) for one in found.arms])
    known = any(row["value"] is not None for row in rows)
    return Plot(
        f"{prefix}-arms",
        f"Arms: {kind.label}",
        f"Each arm's own value of the primary measure ({kind.label}) with an interval that has the task as its unit.",
        "Whether two arms differ: they ran the same tasks, so intervals may overlap although the effect is clear.",
        charts.dots(rows, title=kind.label) if known and kind.unit == "share" else None,
        ("arm", "value", "interval", "runs", "tasks", "runs without a call", "banks"),
        tuple(_arm_cells(one, name) for one in found.arms),
        (("dot", "value with its interval"),),
        "the table below holds it" if known else "no arm has a value",
    )


def _arm_row(one: ArmFigures, name: Measure) -> dict[str, Any]:
    estimate = one.measures[name]
    label = visible(one.arm, _LABEL_CHARS)
    tip = f"{label}: {rate(estimate)}, interval {rate_between(estimate)}, {plural(one.runs, 'run')}"
    text = f"{amount(estimate.value, name)} of {number(estimate.n)}"
    return {"label": label, **ends_of(estimate, scale=_SCALE[KINDS[name].unit], digits=4), "text": text, "tip": tip}


def _arm_cells(one: ArmFigures, name: Measure) -> tuple[str, ...]:
    estimate = one.measures[name]
    banks = ", ".join(f"{visible(bank, 20)} {amount(of.value, name)}" for bank, of in one.banks.items())
    return (
        visible(one.arm, _LABEL_CHARS),
        amount(estimate.value, name) if estimate.value is not None else unknown(estimate.reason),
        between(estimate, name),
        number(one.runs),
        number(one.tasks),
        number(one.without_call),
        banks or DASH,
    )


def between(estimate: Estimate, name: Measure) -> str:
    """The ends of an interval in the unit of a measure."""
    if estimate.interval is None:
        return unknown(estimate.reason)
    return f"{amount(estimate.interval.low, name)} to {amount(estimate.interval.high, name)}"


def _turns(found: Analysis, prefix: str) -> Plot:
    panels = [(one, [turn for turn in one.by_turn if turn.calls]) for one in found.arms]
    drawn = [(one, turns) for one, turns in panels if turns]
    return Plot(
        f"{prefix}-turns",
        "Error by turn",
        "For each arm the share of calls that failed, by the answer of the model that made them, with its interval.",
        "Learning: runs that were done early are missing from the later turns, which belong to the harder tasks.",
        _panels(drawn) if drawn else None,
        ("arm", "turn", "error rate", "interval", "failed", "calls", "runs"),
        tuple(
            (
                visible(one.arm, _LABEL_CHARS),
                turn.turns,
                rate(turn.rate),
                rate_between(turn.rate),
                number(turn.failed),
                number(turn.calls),
                number(turn.runs),
            )
            for one, turns in panels
            for turn in turns
        ),
        (("line", "error rate"), ("band", "its interval")),
        None if drawn else "no call counts",
    )


def _panels(drawn: Sequence[tuple[ArmFigures, Sequence[TurnFigure]]]) -> charts.Spec:
    """Stacked panels on one scale. Names of arms are in the data, never in the specification."""
    rows = [[_turn_row(one, turn) for turn in turns] for one, turns in drawn]
    shown = {row["from"] for part in rows for row in part}
    order = [name for name in dict.fromkeys(turn.turns for one, _ in drawn for turn in one.by_turn) if name in shown]
    top = charts.ceiling([row for part in rows for row in part])
    return {"vconcat": [_panel(part, order, top, is_last=part is rows[-1]) for part in rows]}


def _turn_row(one: ArmFigures, turn: TurnFigure) -> dict[str, Any]:
    label = visible(one.arm, _LABEL_CHARS)
    tip = f"{label}, turn {turn.turns}: {rate(turn.rate)}, interval {rate_between(turn.rate)}, "
    tip += f"{plural(turn.calls, 'call')} of {plural(turn.runs, 'run')}"
    return {"label": label, "from": turn.turns, **ends_of(turn.rate, digits=4), "calls": turn.calls, "tip": tip}


def _panel(rows: Sequence[dict[str, Any]], order: Sequence[str], top: float, *, is_last: bool) -> charts.Spec:
    axis = {"title": "turn" if is_last else None, "grid": False, "labelAngle": 0, "labelOverlap": False}
    x = {"field": "from", "type": "ordinal", "scale": {"domain": list(order)}, "axis": axis if is_last else None}
    return band_panel(rows, x=x, low=0, high=top, tick_label="format(datum.value, '~f') + ' %'", height=_PANEL)


def band_panel(
    rows: Sequence[dict[str, Any]], *, x: charts.Spec, low: float, high: float, tick_label: str, height: int
) -> charts.Spec:
    """A line with its band, and the label of the rows in a corner; panels of one plot share their scales."""
    side = {"title": None, "tickCount": 4, "minExtent": charts.SIDE, "maxExtent": charts.SIDE, "labelExpr": tick_label}
    y = {"type": "quantitative", "scale": {"domain": [low, high], "clamp": True}, "axis": side}
    ends = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    value = {"y": {**y, "field": "value"}}
    zero = {"y": {**y, "datum": 0}, "x": None, "tooltip": None}
    point = {"type": "point", "fill": charts.FIRST, "stroke": charts.PAPER, "size": 42, "opacity": 1}
    name = {"type": "text", "align": "left", "baseline": "top", "fontSize": 12, "stroke": charts.PAPER}
    first = {"transform": [{"window": [{"op": "row_number", "as": "place"}]}, {"filter": "datum.place === 1"}]}
    corner = {"x": {"value": 4}, "y": {"value": -6}, "text": {"field": "label"}, "tooltip": None}
    return {
        "height": height,
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


_FOLDER = Path(__file__).parent
Rows = tuple[tuple[str, ...], ...]


def render(
    title: str, analyses: Sequence[Analysis], *, made_at: float, versions: Mapping[str, str] | None = None
) -> str:
    """The whole page, a section for each analysis. The same analyses always give the same page."""
    parts = [part_of(found, f"a{place}") for place, found in enumerate(analyses, start=1)]
    drawn: list[Plot] = [plot for part in parts for plot in part["plots"]]
    return (
        environment(_FOLDER)
        .get_template("page.html")
        .render(
            title=title,
            made_at=made_at,
            versions=dict(versions or {}),
            parts=parts,
            **frame(drawn, more_style=(_FOLDER / "page.css").read_text("utf-8")),
        )
    )


def part_of(found: Analysis, name: str) -> dict[str, Any]:
    """What a page shows of one analysis; `name` keeps several of them apart."""
    claims = sentences(found)
    return {
        "name": name,
        "found": found,
        "heading": " · ".join(text for text in (found.task_set, found.part, found.model) if text),
        "may": claims.may,
        "may_not": claims.may_not,
        "plots": plots(found, name),
        "measures": _measure_rows(found),
        "secondary": _secondary_rows(found),
        "plan": _plan(found),
    }


def _measure_rows(found: Analysis) -> Rows:
    return tuple(
        (
            KINDS[name].label,
            visible(one.arm, 60),
            amount(one.measures[name].value, name),
            between(one.measures[name], name),
            number(one.measures[name].n),
        )
        for name in MEASURES
        for one in found.arms
    )


def _secondary_rows(found: Analysis) -> Rows:
    return tuple(
        (KINDS[one.measure].label, *effect_cells(one, found)[:4], p_value(one.estimate.p_value), number(one.estimate.n))
        for one in found.secondary
    )


def _plan(found: Analysis) -> str:
    plan = found.plan
    return (
        f"Named before the first run: the measure ({KINDS[plan.primary].label}), "
        f"{plural(len(plan.contrasts), 'contrast')}, the test ({plan.test}), "
        f"Holm's correction at {100 * plan.level:g} % and a power of {100 * plan.power:g} %."
    )
