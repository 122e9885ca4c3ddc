"""`judge` and `agreement`: verdicts, and how true they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from seasoned.cli.history import AsJson, UseStore


def judge(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files, folders or databases.", metavar="[PATH]...")
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind", help="Judge without the explicit flags; `--blind strict` is --strict.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Like --blind, and without the marks that a harness puts into the text.")
    ] = False,
    use_store: UseStore = False,
    as_json: AsJson = False,
) -> None:
    """Judge every call: one JSON line each, with verdict, evidence, fault and reason.

    Example: seasoned judge ~/.codex/sessions --blind
    """
    from seasoned.cli.output import print_json
    from seasoned.cli.place import look, stored
    from seasoned.config import load

    config = load()
    mode: Any = "strict" if strict else "blind" if blind else "full"
    store = stored(config) if use_store and not paths else look(config, paths or [], mode=mode)[1]
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


def agreement(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files, folders or databases.", metavar="[PATH]...")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Score the judge: blind verdicts against the explicit flags, per source and tool.

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
        with look(config, paths or [], mode=mode)[1] as store:
            rows[mode] = store.rows("call.judged")
    full = complete(_pairs(rows["full"]))
    scores = {mode: score_pairs(_pairs(rows[mode])) for mode in ("blind", "strict")}
    if as_json:
        print_json("agreement", agreement_answer(scores, full))
    else:
        print_agreement(scores, full)
    if not scores["blind"].pooled.n:
        raise typer.Exit(1)


def _pairs(rows: list[Any]) -> list[Any]:
    """The judged calls that carry a label."""
    from seasoned.outcome.agreement import Pair

    return [
        Pair(row["agent"], row["native_id"], row["tool"], row["verdict"], bool(row["flag"]))
        for row in rows
        if row["flag"] is not None
    ]
