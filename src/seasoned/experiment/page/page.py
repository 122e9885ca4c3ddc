"""The page of an analysis, with its plots: effects as a forest, and arms in their primary measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seasoned.experiment.analysis.analyse import Analysis, ArmFigures, is_found
from seasoned.experiment.analysis.contrast import LEVEL, POWER, Effect
from seasoned.experiment.analysis.findings import amount, change, sentences
from seasoned.experiment.analysis.task_run import KINDS, MEASURES, Measure
from seasoned.report.page import charts
from seasoned.report.page.frame import environment, frame
from seasoned.report.page.plots import Plot
from seasoned.report.page.rows import (
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
_SCALE = {"share": 100.0, "number": 1.0}


def plots(found: Analysis, prefix: str) -> tuple[Plot, ...]:
    """The plots of one analysis; `prefix` keeps the names of several analyses on one page apart."""
    return _forest(found, prefix), _arms(found, prefix)


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
    held = "found" if is_found(one) else "not found"
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
        f"{p_value(one.adjusted_p)}{', found' if is_found(one) else ''}",
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
        ("arm", "value", "interval", "runs", "tasks", "runs without a call"),
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
    return (
        visible(one.arm, _LABEL_CHARS),
        amount(estimate.value, name) if estimate.value is not None else unknown(estimate.reason),
        between(estimate, name),
        number(one.runs),
        number(one.tasks),
        number(one.without_call),
    )


def between(estimate: Estimate, name: Measure) -> str:
    """The ends of an interval in the unit of a measure."""
    if estimate.interval is None:
        return unknown(estimate.reason)
    return f"{amount(estimate.interval.low, name)} to {amount(estimate.interval.high, name)}"


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
        f"{plural(len(plan.contrasts), 'contrast')}, a permutation test within tasks, "
        f"Holm's correction at {100 * LEVEL:g} % and a power of {100 * POWER:g} %."
    )
