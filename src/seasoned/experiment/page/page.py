"""Analyses as one file of HTML: what may be said, the plots and every table, with nothing to load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seasoned.experiment.analysis.analyse import Analysis
from seasoned.experiment.analysis.findings import amount, change, sentences
from seasoned.experiment.analysis.task_run import KINDS, MEASURES
from seasoned.experiment.page.plots import between, effect_cells, plots
from seasoned.insight.page.frame import environment, frame
from seasoned.insight.page.plots import Plot
from seasoned.insight.page.rows import DASH, number, p_value, plural, visible

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
        "credits": _credit_rows(found),
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


def _credit_rows(found: Analysis) -> Rows:
    return tuple(
        (
            # Names come from files of others: hidden and reordering characters are written out.
            visible(one.example_id, 40),
            visible(one.arm, 60),
            one.answer,
            DASH if one.shrunk.value is None else change(one.shrunk, found.plan.primary),
            DASH if one.raw.value is None else change(one.raw, found.plan.primary),
            number(one.runs_with),
            number(one.runs_without),
            visible(one.reason, 200),
        )
        for one in found.credits
    )


def _plan(found: Analysis) -> str:
    plan = found.plan
    return (
        f"Named before the first run: the measure ({KINDS[plan.primary].label}), "
        f"{plural(len(plan.contrasts), 'contrast')}, the test ({plan.test}), "
        f"Holm's correction at {100 * plan.level:g} % and a power of {100 * plan.power:g} %."
    )
