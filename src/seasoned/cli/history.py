"""`scan`, `sessions`, `show`: what the histories hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="Files, folders or databases. Without one, this user's own histories.", metavar="[PATH]..."),
]
AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
UseStore = Annotated[bool, typer.Option("--store", help="What is already in the store, without reading anything.")]


def scan(paths: Paths = None, as_json: AsJson = False) -> None:
    """Read histories into the store: only what is new or has changed.

    Example: seasoned scan ~/.claude/projects
    """
    from seasoned.cli.output import plural, print_json
    from seasoned.cli.place import scan_into_store
    from seasoned.config import load
    from seasoned.errors import SourceError

    report, store = scan_into_store(load(), paths or [])
    if report.failures and not report.read and not report.unchanged:
        raise SourceError(f"Nothing could be read. {report.failures[0][1]}")
    if as_json:
        from msgspec.structs import asdict

        totals = dict(store.row("source.counts") or {}) if store is not None else {}
        print_json("scan", {**asdict(report), "store": totals})
        return
    typer.echo(
        f"Read {plural(report.read, 'file')} ({report.bytes / 1e6:.1f} MB) in {report.seconds:.2f} s: "
        f"{plural(report.sessions, 'session')}, {plural(report.calls, 'call')}; "
        f"{plural(report.unchanged, 'file')} unchanged, {plural(report.no_history, 'file')} no history."
    )
    if report.unreadable:
        typer.echo(f"{plural(report.unreadable, 'record')} could not be read: `seasoned doctor` shows where and why.")
    if report.gone:
        typer.echo(f"{plural(report.gone, 'file')} gone since the last scan; what was learned from them stays.")
    for _, reason in report.failures:
        typer.echo(f"Left out: {reason}", err=True)


def sessions(
    paths: Paths = None,
    min_messages: Annotated[int, typer.Option(help="Only sessions with at least so many messages.")] = 0,
    source: Annotated[str | None, typer.Option(help="Only those of one agent, such as claude-code.")] = None,
    task_type: Annotated[str | None, typer.Option(help="code, file, research or mixed.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many, newest first.")] = 50,
    use_store: UseStore = False,
    as_json: AsJson = False,
) -> None:
    """List sessions with their calls and how many failed.

    Example: seasoned sessions --min-messages 30 --source claude-code
    """
    from seasoned.cli.output import percent, print_json, table, when
    from seasoned.cli.place import store_for

    with store_for(paths, use_store=use_store) as store:
        rows = store.rows(
            "session.list",
            {"min_messages": min_messages, "agent": source, "task_type": task_type, "limit": limit},
        )
        if as_json:
            from seasoned.cli.answers import session_answer

            print_json("sessions", {"count": len(rows), "sessions": [session_answer(row) for row in rows]})
            return
        if not rows:
            typer.echo("No sessions match.")
            return
        table(
            ["agent", "session", "when", "messages", "calls", "failed", "rate", "unclear", "task"],
            [
                (
                    row["agent"],
                    row["native_id"],
                    when(row["ended"]),
                    row["messages"],
                    row["calls"],
                    row["failed"],
                    percent(row["failed"], row["ok"] + row["failed"]),
                    row["unclear"],
                    row["task_type"],
                )
                for row in rows
            ],
            right=["messages", "calls", "failed", "rate", "unclear"],
        )


def show(
    session: Annotated[str, typer.Argument(help="A session's id, or the beginning of one.")],
    paths: Paths = None,
    full: Annotated[bool, typer.Option("--full", help="The whole texts, not their beginnings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one session: what was said, and every call with its verdict and why.

    Example: seasoned show 53ea19c1
    """
    from seasoned.cli.conversation import show_session

    show_session(session, paths, full=full, as_json=as_json)
