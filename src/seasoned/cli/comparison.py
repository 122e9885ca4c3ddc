"""A comparison for programs and for people."""

from __future__ import annotations

from typing import Any

import click

from seasoned.cli.output import print_json, table
from seasoned.insight.compare import Comparison, Side
from seasoned.insight.words import share
from seasoned.stats.interval import Interval


def print_comparison(found: Comparison, *, as_sets: bool, include: tuple[str, ...], as_json: bool) -> None:
    """What two sides say."""
    if as_json:
        print_json("compare", {**_answer(found, as_sets=as_sets), "include": list(include)})
        return
    table(
        ["", "sessions" if as_sets else "session", "calls", "failed", "error rate"],
        [_row("warm", found.warm, as_sets=as_sets), _row("cold", found.cold, as_sets=as_sets)],
        right=["calls", "failed", "error rate"],
        whole=["session"],
    )
    click.echo(f"\n{found.sentence}")
    if (tools := _tools_sentence(found)) is not None:
        click.echo(tools)
    for note in found.notes:
        click.echo(note)
    if include:
        click.echo(f"Counted too: {', '.join(include)}.")


def _row(name: str, side: Side, *, as_sets: bool) -> tuple[object, ...]:
    who = f"{len(side.sessions)} in {side.lineages} lineages" if as_sets else str(side.sessions[0])
    return name, who, side.total, side.errors, share(side.error_rate)


def _tools_sentence(found: Comparison) -> str | None:
    """The improvement at one mix of tools, where there are sets."""
    if found.standardised is None:
        return None
    estimate, covered = found.standardised.estimate, found.standardised.covered
    if estimate.value is None:
        return f"With the tools held fixed nothing can be said: {estimate.reason}."
    way = "less" if estimate.value >= 0 else "more"
    sign = 1 if estimate.value >= 0 else -1
    ends = ""
    if estimate.interval is not None:
        low, high = sorted((100 * sign * estimate.interval.low, 100 * sign * estimate.interval.high))
        ends = f" (95 % interval {low:.1f} to {high:.1f})".replace("-", "−")
    part = "" if covered > 0.995 else f"; the tools that both sides use make {share(covered)} of the calls"
    return f"With the same mix of tools on both sides: {100 * abs(estimate.value):.1f} points {way}{ends}{part}."


def _answer(found: Comparison, *, as_sets: bool) -> dict[str, Any]:
    """The comparison as programs see it."""
    answer: dict[str, Any] = {"test_name": found.test_name, "is_set": as_sets}
    for name, side in (("warm", found.warm), ("cold", found.cold)):
        ids = [ref.native_id for ref in side.sessions]
        answer |= {
            f"{name}_id": ids if as_sets else ids[0],
            f"{name}_agents": sorted({ref.agent for ref in side.sessions}),
            f"{name}_sessions": len(ids),
            f"{name}_lineages": side.lineages,
            f"{name}_without_calls": side.without_calls,
            f"{name}_errors": side.errors,
            f"{name}_total": side.total,
            f"{name}_error_rate": side.error_rate,
        }
    return answer | {
        "improvement": found.improvement,
        "interval": _ends(found.interval),
        "p_value": found.p_value,
        "warm_better": found.warm_better,
        "sentence": found.sentence,
        "notes": list(found.notes),
        "in_both": [ref.native_id for ref in found.in_both],
        "smallest_detectable": _smallest(found),
        "standardised": _standardised(found),
    }


def _smallest(found: Comparison) -> dict[str, Any] | None:
    smallest = found.smallest_detectable
    return None if smallest is None else {"fall": smallest.fall, "rise": smallest.rise, "reason": smallest.reason}


def _standardised(found: Comparison) -> dict[str, Any] | None:
    if found.standardised is None:
        return None
    estimate = found.standardised.estimate
    return {
        "improvement": estimate.value,
        "interval": _ends(estimate.interval),
        "p_value": estimate.p_value,
        "reason": estimate.reason,
        "covered": found.standardised.covered,
        "missing": list(found.standardised.missing),
    }


def _ends(interval: Interval | None) -> list[float] | None:
    """The two ends of a 95 % interval."""
    return None if interval is None else [interval.low, interval.high]
