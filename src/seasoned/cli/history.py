"""`scan`, `sessions`, `show`: what the histories hold."""

from __future__ import annotations

from pathlib import Path

import click

from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option, verbose_option


@click.command(epilog=PATHS_HELP)
@paths_argument
@verbose_option
@json_option
def scan(paths: tuple[Path, ...], verbose: bool, as_json: bool) -> None:
    """Read histories into the store: only what is new or has changed.

    \b
    Example: seasoned scan ~/.claude/projects
    """
    from seasoned.cli.output import print_json
    from seasoned.cli.place import scan_into_store
    from seasoned.config import load
    from seasoned.errors import SourceError
    from seasoned.text import plural

    report, store = scan_into_store(load(), paths, verbose=verbose)
    if report.failures and not report.read and not report.unchanged:
        raise SourceError(f"Nothing could be read. {report.failures[0][1]}")
    if as_json:
        from msgspec.structs import asdict

        totals = dict(store.row("source.counts") or {}) if store is not None else {}
        print_json("scan", {**asdict(report), "store": totals})
        return
    click.echo(
        f"Read {plural(report.read, 'file')} ({report.bytes / 1e6:.1f} MB) in {report.seconds:.2f} s: "
        f"{plural(report.sessions, 'session')}, {plural(report.calls, 'call')}; "
        f"{plural(report.unchanged, 'file')} unchanged, {plural(report.no_history, 'file')} no history."
    )
    if report.unreadable:
        click.echo(f"{plural(report.unreadable, 'record')} could not be read: `seasoned doctor` shows where and why.")
    if report.gone:
        click.echo(f"{plural(report.gone, 'file')} gone since the last scan; what was learned from them stays.")
    for _, reason in report.failures:
        click.echo(f"Left out: {reason}", err=True)


@click.command(epilog=PATHS_HELP)
@paths_argument
@click.option("--min-messages", default=0, show_default=True, help="Only sessions with at least so many messages.")
@click.option("--source", help="Only those of one agent, such as claude-code.")
@click.option("--task-type", type=click.Choice(["code", "file", "research", "mixed"]), help="Only those of one type.")
@click.option("--limit", default=50, show_default=True, help="At most so many, newest first.")
@store_option
@json_option
def sessions(
    paths: tuple[Path, ...],
    min_messages: int,
    source: str | None,
    task_type: str | None,
    limit: int,
    use_store: bool,
    as_json: bool,
) -> None:
    """List sessions with their calls and how many failed.

    \b
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
            click.echo("No sessions match.")
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
            whole=["agent", "session", "when"],
        )


@click.command(epilog=PATHS_HELP)
@click.argument("session")
@paths_argument
@click.option("--full", is_flag=True, help="The whole texts, not their beginnings.")
@json_option
def show(session: str, paths: tuple[Path, ...], full: bool, as_json: bool) -> None:
    """Show one session: what was said, and every call with its verdict and why.

    \b
    Example: seasoned show 53ea19c1
    """
    from seasoned.cli.conversation import show_session

    show_session(session, paths, full=full, as_json=as_json)
