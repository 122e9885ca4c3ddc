"""Shows one session on the terminal: the conversation from its source, the verdicts from the store."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import click

from seasoned.cli.answers import call_answer, session_answer
from seasoned.cli.output import console, print_json, printable, when
from seasoned.cli.place import key_of, look, stored
from seasoned.config import load
from seasoned.errors import SeasonedError
from seasoned.history.formats import read_file
from seasoned.redact import Redactor
from seasoned.session import Session
from seasoned.store.search import find_session
from seasoned.text import plural

_SHORT = 400
_COLOURS = {"ok": "green", "failed": "red", "unclear": "yellow"}


def show_session(text: str, paths: tuple[Path, ...], *, full: bool, as_json: bool) -> None:
    """Print the session that is meant; where its file is gone, what the store still knows of it."""
    config = load()
    store = look(config, paths)[1] if paths or not config.store_path.exists() else stored(config)
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
