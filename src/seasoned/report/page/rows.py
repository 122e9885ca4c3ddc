"""Formats figures for the page: plot data in percent, table cells, text with hidden characters escaped."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from seasoned.outcome.error_rate import Counts
from seasoned.report.cohort import CohortCell
from seasoned.report.compression import BeforeAfter, CompressionCheck, Judgement
from seasoned.report.page import charts
from seasoned.report.trials import Figure, share, signed
from seasoned.stats.interval import Estimate
from seasoned.text import plural as spaced_plural

DASH = "–"
# Joiners belong to letters and emoji; they do not hide or reorder the text around them.
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def visible(text: str, most: int | None = None) -> str:
    """Text of a session, truncated, with characters escaped that would hide or reorder text."""
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    if text.isprintable():
        return text
    return "".join([c if c in "\n\t" or not _is_hidden(c) else _written_out(c) for c in text])


def _is_hidden(char: str) -> bool:
    return char not in _JOINERS and unicodedata.category(char) in _HIDDEN


def _written_out(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def number(value: int | None) -> str:
    """`12 480`; a dash if unknown."""
    return DASH if value is None else f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def short_number(value: int) -> str:
    """`980`, `1.2k`, `34k`, `1.2M`, `1.8G`: where space is short."""
    for unit, name in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        # A value that would round up to the next unit is written in that unit.
        if value >= unit * 0.9995 and value >= 1_000:
            return f"{value / unit:.1f}{name}" if value < 9.95 * unit else f"{value / unit:.0f}{name}"
    return str(value)


plural = partial(spaced_plural, separator="\N{NARROW NO-BREAK SPACE}")


def date(time: float | None) -> str:
    """A day in UTC, so that a report of the same sessions is the same everywhere."""
    return moment(time)[:10]


def moment(time: float | None) -> str:
    """A time in UTC, to the minute; a dash if unknown."""
    try:
        return DASH if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")
    # Times come from files of other programs, and some are impossible.
    except (OverflowError, ValueError, OSError):
        return DASH


def rate(estimate: Estimate) -> str:
    """`5.7 %`, or a dash with the reason."""
    return unknown(estimate.reason) if estimate.value is None else _kept_together(share(estimate.value))


def rate_between(estimate: Estimate) -> str:
    """`4.9–6.6 %`, or a dash with the reason."""
    if estimate.interval is None:
        return unknown(estimate.reason)
    return _kept_together(f"{100 * estimate.interval.low:.1f}–{100 * estimate.interval.high:.1f} %")


def change(estimate: Estimate) -> str:
    """`−1.2 points`, or a dash with the reason."""
    return unknown(estimate.reason) if estimate.value is None else _kept_together(f"{signed(estimate.value)} points")


def change_between(estimate: Estimate) -> str:
    """`−2.0 to −0.4`, or a dash with the reason."""
    if estimate.interval is None:
        return unknown(estimate.reason)
    return _kept_together(f"{signed(estimate.interval.low)} to {signed(estimate.interval.high)}")


def level(estimate: Estimate) -> str:
    """`95 %`; a dash if there is no interval."""
    return DASH if estimate.interval is None else _kept_together(f"{100 * estimate.interval.level:g} %")


def unknown(reason: str | None) -> str:
    return f"{DASH} ({reason})" if reason else DASH


def _kept_together(text: str) -> str:
    """Keep a figure and its unit on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


LABEL_CHARS = 60
NO_CALLS = "no counted calls"
# Fixed rather than derived from the data, so that the maps of two reports can be compared.
_STEPS = (0.02, 0.04, 0.07, 0.11, 0.16)  # upper ends of the shades of the map


def figure_row(figure: Figure) -> dict[str, Any]:
    """One figure as data of a plot, in percent."""
    found: dict[str, Any] = {
        "label": visible(figure.label, LABEL_CHARS),
        **ends_of(figure.rate),
        "calls": figure.calls,
        "short_calls": short_number(figure.calls),
        "text": f"{share(figure.rate.value)} of {_short_plural(figure.calls, 'call')}",
    }
    tip = f"{found['label']}: {rate(figure.rate)}, {level(figure.rate)} interval {rate_between(figure.rate)}, "
    found["tip"] = tip + f"{plural(figure.calls, 'call')} of {plural(figure.sessions, 'session')}"
    if figure.fixed_mix is not None:
        found |= {f"mix{name}": value for name, value in ends_of(figure.fixed_mix, ("", "_low", "_high")).items()}
        found["tip"] += f"; at equal tools {rate(figure.fixed_mix)}"
    return found


def ends_of(
    estimate: Estimate,
    names: tuple[str, str, str] = ("value", "low", "high"),
    *,
    scale: float = 100.0,
    digits: int = 3,
) -> dict[str, float | None]:
    """An estimate and its interval as fields of a plot's data, in percent by default."""
    interval = estimate.interval
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    ends = zip(names, (estimate.value, low, high), strict=True)
    return {name: None if end is None else round(scale * end, digits) for name, end in ends}


def change_row(name: str, estimate: Estimate) -> dict[str, Any]:
    between = "no interval" if estimate.interval is None else change_between(estimate)
    text = DASH if estimate.value is None else f"{signed(estimate.value)} ({between})"
    tip = f"{name}: {change(estimate)}, {level(estimate)} interval {change_between(estimate)}, n {number(estimate.n)}"
    return {"label": name, **ends_of(estimate), "text": text, "tip": tip}


def map_rows(cells: Sequence[CohortCell]) -> list[dict[str, Any]]:
    """Every pair of a length and a position, also those without calls."""
    known = {(cell.length, cell.position): cell.figure for cell in cells}
    lengths, positions = (list(dict.fromkeys(names)) for names in zip(*known, strict=True))
    # By number, since no single length need have every position.
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


def ratio_row(name: str, judgement: Judgement, before: Counts | None, after: Counts | None) -> dict[str, Any]:
    ends = judgement.interval
    shown = DASH if judgement.ratio is None else f"{judgement.ratio:.2f}×"
    calls = sum(side.counted for side in (before, after) if side is not None)
    return {
        "label": visible(name, LABEL_CHARS),
        # A logarithmic scale cannot show a ratio of zero, only its interval.
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


def _ratio_between(ends: BeforeAfter | None) -> str:
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
    """Number rows with equal truncated labels: labels identify positions on the axis."""
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
