"""`judge` and `agreement`: verdicts, and how true they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option


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
    from seasoned.cli.output import print_json
    from seasoned.cli.place import look, stored
    from seasoned.config import load

    config = load()
    del as_json
    mode: Any = "strict" if strict else "blind" if blind else "full"
    store = stored(config) if use_store and not paths else look(config, paths, mode=mode)[1]
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
    from seasoned.cli.agreement import agreement_answer, print_agreement
    from seasoned.cli.output import print_json
    from seasoned.cli.place import look
    from seasoned.config import load
    from seasoned.outcome.agreement import agreement as score_pairs
    from seasoned.outcome.agreement import complete

    config = load()
    rows = {}
    for mode in ("full", "blind", "strict"):
        with look(config, paths, mode=mode)[1] as store:
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
