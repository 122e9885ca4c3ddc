"""Prints how well blind verdicts agree with the explicit flags."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import asdict

from seasoned.cli.output import table
from seasoned.outcome.agreement import Agreement, AgreementScore, Complete, F1Interval
from seasoned.text import plural

_COLUMNS = [
    "",
    "n",
    "failed",
    "said failed",
    "precision",
    "recall",
    "F1",
    "95 % interval",
    "kappa",
    "poison",
    "unclear",
]
_FEWEST_FAILED = 5
"""Tools with fewer failed calls than this say little; they are in the JSON."""


def agreement_answer(scores: dict[str, Agreement], full: Complete) -> dict[str, Any]:
    """All scores for programs."""
    return {
        "with_flags": asdict(full),
        **{
            mode: {
                "pooled": _answer(found.pooled),
                "pooled_without_claude_code": _answer(found.others),
                "sources": [_answer(score) for score in found.sources],
                "tools": [_answer(score) for score in found.tools],
            }
            for mode, found in scores.items()
        },
    }


def print_agreement(scores: dict[str, Agreement], full: Complete) -> None:
    """The scores for people: sources, then the tools that fail, blind and strictly blind."""
    blind, strict = scores["blind"], scores["strict"]
    if not blind.sources:
        click.echo("No call here carries an explicit flag, so there is nothing to score against.")
        return
    click.echo(
        f"With flags visible: {full.agreeing} of {plural(full.n, 'flagged call')} get the verdict their flag says.\n"
        "Blind: the flags are taken away, and what is left, the wording, is scored against them.\n"
    )
    for title, found in (("Blind", blind), ("Strictly blind (harness marks taken away as well)", strict)):
        rows = [_row(score) for score in (*found.sources, found.others, found.pooled)]
        table(_COLUMNS, rows, right=_COLUMNS[1:], whole=[""], title=title)
        click.echo("")
    tools = [score for score in blind.tools if score.failed >= _FEWEST_FAILED]
    if tools:
        tools.sort(key=lambda score: -score.failed)
        table(_COLUMNS, [_row(score) for score in tools], right=_COLUMNS[1:], whole=[""], title="Blind, by tool")
        click.echo("")
    click.echo(
        "poison: share of the verdicts ok that the flag calls failed. (circular): the label is itself wording;\n"
        "shown, but not in the pool. Intervals: bootstrap over whole sessions."
    )


def _answer(score: AgreementScore) -> dict[str, Any]:
    answer = asdict(score)
    answer["f1_interval"] = None if score.f1_interval is None else asdict(score.f1_interval)
    return answer


def _row(score: AgreementScore) -> tuple[object, ...]:
    return (
        f"{score.name} (circular)" if score.circular else score.name,
        score.n,
        score.failed,
        score.said_failed,
        score.precision,
        score.recall,
        score.f1,
        _interval(score.f1_interval),
        score.kappa,
        score.poison,
        score.unclear,
    )


def _interval(interval: F1Interval | None) -> str | None:
    return None if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"
