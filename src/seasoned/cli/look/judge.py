"""`judge` and `agreement`: verdicts on calls, and how well they agree with the agents' own flags."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from seasoned.app.stores import own_paths, read_secrecy, scanned_files
from seasoned.cli.options import PATHS_HELP, json_option, paths_argument
from seasoned.cli.output import answered, as_fields, print_json, say, table
from seasoned.cli.project import histories, print_passed_over
from seasoned.config import load
from seasoned.errors import SeasonedError
from seasoned.history.read import read_all
from seasoned.outcome.agreement import (
    Agreement,
    AgreementScore,
    FlagAgreement,
    ForeignStatus,
    Sight,
    complete,
    foreign_status,
    labeled_calls,
)
from seasoned.outcome.agreement import agreement as score_calls
from seasoned.outcome.judge import judge as judge_call
from seasoned.outcome.recorded_label import blind as without_label
from seasoned.outcome.verdict import JUDGE
from seasoned.session import Session
from seasoned.text import plural

_FIELDS = ("tool", "verdict", "evidence", "fault", "reason", "judge")
_FIGURES = ("n", "failed", "said_failed", "precision", "recall", "f1")
_COLUMNS = ["", "n", "failed", "said failed", "precision", "recall", "F1"]
_COLUMNS += ["95 % interval", "kappa", "poison", "unclear"]
# Tools with fewer failed calls say little; the JSON has them all.
_FEWEST_FAILED = 5
_HIDDEN: tuple[Sight, ...] = ("blind", "strict")


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option(
    "--blind",
    is_flag=True,
    help="Judge without the explicit flags, by the wording.",
)
@json_option
def judge(paths: tuple[Path, ...], blind: bool) -> None:
    """Judge every call, one JSON line each.

    A line has the verdict, the evidence for it, the fault and the reason.

    \b
    Example: seasoned judge ~/.codex/sessions --blind
    """
    if not blind:
        with histories(paths) as read:
            # Row by row: a store can have millions of calls.
            for row in read.store.each("call.judged"):
                found = {"session": row["native_id"], "agent": row["agent"], "call": row["call_id"]}
                print_json("judge", found | {name: row[name] for name in _FIELDS}, lines=True)
    else:
        _print_blind(paths)
    # Here, where click handles a pipe that was closed (`| head`); at exit Python would print an error.
    sys.stdout.flush()


def _print_blind(paths: tuple[Path, ...]) -> None:
    passed_over: list[tuple[str, str]] = []
    redact = read_secrecy(load()).redactor().text
    for session in _sessions(paths, passed_over):
        agent = session.ref.agent
        for call in session.calls():
            if not call.synthetic:
                verdict = judge_call(without_label(call, agent=agent), agent=agent)
                said = {**asdict(verdict), "reason": redact(verdict.reason)}
                found = {"session": session.ref.native_id, "agent": agent, "call": call.id, "tool": call.tool, **said}
                print_json("judge", {**found, "judge": f"{JUDGE}-blind"}, lines=True)
    print_passed_over(passed_over)


def _sessions(paths: tuple[Path, ...], passed_over: list[tuple[str, str]]) -> Iterator[Session]:
    """The sessions as their files have them: what a store has is cut, and judged with everything in sight."""
    config = load()
    errors: list[SeasonedError] = []
    found = False

    def pass_over(path: str, error: SeasonedError) -> None:
        errors.append(error)
        passed_over.append((path, str(error)))

    places = paths or scanned_files(config) or own_paths(config)
    for session in read_all(places, named=bool(paths), pass_over=pass_over):
        found = True
        yield session
    if errors and not found:
        raise errors[0]


@click.command(epilog=PATHS_HELP)
@paths_argument
@json_option
def agreement(paths: tuple[Path, ...]) -> None:
    """Score the judge against explicit flags.

    The flags are hidden, the calls are judged by what is left, and the verdicts are compared with the flags: pooled,
    by source and by tool.

    \b
    Example: seasoned agreement ~/.claude/projects
    """
    passed_over: list[tuple[str, str]] = []
    calls = list(labeled_calls(_sessions(paths, passed_over)))
    print_passed_over(passed_over)
    full, lost = complete(calls), foreign_status(calls)
    scores = {sight: score_calls(calls, sight) for sight in _HIDDEN}
    answer = {"with_flags": asdict(full), "foreign_status": _foreign_answer(lost)}
    answer |= {sight: _answer(one) for sight, one in scores.items()}
    left_out = [{"path": path, "reason": reason} for path, reason in passed_over]
    if not answered("agreement", answer | {"passed_over": left_out}):
        _print_agreement(scores["blind"], scores["strict"], full, lost)
    # Nothing was scored, and no score must not pass for a good one.
    if not scores["blind"].pooled.n:
        raise click.exceptions.Exit(1)


def _foreign_answer(found: ForeignStatus) -> dict[str, Any]:
    redact = read_secrecy(load()).redactor().text
    listed = [
        {"agent": one.agent, "session": one.session, "call": one.call, "tool": one.tool, "reason": redact(one.reason)}
        for one in found.disagreeing
    ]
    return {**asdict(found), "disagreeing": listed}


def _answer(found: Agreement) -> dict[str, Any]:
    return {
        "pooled": as_fields(found.pooled),
        # Most flags come from one agent; this line shows how the judge does without it.
        "pooled_without_claude_code": as_fields(found.others),
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
        f"{lost.unclear} unclear. They are not scored; --json lists them.\n"
        "Blind: the flags are hidden, and verdicts from the wording alone are scored against them.\n"
    )
    by_tool = sorted((one for one in blind.tools if one.failed >= _FEWEST_FAILED), key=lambda one: -one.failed)
    for title, scores in (
        ("Blind", (*blind.sources, blind.others, blind.pooled)),
        ("Strictly blind, without what the harness writes into results", (strict.others, strict.pooled)),
        ("Blind, by tool", by_tool),
    ):
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
