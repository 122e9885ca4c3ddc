"""`judge` and `agreement`: verdicts on calls, and how well they agree with the agents' own flags."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from seasoned.app import stores
from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option
from seasoned.cli.output import ReadingBar, as_fields, print_json, say, table
from seasoned.cli.project import histories, passed_over_answer, print_passed_over
from seasoned.config import load
from seasoned.outcome.agreement import (
    Agreement,
    AgreementScore,
    FlagAgreement,
    ForeignStatus,
    LabeledVerdict,
    complete,
    foreign_status,
)
from seasoned.outcome.agreement import agreement as score_pairs
from seasoned.outcome.recorded_label import CIRCULAR, is_foreign
from seasoned.scan.rows import Mode
from seasoned.store import DatabaseRow
from seasoned.text import plural

_FIELDS = ("tool", "verdict", "evidence", "fault", "reason", "judge")
_FIGURES = ("n", "failed", "said_failed", "precision", "recall", "f1")
_COLUMNS = ["", "n", "failed", "said failed", "precision", "recall", "F1"]
_COLUMNS += ["95 % interval", "kappa", "poison", "unclear"]
# Tools with fewer failed calls say little; the JSON has them all.
_FEWEST_FAILED = 5


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option(
    "--blind",
    is_flag=False,
    flag_value="blind",
    metavar="[strict]",
    help="Judge without the explicit flags; strict: also without what the harness writes into results.",
)
@store_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines; this is the default.")
def judge(paths: tuple[Path, ...], blind: str | None, use_store: bool, as_json: bool) -> None:
    """Judge every call, one JSON line each.

    A line has the verdict, the evidence for it, the fault and the reason.

    \b
    Example: seasoned judge ~/.codex/sessions --blind
    """
    # Accepted because every command has it; the output is JSON in any case.
    del as_json
    mode: Mode = "full" if blind is None else "strict" if blind == "strict" else "blind"
    if blind not in (None, "blind", "strict"):
        # An option with an optional value takes the word after it, and in `judge --blind PATH` that is a path.
        paths = (Path(blind), *paths)
    with histories(paths, use_store=use_store, mode=mode) as read:
        # Row by row: a store can have millions of calls.
        for row in read.store.each("call.judged"):
            found = {"session": row["native_id"], "agent": row["agent"], "call": row["call_id"]}
            print_json("judge", found | {name: row[name] for name in _FIELDS}, lines=True)
    # Here, where click handles a pipe that was closed (`| head`); at exit Python would print an error.
    sys.stdout.flush()


@click.command(epilog=PATHS_HELP)
@paths_argument
@json_option
def agreement(paths: tuple[Path, ...], as_json: bool) -> None:
    """Score the judge against explicit flags.

    The flags are hidden, the calls are judged by what is left, and the verdicts are compared with the flags: pooled,
    by source and by tool.

    \b
    Example: seasoned agreement ~/.claude/projects
    """
    pairs: dict[str, list[LabeledVerdict]] = {}
    foreign: set[tuple[str, str, str]] = set()
    modes: tuple[Mode, ...] = ("full", "blind", "strict")
    # Calls are judged while histories are read, so each way of judging needs its own reading.
    for mode in modes:
        with stores.histories(load(), paths, mode=mode, judge_again=True, progress=ReadingBar) as read:
            rows = [row for row in read.store.rows("call.judged") if row["flag"] is not None]
        if mode == "full":
            # Only a judge that sees the flag says whose status it is.
            foreign = {_key(row) for row in rows if is_foreign(bool(row["flag"]), row["evidence"])}
        pairs[mode] = [_pair(row, foreign=row["agent"] not in CIRCULAR and _key(row) in foreign) for row in rows]
    print_passed_over(read.passed_over)
    full, lost = complete(pairs["full"]), foreign_status(pairs["full"])
    scores = {mode: score_pairs(pairs[mode]) for mode in ("blind", "strict")}
    if as_json:
        found = {"with_flags": asdict(full), "foreign_status": _foreign_answer(lost)}
        answer = found | {mode: _answer(one) for mode, one in scores.items()}
        print_json("agreement", answer | passed_over_answer(read))
    else:
        _print_agreement(scores["blind"], scores["strict"], full, lost)
    # Nothing was scored, and no score must not pass for a good one.
    if not scores["blind"].pooled.n:
        raise click.exceptions.Exit(1)


def _key(row: DatabaseRow) -> tuple[str, str, str]:
    return row["agent"], row["native_id"], row["call_id"]


def _pair(row: DatabaseRow, *, foreign: bool) -> LabeledVerdict:
    said = (row["verdict"], bool(row["flag"]), foreign, row["call_id"], row["reason"])
    return LabeledVerdict(row["agent"], row["native_id"], row["tool"], *said)


def _foreign_answer(found: ForeignStatus) -> dict[str, Any]:
    listed = [
        {"agent": one.agent, "session": one.session, "call": one.call, "tool": one.tool, "reason": one.reason}
        for one in found.disagreeing
    ]
    return {**asdict(found), "disagreeing": listed}


def _answer(found: Agreement) -> dict[str, Any]:
    return {
        "pooled": as_fields(found.pooled),
        # Most flags come from one agent; this line shows how the judge does without it.
        "pooled_without_claude_code": as_fields(found.others),
        "pooled_with_foreign": as_fields(found.pooled_with_foreign),
        "pooled_with_foreign_without_claude_code": as_fields(found.others_with_foreign),
        "sources": [as_fields(score) for score in found.sources],
        "tools": [as_fields(score) for score in found.tools],
    }


def _print_agreement(blind: Agreement, strict: Agreement, full: FlagAgreement, lost: ForeignStatus) -> None:
    if not blind.sources:
        say("No call here carries an explicit flag, so there is nothing to score against.")
        return
    say(
        f"With flags visible: {full.agreeing} of {plural(full.n, 'flagged call')} get the verdict their flag says.\n"
        f"Foreign status: {plural(lost.n, 'recorded success', 'recorded successes')} of another program, as in "
        f"`pytest | tail`. By the output {lost.failed} failed,\n"
        f"{lost.unclear} unclear. They are scored apart; --json lists them.\n"
        "Blind: the flags are hidden, and verdicts from the wording alone are scored against them.\n"
    )
    tables = [
        (
            "Blind",
            (*blind.sources, blind.others, blind.pooled, blind.others_with_foreign, blind.pooled_with_foreign),
        ),
        (
            "Strictly blind (without what the harness writes into results)",
            (*strict.sources, strict.others, strict.pooled),
        ),
        (
            "Blind, by tool",
            sorted((one for one in blind.tools if one.failed >= _FEWEST_FAILED), key=lambda o: -o.failed),
        ),
    ]
    for title, scores in tables:
        if scores:
            table(_COLUMNS, [_row(score) for score in scores], nowrap=[""], title=title)
            say()
    say(
        "poison: share of ok verdicts that the flag calls failed. (circular): the label is itself wording, so the\n"
        "source is shown but not pooled. Intervals: bootstrap over whole sessions."
    )


def _row(score: AgreementScore) -> tuple[object, ...]:
    ends = score.f1_interval
    return (
        f"{score.name} (circular)" if score.circular else score.name,
        *[getattr(score, name) for name in _FIGURES],
        None if ends is None else f"{ends.low:.3f}–{ends.high:.3f}",
        score.kappa,
        score.poison,
        score.unclear,
    )
