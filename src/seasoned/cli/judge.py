"""`judge` and `agreement`: verdicts, and how true they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option
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


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option("--blind", is_flag=True, help="Judge without the explicit flags; `--blind strict` is --strict.")
@click.option("--strict", is_flag=True, help="Like --blind, and without the marks that a harness puts into the text.")
@store_option
@click.option("--json", "as_json", is_flag=True, help="JSON lines, which is what it prints anyway.")
def judge(paths: tuple[Path, ...], blind: bool, strict: bool, use_store: bool, as_json: bool) -> None:
    """Judge every call: one JSON line each, with verdict, evidence, fault and reason.

    \b
    Example: seasoned judge ~/.codex/sessions --blind
    """
    from seasoned.app.stores import look, stored
    from seasoned.cli.output import ReadingBar, print_json
    from seasoned.config import load

    config = load()
    del as_json
    mode: Any = "strict" if strict else "blind" if blind else "full"
    store = stored(config) if use_store and not paths else look(config, paths, mode=mode, progress=ReadingBar)[1]
    with store:
        for row in store.each("call.judged"):
            print_json(
                "judge",
                {
                    "session": row["native_id"],
                    "agent": row["agent"],
                    "call": row["call_id"],
                    "tool": row["tool"],
                    "verdict": row["verdict"],
                    "evidence": row["evidence"],
                    "fault": row["fault"],
                    "reason": row["reason"],
                    "judge": row["judge"],
                },
                lines=True,
            )
    sys.stdout.flush()


@click.command(epilog=PATHS_HELP)
@paths_argument
@json_option
def agreement(paths: tuple[Path, ...], as_json: bool) -> None:
    """Score the judge: blind verdicts against the explicit flags, per source and tool.

    \b
    Example: seasoned agreement ~/.claude/projects
    """
    from seasoned.app.stores import look
    from seasoned.cli.output import ReadingBar, print_json
    from seasoned.config import load
    from seasoned.outcome.agreement import agreement as score_pairs
    from seasoned.outcome.agreement import complete

    config = load()
    rows = {}
    for mode in ("full", "blind", "strict"):
        with look(config, paths, mode=mode, progress=ReadingBar)[1] as store:
            rows[mode] = store.rows("call.judged")
    full = complete(_pairs(rows["full"]))
    scores = {mode: score_pairs(_pairs(rows[mode])) for mode in ("blind", "strict")}
    if as_json:
        print_json("agreement", agreement_answer(scores, full))
    else:
        print_agreement(scores, full)
    if not scores["blind"].pooled.n:
        raise click.exceptions.Exit(1)


def _pairs(rows: list[Any]) -> list[Any]:
    """The judged calls that carry a label."""
    from seasoned.outcome.agreement import LabeledVerdict

    return [
        LabeledVerdict(row["agent"], row["native_id"], row["tool"], row["verdict"], bool(row["flag"]))
        for row in rows
        if row["flag"] is not None
    ]
