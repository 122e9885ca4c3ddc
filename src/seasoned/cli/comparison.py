"""A comparison for programs and for people."""

from __future__ import annotations

import click

from seasoned.cli.output import print_json, table
from seasoned.insight.compare import ComparedSide, Comparison
from seasoned.insight.json_answer import comparison_answer
from seasoned.insight.rate_text import share


def print_comparison(found: Comparison, *, as_sets: bool, include: tuple[str, ...], as_json: bool) -> None:
    """What two sides say."""
    if as_json:
        print_json("compare", {**comparison_answer(found, as_sets=as_sets), "include": list(include)})
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


def _row(name: str, side: ComparedSide, *, as_sets: bool) -> tuple[object, ...]:
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
