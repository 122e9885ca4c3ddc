"""Figures as the data of plots, in percent, and as the cells of tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from seasoned.insight.cohort import Cell
from seasoned.insight.compression import CompressionCheck
from seasoned.insight.page import charts
from seasoned.insight.page.value import (
    DASH,
    change,
    change_between,
    level,
    number,
    plural,
    rate,
    rate_between,
    short_number,
    signed,
    unknown,
    visible,
)
from seasoned.insight.tolerance import Ends, Judgement
from seasoned.insight.trials import Figure
from seasoned.insight.words import share
from seasoned.outcome.error_rate import Counts
from seasoned.stats.interval import Estimate

LABEL_CHARS = 60
NO_CALLS = "no call counts here"
_STEPS = (0.02, 0.04, 0.07, 0.11, 0.16)
"""Upper ends of the shades of the map."""


def figure_row(figure: Figure) -> dict[str, Any]:
    """One figure as data of a plot, in percent."""
    found: dict[str, Any] = {
        "label": visible(figure.label, LABEL_CHARS),
        **_ends(figure.rate),
        "calls": figure.calls,
        "short_calls": short_number(figure.calls),
        "text": f"{share(figure.rate.value)} of {_short_plural(figure.calls, 'call')}",
    }
    tip = f"{found['label']}: {rate(figure.rate)}, {level(figure.rate)} interval {rate_between(figure.rate)}, "
    found["tip"] = tip + f"{plural(figure.calls, 'call')} of {plural(figure.sessions, 'session')}"
    if figure.fixed_mix is not None:
        found |= {f"mix{name}": value for name, value in _ends(figure.fixed_mix, ("", "_low", "_high")).items()}
        found["tip"] += f"; at equal tools {rate(figure.fixed_mix)}"
    return found


def _ends(estimate: Estimate, names: tuple[str, str, str] = ("value", "low", "high")) -> dict[str, float | None]:
    interval = estimate.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    found = (estimate.value, low, high)
    return {name: None if value is None else round(100 * value, 3) for name, value in zip(names, found, strict=True)}


def change_row(name: str, estimate: Estimate) -> dict[str, Any]:
    between = "no interval" if estimate.interval is None else change_between(estimate)
    text = DASH if estimate.value is None else f"{signed(estimate.value)} ({between})"
    tip = f"{name}: {change(estimate)}, {level(estimate)} interval {change_between(estimate)}, n {number(estimate.n)}"
    return {"label": name, **_ends(estimate), "text": text, "tip": tip}


def map_rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Every pair of a length and a position, also those without a call."""
    known = {(cell.length, cell.position): cell.figure for cell in cells}
    lengths, positions = (list(dict.fromkeys(names)) for names in zip(*known, strict=True))
    # The longest sessions have every position, so that the order of positions is theirs.
    positions = sorted(positions, key=lambda name: int(name.split("–")[0].rstrip("+")))
    rows = []
    for length in lengths:
        for position in positions:
            place = {"length": length, "from": start(position)}
            figure = known.get((length, position))
            if figure is None or figure.rate.value is None:
                rows.append({**place, "value": None, "tip": f"{length} messages, calls {position}: {NO_CALLS}"})
                continue
            shade, ink = charts.SHADES[sum(figure.rate.value > end for end in _STEPS)]
            percent = f"{100 * figure.rate.value:.1f}"
            rows.append({**figure_row(figure), **place, "percent": percent, "shade": shade, "ink": ink})
    return rows


def figure_cells(figure: Figure) -> tuple[str, ...]:
    estimate = figure.rate
    counts = (number(figure.failed), number(figure.calls), number(figure.sessions))
    return rate(estimate), rate_between(estimate), level(estimate), *counts


def mix_cells(figure: Figure) -> tuple[str, str]:
    return (DASH, DASH) if figure.fixed_mix is None else (rate(figure.fixed_mix), rate_between(figure.fixed_mix))


def change_cells(estimate: Estimate) -> tuple[str, ...]:
    return change(estimate), change_between(estimate), level(estimate), number(estimate.n), number(estimate.clusters)


def difference(estimate: Estimate) -> str:
    if estimate.value is None:
        return unknown(estimate.reason)
    if estimate.interval is None:
        return f"{change(estimate)} (no interval: {estimate.reason})"
    return f"{change(estimate)} ({level(estimate)} interval {change_between(estimate)})"


def ratio_row(name: str, judgement: Judgement, before: Counts | None, after: Counts | None) -> dict[str, Any]:
    ends = judgement.interval
    shown = DASH if judgement.ratio is None else f"{judgement.ratio:.2f}×"
    calls = sum(side.counted for side in (before, after) if side is not None)
    return {
        "label": visible(name, LABEL_CHARS),
        # A ratio of zero has no place on this scale; its interval has.
        "value": judgement.ratio or None,
        "low": None if ends is None else max(ends.low, 0.01),
        "high": None if ends is None else (100.0 if ends.high is None else max(ends.high, 0.01)),
        "text": f"{shown} {_preserved(judgement)}",
        "tip": f"{visible(name, LABEL_CHARS)}: {shown}, interval {_ratio_between(ends)}, {plural(calls, 'call')}",
    }


def judgement_cells(judgement: Judgement) -> tuple[str, ...]:
    ends = judgement.interval
    preserved = judgement.reason or _preserved(judgement)
    ratio = DASH if judgement.ratio is None else f"{judgement.ratio:.2f}×"
    return preserved, ratio, _ratio_between(ends), DASH if ends is None else f"{100 * ends.level:g} %"


def _preserved(judgement: Judgement) -> str:
    return {True: "preserved", False: "lost", None: "cannot tell"}[judgement.preserved]


def _ratio_between(ends: Ends | None) -> str:
    if ends is None:
        return DASH
    return f"{ends.low:.2f} or more" if ends.high is None else f"{ends.low:.2f}–{ends.high:.2f}"


def side(counts: Counts | None) -> str:
    return DASH if counts is None else f"{share(counts.error_rate)} of {plural(counts.counted, 'call')}"


def counted(check: CompressionCheck) -> int:
    return sum(side.counted for side in (check.before, check.after) if side is not None)


def lineage(check: CompressionCheck) -> str:
    more = f" and {len(check.sessions) - 1} more" if len(check.sessions) > 1 else ""
    return visible(str(check.sessions[0]), LABEL_CHARS - len(more)) + more


def unique(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose labels would fall together after shortening are numbered: a label is a place on the axis."""
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        count = seen[row["label"]] = seen.get(row["label"], 0) + 1
        found.append({**row, "label": f"{row['label']} ({count})"} if count > 1 else row)
    return found


def start(block: str) -> str:
    """Where a block of positions begins: `11` of `11–20`."""
    return block.split("–")[0]


def _short_plural(count: int, one: str) -> str:
    return f"{short_number(count)} {one if count == 1 else one + 's'}"


def p_value(value: float | None) -> str:
    return DASH if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"
