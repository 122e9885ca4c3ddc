"""The first summary: how many sessions and calls, how many failed, which tools fail most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from seasoned.cli.output import percent, table, when
from seasoned.scan.scan import ScanReport
from seasoned.store import Store
from seasoned.text import plural

_TOOLS_SHOWN = 8


def summary_answer(store: Store, report: ScanReport, *, is_sample: bool) -> dict[str, Any]:
    """The summary for programs."""
    return {
        "is_sample": is_sample,
        "files": report.files,
        "seconds": report.seconds,
        "unreadable": report.unreadable,
        "agents": [dict(row) for row in store.rows("session.totals")],
        "tools": [dict(row) for row in store.rows("call.by_tool", {"limit": 1000})],
    }


def print_summary(store: Store, report: ScanReport) -> None:
    """The summary for people."""
    agents = store.rows("session.totals")
    if not agents:
        click.echo("No sessions yet.")
        return
    click.echo(
        f"{plural(report.files, 'file')} looked at in {report.seconds:.2f} s, "
        f"{plural(report.read, 'file')} with news.\n"
    )
    table(
        ["agent", "sessions", "messages", "calls", "failed", "error rate", "unclear", "left out", "last"],
        [
            (
                row["agent"],
                row["sessions"],
                row["messages"],
                row["calls"],
                row["failed"],
                percent(row["failed"], row["ok"] + row["failed"]),
                row["unclear"],
                row["declined"] + row["cancelled"] + row["interrupted"] + row["trivial"],
                when(row["last"]),
            )
            for row in agents
        ],
        right=["sessions", "messages", "calls", "failed", "error rate", "unclear", "left out"],
        whole=["last"],
    )
    failing = [row for row in store.rows("call.by_tool", {"limit": _TOOLS_SHOWN}) if row["failed"]]
    if failing:
        click.echo("\nTools whose calls fail most often:\n")
        table(
            ["tool", "calls", "failed", "error rate", "in sessions"],
            [
                (
                    row["tool"],
                    row["calls"],
                    row["failed"],
                    percent(row["failed"], row["ok"] + row["failed"]),
                    row["sessions"],
                )
                for row in failing
            ],
            right=["calls", "failed", "error rate", "in sessions"],
        )
    click.echo(
        "\nError rate = failed / (ok + failed); declined, cancelled and interrupted calls, trivial tools and copies"
        "\nare left out. Next: `seasoned sessions`, `seasoned show SESSION`, `seasoned agreement`."
    )
    unreadable = store.rows("source.unreadable")
    if unreadable:
        first = unreadable[0]
        click.echo(
            f"{plural(len(unreadable), 'record')} could not be read; the first is "
            f"{Path(first['path']).name}, {first['place']}: {first['reason']}."
        )
