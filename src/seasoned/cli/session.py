"""`scan`, `sessions`, `show`: what the histories hold."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.stores import key_of, look, stored
from seasoned.cli.options import PATHS_HELP, json_option, paths_argument, store_option, verbose_option
from seasoned.cli.output import ReadingBar, console, print_json, printable, when
from seasoned.config import load
from seasoned.errors import SeasonedError
from seasoned.history.formats import read_file
from seasoned.redact import Redactor
from seasoned.session import Session
from seasoned.store.search import find_session
from seasoned.text import plural


def session_answer(row: sqlite3.Row) -> dict[str, Any]:
    """One session as programs see it."""
    counted = row["ok"] + row["failed"]
    return {
        "agent": row["agent"],
        "session_id": row["native_id"],
        "title": row["title"],
        "cwd": row["cwd"],
        "model": row["model"],
        "started": row["started"],
        "ended": row["ended"],
        "message_count": row["messages"],
        "tool_call_count": row["calls"],
        "successful_calls": row["ok"],
        "failed_calls": row["failed"],
        "unclear_calls": row["unclear"],
        "left_out": {name: row[name] for name in ("declined", "cancelled", "interrupted", "trivial", "copies")},
        "error_rate": row["failed"] / counted if counted else None,
        "task_type": row["task_type"],
        "compactions": msgspec.json.decode(row["compactions"]),
        "parent": f"{row['parent_agent']}:{row['parent_native_id']}" if row["parent_agent"] else None,
        "relation": row["relation"],
        "end_reason": row["end_reason"],
        "succeeded": None if row["succeeded"] is None else bool(row["succeeded"]),
        "usage": {
            name: row[f"{name}_tokens"] for name in ("input", "output", "cache_read", "cache_write", "reasoning")
        },
        "cost_usd": row["cost_usd"],
        "path": row["path"],
        "source_gone": row["gone_at"] is not None,
    }


def call_answer(row: sqlite3.Row) -> dict[str, Any]:
    """One call as programs see it, with its redacted arguments and short result."""
    return {
        "call": row["call_id"],
        "position": row["position"],
        "message": row["message"],
        "tool": row["tool"],
        "kind": row["kind"],
        "arguments": msgspec.json.decode(row["arguments"]),
        "result": row["result"],
        "time": row["time"],
        "verdict": row["verdict"],
        "evidence": row["evidence"],
        "fault": row["fault"],
        "reason": row["reason"],
        "judge": row["judge"],
        "counts_as": row["counts_as"],
        "is_copy": row["copy_of"] is not None,
    }


_SHORT = 400
_COLOURS = {"ok": "green", "failed": "red", "unclear": "yellow"}


def show_session(text: str, paths: tuple[Path, ...], *, full: bool, as_json: bool) -> None:
    """Print the session that is meant; where its file is gone, what the store still knows of it."""
    config = load()
    store = look(config, paths, progress=ReadingBar)[1] if paths or not config.store_path.exists() else stored(config)
    with store:
        row = find_session(store, text)
        calls = store.rows("call.of_session", {"session_id": row["id"]})
    if as_json:
        print_json("session", {**session_answer(row), "calls": [call_answer(call) for call in calls]})
        return
    _print_head(row)
    conversation = _conversation(row)
    if isinstance(conversation, Session):
        _print_messages(conversation, calls, Redactor(key_of(config)[0], config.redact), full=full)
    else:
        click.echo(f"\n{conversation} What the store knows of its calls:\n")
        for call in calls:
            _print_call(call)


def _print_head(row: sqlite3.Row) -> None:
    from rich.text import Text

    out = console()
    out.print(Text(f"{row['agent']}:{row['native_id']}", style="bold"))
    if row["title"]:
        out.print(Text(printable(row["title"])))
    counted = row["ok"] + row["failed"]
    rate = f"{100 * row['failed'] / counted:.1f} % of {counted}" if counted else "unknown: no call counts"
    left_out = sum(row[name] for name in ("declined", "cancelled", "interrupted", "trivial"))
    out.print(
        f"{when(row['started'])} to {when(row['ended'])} · {plural(row['messages'], 'message')} · "
        f"{plural(row['calls'], 'call')} · error rate {rate} · {row['unclear']} unclear · {left_out} left out"
    )
    if row["parent_agent"]:
        out.print(f"{row['relation']} of {row['parent_agent']}:{row['parent_native_id']}")
    out.print(Text(f"from {row['path'] or 'a source that was forgotten'}", style="dim"))


def _conversation(row: sqlite3.Row) -> Session | str:
    """The session as its source has it, or a sentence that says why it cannot be shown."""
    if not row["path"] or not Path(row["path"]).exists():
        return "The file it came from is gone."
    try:
        for session in read_file(Path(row["path"])):
            if (session.ref.agent, session.ref.native_id) == (row["agent"], row["native_id"]):
                return session
    except SeasonedError as error:
        return str(error)
    return "The file it came from no longer holds it."


def _print_messages(session: Session, calls: list[sqlite3.Row], redactor: Redactor, *, full: bool) -> None:
    from rich.text import Text

    out = console()
    verdicts = {call["call_id"]: call for call in calls}
    compactions = set(session.compactions)
    for index, message in enumerate(session.messages):
        if index in compactions:
            out.rule("context compacted", style="dim")
        if message.role == "tool":
            continue
        text = redactor.text(message.text) if full else redactor.head(message.text, _SHORT)
        mark = " (warm start, did not happen)" if message.synthetic else ""
        if text or not message.calls:
            out.print(Text(f"\n{message.role}{mark}", style="bold cyan" if message.role == "user" else "bold"))
            out.print(Text(printable(text) + (" …" if not full and len(message.text) > _SHORT else "")))
        for call in message.calls:
            if call.id in verdicts:
                _print_call(verdicts[call.id])


def _print_call(call: sqlite3.Row) -> None:
    from rich.text import Text

    line = Text("  ")
    line.append(f"{call['verdict']:<8}", style=_COLOURS[call["verdict"]])
    line.append(f"{printable(call['tool'])} ", style="bold")
    line.append(printable(call["arguments"])[:160])
    if call["verdict"] != "ok":
        line.append(f"\n           {printable(call['reason'])}", style="dim")
    if call["copy_of"] is not None:
        line.append(" (a copy of a call in another session)", style="dim")
    console().print(line)


@click.command(epilog=PATHS_HELP)
@paths_argument
@verbose_option
@json_option
def scan(paths: tuple[Path, ...], verbose: bool, as_json: bool) -> None:
    """Read histories into the store: only what is new or has changed.

    \b
    Example: seasoned scan ~/.claude/projects
    """
    from seasoned.app.stores import scan_into_store
    from seasoned.cli.output import ReadingBar, print_json
    from seasoned.config import load
    from seasoned.errors import SourceError
    from seasoned.text import plural

    report, store = scan_into_store(load(), paths, verbose=verbose, progress=ReadingBar)
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
    from seasoned.app.stores import store_for
    from seasoned.cli.output import ReadingBar, percent, print_json, table, when

    with store_for(paths, use_store=use_store, progress=ReadingBar) as store:
        rows = store.rows(
            "session.list",
            {"min_messages": min_messages, "agent": source, "task_type": task_type, "limit": limit},
        )
        if as_json:
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
    show_session(session, paths, full=full, as_json=as_json)
