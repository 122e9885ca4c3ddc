"""`scan`, `sessions`, `search`, `show` and `resume`: read sessions, find them, show them and go back into them."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import asdict

from seasoned.app.stores import (
    check_readable,
    make_redactor,
    own_store,
    read_source,
    scan_into_store,
)
from seasoned.cli.options import (
    OWN_PATHS_HELP,
    PATHS_HELP,
    all_option,
    json_option,
    paths_argument,
    project_option,
    since_option,
    until_option,
    wants_json,
)
from seasoned.cli.output import ReadingBar, answered, console, cut, money, printable, read_sentence, say, table, when
from seasoned.cli.project import chosen_project, histories, passed_over_answer, print_passed_over
from seasoned.command.call import brief_of
from seasoned.command.tool import command_of
from seasoned.config import load
from seasoned.errors import CannotDo, SeasonedError
from seasoned.history.resume import resume_command, resume_words
from seasoned.project import name_of
from seasoned.session import Session, ToolCall
from seasoned.store import Store
from seasoned.store.search import VERDICTS, SearchFilter, SearchHit, fill, find_session
from seasoned.store.search import search as find
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.redact.redactor import Redactor
    from seasoned.store import Store


# Enough to recognise a message; --full shows the rest.
_SHORT = 400
_COLOURS = {"ok": "green", "failed": "red", "unclear": "yellow"}
# Calls that say nothing about skill, so they count neither as ok nor as failed.
_LEFT_OUT = ("declined", "cancelled", "interrupted", "trivial")
# Narrower terminals get lines that run on.
_LEAST_WIDTH = 80
_WIDE = 110
_LEAST_TITLE = 20
_FAILED_SHOWN = 3
_SAME_CHARS = 60
_CALL_CHARS = 160
_LEAST_ID = 4
# How the id of a sub-agent goes on behind that of its parent.
_SUB_AGENT = re.compile("/(?:agent-)?")
_TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")


@click.command(epilog=OWN_PATHS_HELP)
@paths_argument
@json_option
def scan(paths: tuple[Path, ...]) -> None:
    """Read histories into the store.

    Only what is new or has changed is read.

    \b
    Example: seasoned scan ~/.claude/projects
    """
    config = load()
    report, store = scan_into_store(config, paths, progress=ReadingBar)
    # Before --json too: a scan in which every file failed is an error for programs as well.
    check_readable(report)
    totals = dict(store.row("source.counts") or {}) if store is not None else {}
    if answered("scan", {**asdict(report), "store": totals}):
        return
    say(read_sentence("Read", report))
    if report.unreadable:
        say(f"{plural(report.unreadable, 'record')} could not be read. `seasoned doctor` shows where and why.")
    if report.waiting:
        say(f"{plural(report.waiting, 'session')} not learned from yet. Run `seasoned scan` again to continue.")
    if report.gone:
        say(f"{plural(report.gone, 'file')} gone since the last scan; what was learned from them stays.")
    print_passed_over(report.failures)


@click.command(epilog=PATHS_HELP)
@paths_argument
@since_option
@until_option
@click.option("--failed", "only_failed", is_flag=True, help="Only sessions with failed calls, and what failed.")
@click.option(
    "--subagents/--no-subagents",
    "lists_subagents",
    default=None,
    help="List sub-agents too, or fold them into their session. Default: folded, and with --json listed.",
)
@click.option("--min-messages", default=0, show_default=True, help="Only sessions with at least this many messages.")
@click.option("--source", help="Only sessions from one place, such as cli, telegram or cron; an agent works too.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="List at most this many.")
@project_option
@all_option
@json_option
def sessions(
    paths: tuple[Path, ...], lists_subagents: bool | None, project: str | None, everything: bool, **asked: Any
) -> None:
    """List sessions.

    The newest first, with failed calls, cost (~ for an estimate by published prices), project and title. A wide
    terminal has room for the agent and the model too.

    \b
    Example: seasoned sessions --since yesterday --failed
    Example: seasoned sessions --min-messages 30 --source claude-code
    """
    with histories(paths, says_store=True) as read:
        key = chosen_project(read.store, project, everything=everything, by_default=not paths)
        # The other options are parameters of the query.
        asked |= {"project": key, "folds": not (wants_json() if lists_subagents is None else lists_subagents)}
        # Imported here: no other command of this file needs it.
        from seasoned.gateway.history_usage import fill_prices

        fill_prices(read.store)
        rows = read.store.rows("session.list", asked)
        found = {"count": len(rows), "project": key, "sessions": [_session_answer(row) for row in rows]}
        if answered("sessions", found | passed_over_answer(read)):
            return
        titles = [row["title"] or row["native_id"] for row in rows]
        failed = [_failed_calls(read.store, row) for row in rows] if asked["only_failed"] else []
    if not rows:
        say("No sessions match.")
    elif asked["only_failed"]:
        for row, title, calls in zip(rows, titles, failed, strict=True):
            _print_failed(row, title, calls)
    else:
        _print_list(rows, titles, shows_project=key is None)


def _failed_calls(store: Store, row: sqlite3.Row) -> list[sqlite3.Row]:
    calls = store.rows("call.of_session", {"session_id": row["id"]})
    return [call for call in calls if call["counts_as"] == "failed"]


def _print_list(rows: Sequence[sqlite3.Row], titles: Sequence[str], *, shows_project: bool) -> None:
    """One line for each session: the other columns are short, so that its title has the room."""
    from rich.text import Text

    width = max(console().width, _LEAST_WIDTH)
    is_wide = width >= _WIDE
    size = 20 if is_wide else 12
    cells: dict[str, list[str]] = {"agent": [row["agent"] for row in rows]} if is_wide else {}
    cells["session"] = _short_ids([row["native_id"] for row in rows])
    cells["when"] = [when(row["ended"])[2:] for row in rows]
    failures = [row["failed"] + row["subagent_failed"] for row in rows]
    cells["failed"] = [
        f"{failed}/{row['calls'] + row['subagent_calls']}" for failed, row in zip(failures, rows, strict=True)
    ]
    cells["cost"] = [_cost(row) for row in rows]
    if shows_project:
        cells["project"] = [cut(name_of(row["project"]) if row["project"] else "–", size) for row in rows]
    if is_wide:
        cells["model"] = [cut(_model(row["model"]) or "–", size) for row in rows]
    taken = sum(max(map(len, [name, *column])) + 1 for name, column in cells.items())
    room = max(width - taken, _LEAST_TITLE)
    cells["title"] = [_with_subagents(title, row["subagents"], room) for title, row in zip(titles, rows, strict=True)]
    shown = {name: [Text(printable(cell)) for cell in column] for name, column in cells.items()}
    for cell, failed in zip(shown["failed"], failures, strict=True):
        cell.style = "red" if failed else ""
    table([*shown], list(zip(*shown.values(), strict=True)), nowrap=[*shown], gap=1)


def _with_subagents(title: str, subagents: int, room: int) -> str:
    more = f" (+{plural(subagents, 'sub-agent')})" if subagents else ""
    return cut(title, room - len(more)) + more


def _print_failed(row: sqlite3.Row, title: str, calls: Sequence[sqlite3.Row]) -> None:
    """A session, and the last of its calls that failed."""
    from rich.text import Text

    out = console()
    room = max(out.width, _LEAST_WIDTH)
    head = Text(f"{when(row['ended'])}  ", style="dim").append(f"{row['native_id'][:8]}  ", style="not dim bold")
    lines = [head.append(cut(printable(title), room - len(head)), style="not dim")]
    if len(calls) > _FAILED_SHOWN:
        lines.append(Text(f"  {plural(len(calls) - _FAILED_SHOWN, 'earlier failure')}", style="dim"))
    for call in calls[-_FAILED_SHOWN:]:
        asked = cut(f"{printable(call['tool'])} {_asked(call)}", room - len("  failed "))
        lines.append(Text("  failed ", style="red").append(asked, style="default"))
        lines.append(Text(f"         {cut(printable(call['reason']), room - len('  failed '))}", style="dim"))
    if row["subagent_failed"]:
        lines.append(Text(f"  {row['subagent_failed']} in its sub-agents (--subagents lists them)", style="dim"))
    for line in lines:
        out.print(line, soft_wrap=True)


def _asked(call: sqlite3.Row) -> str:
    """What a call asked for: the command that it ran, else the argument that says most."""
    try:
        arguments = msgspec.json.decode(call["arguments"])
    except msgspec.DecodeError:
        arguments = None
    command = command_of(ToolCall("", call["tool"], arguments)) if isinstance(arguments, dict) else None
    return printable(command or brief_of(call["arguments"]))


def _short_ids(ids: Sequence[str]) -> list[str]:
    """Beginnings that tell sessions apart; of a sub-agent, that of its parent and that of its name."""
    short = [_SUB_AGENT.split(one, maxsplit=1) for one in ids]
    size = _LEAST_ID
    while size < 40 and len({tuple(part[:size] for part in one) for one in short}) < len(set(ids)):
        size += 1
    return ["/".join([one[0][: max(size, 8)], *[part[:size] for part in one[1:]]]) for one in short]


def _cost(row: sqlite3.Row) -> str:
    """What it cost, with its folded sub-agents; with a mark where that is an estimate."""
    parts = [usd for usd in (row["known_usd"], row["subagent_usd"]) if usd is not None]
    is_estimate = row["cost_usd"] is None or row["subagent_usd"] is not None
    return money(sum(parts) if parts else None, is_estimate=is_estimate)


def _model(name: str | None) -> str | None:
    """The name without the maker and the date: `claude-sonnet-4-5-20250929` is `sonnet-4-5`."""
    if not name:
        return None
    return re.sub(r"-20\d{6}\Z", "", name.rpartition("/")[2].removeprefix("claude-"))


@click.command(epilog=PATHS_HELP)
@click.argument("session")
@paths_argument
@click.option("--full", is_flag=True, help="Print whole texts, not only their beginnings.")
@json_option
def show(session: str, paths: tuple[Path, ...], full: bool) -> None:
    """Show a session with a verdict on every call.

    SESSION is a session id or its beginning. Where its file is gone, the calls in the store are shown.

    \b
    Example: seasoned show 53ea19c1 --full
    """
    with histories(paths) as read:
        from seasoned.gateway.history_usage import fill_prices

        fill_prices(read.store)
        # The store is closed before anything is printed: a pager may keep the output waiting for minutes.
        row = find_session(read.store, session)
        calls = read.store.rows("call.of_session", {"session_id": row["id"]})
    shown = {**_session_answer(row), "calls": [_call_answer(call) for call in calls]}
    if answered("session", shown | passed_over_answer(read)):
        return
    _print_head(row)
    try:
        found = read_source(row)
    except SeasonedError as error:
        # Agents delete their old histories; the store still has the calls and verdicts.
        say(f"\n{error} What the store knows of its calls:\n")
        for call in calls:
            _print_call(call)
        return
    _print_messages(found, calls, make_redactor(load()), full=full)


def _session_answer(row: sqlite3.Row) -> dict[str, Any]:
    counted = row["ok"] + row["failed"]
    return {
        "agent": row["agent"],
        "platform": row["platform"],
        "session_id": row["native_id"],
        **{name: row[name] for name in ("title", "cwd", "project", "project_part", "model", "started", "ended")},
        "message_count": row["messages"],
        "tool_call_count": row["calls"],
        "successful_calls": row["ok"],
        "failed_calls": row["failed"],
        "unclear_calls": row["unclear"],
        "left_out": {name: row[name] for name in (*_LEFT_OUT, "copies")},
        # null, and not 0, where no call counts.
        "error_rate": row["failed"] / counted if counted else None,
        "task_type": row["task_type"],
        "compactions": msgspec.json.decode(row["compactions"]),
        "parent": f"{row['parent_agent']}:{row['parent_native_id']}" if row["parent_agent"] else None,
        "relation": row["relation"],
        "end_reason": row["end_reason"],
        # SQLite has no booleans, and here unknown is a third value.
        "succeeded": None if row["succeeded"] is None else bool(row["succeeded"]),
        "usage": {name: row[f"{name}_tokens"] for name in _TOKENS},
        "cost_usd": row["cost_usd"],
        "estimated_usd": None if row["cost_usd"] is not None else row["known_usd"],
        "path": row["path"],
        "source_gone": row["gone_at"] is not None,
    }


def _call_answer(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "call": row["call_id"],
        **{name: row[name] for name in ("position", "message", "tool", "kind")},
        "arguments": msgspec.json.decode(row["arguments"]),
        **{name: row[name] for name in ("result", "time", "verdict", "evidence", "fault", "reason", "judge")},
        "counts_as": row["counts_as"],
        "is_copy": row["copy_of"] is not None,
    }


def _print_head(row: sqlite3.Row) -> None:
    from rich.text import Text

    out = console()
    out.print(Text(f"{row['agent']}:{row['native_id']}", style="bold"))
    if row["title"]:
        out.print(Text(printable(row["title"])))
    counted = row["ok"] + row["failed"]
    rate = f"{100 * row['failed'] / counted:.1f} % of {counted}" if counted else "unknown (no call counts)"
    left_out = sum(row[name] for name in _LEFT_OUT)
    out.print(
        f"{when(row['started'])} to {when(row['ended'])} · {plural(row['messages'], 'message')} · "
        f"{plural(row['calls'], 'call')} · error rate {rate} · {row['unclear']} unclear · {left_out} left out · "
        f"cost {money(row['known_usd'], is_estimate=row['cost_usd'] is None)}"
    )
    if row["parent_agent"]:
        out.print(f"{row['relation']} of {row['parent_agent']}:{row['parent_native_id']}")
    out.print(Text(f"from {row['path'] or 'a source that was forgotten'}", style="dim"))


def _print_messages(session: Session, calls: list[sqlite3.Row], redactor: Redactor, *, full: bool) -> None:
    from rich.text import Text

    out = console()
    verdicts = {call["call_id"]: call for call in calls}
    for index, message in enumerate(session.messages):
        if index in session.compactions:
            out.rule("context compacted", style="dim")
        # Results are shown by the verdict on their call.
        if message.role == "tool":
            continue
        # Read from the history itself, which is not redacted as the store is.
        text = redactor.text(message.text) if full else redactor.head(message.text, _SHORT)
        # Examples look like messages, and must not be taken for what the user or the model said.
        mark = " (warm start, did not happen)" if message.synthetic else ""
        if text or not message.calls:
            out.print(Text(f"\n{message.role}{mark}", style="bold cyan" if message.role == "user" else "bold"))
            out.print(Text(printable(text) + (" …" if not full and len(message.text) > _SHORT else "")))
        for call in message.calls:
            # A call that the store does not have was added after the last scan.
            if call.id in verdicts:
                _print_call(verdicts[call.id])


def _print_call(call: sqlite3.Row) -> None:
    from rich.text import Text

    line = Text("  ")
    line.append(f"{call['verdict']:<8}", style=_COLOURS[call["verdict"]])
    line.append(f"{printable(call['tool'])} ", style="bold")
    line.append(cut(_asked(call), _CALL_CHARS))
    if call["verdict"] != "ok":
        line.append(f"\n           {printable(call['reason'])}", style="dim")
    if call["copy_of"] is not None:
        line.append(" (a copy of a call in another session)", style="dim")
    console().print(line)


# After a first scan everything is still to be indexed; a person waits at most this long.
_FILL_SECONDS = 20.0
_WHO = {"title": "title", "person": "you", "agent": "agent"}


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--agent", help="Only sessions of one agent, such as claude-code.")
@click.option("--tool", help="Only in calls of one tool, such as Bash.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Only in calls with this verdict.")
@since_option
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="List at most this many.")
@project_option
@all_option
@json_option
def search(words: tuple[str, ...], limit: int, project: str | None, everything: bool, **wanted: Any) -> None:
    """Find sessions by what was said and done.

    In titles, in what you or the agent said, in commands, paths and errors, also as a part of a name or with another
    ending. Words in "quotation marks" must be adjacent. Sessions in which the words stand closest together come first.

    \b
    Example: seasoned search "connection refused" --tool Bash --verdict failed
    """
    config = load()
    with own_store(config) as store:
        fill(store, within_seconds=_FILL_SECONDS)
        key = chosen_project(store, project, everything=everything)
        # A word with spaces was quoted in the shell, so its words must be adjacent.
        asked = " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
        # The other options are the fields of SearchFilter.
        found = find(store, asked, SearchFilter(project=key, **wanted), limit=limit)
    answer = {"words": asked, "project": key, "count": len(found.hits)}
    answer |= {"has_more": found.has_more, "waiting": found.waiting}
    if answered("search", {**answer, "hits": [_hit_answer(one) for one in found.hits]}):
        return
    for hit in found.hits:
        _print_hit(hit)
    if not found.hits:
        say("No session has these words." + ("" if key is None else " Try --all."))
    elif found.has_more:
        say("More match. Add a word, or use --limit.")
    if found.waiting:
        say(f"{plural(found.waiting, 'session')} not indexed yet. Search again to continue.", err=True)


def _hit_answer(hit: SearchHit) -> dict[str, Any]:
    session, place = hit.session, hit.place
    return {
        "agent": session["agent"],
        "session_id": session["native_id"],
        "title": session["title"],
        "project": session["project"],
        "ended": session["ended"],
        "message": place.message,
        "by": place.by,
        "call": place.position,
        "tool": place.tool,
        "verdict": place.verdict,
        "snippet": hit.snippet,
        "resume": resume_command(session["agent"], session["native_id"], session["cwd"]),
        "matches": list(hit.pieces[1::2]),
        "lines": hit.lines,
    }


def _print_hit(hit: SearchHit) -> None:
    from rich.text import Text

    session, place = hit.session, hit.place
    head = Text(f"{when(session['ended'] or session['started'])}  ", style="dim")
    head.append(printable(f"{session['agent']}:{session['native_id']}"), style="bold")
    if session["project"]:
        head.append(f"  {printable(name_of(session['project']))}")
    line = Text("  ")
    who = f"call {place.position + 1}, {place.verdict}" if place.position is not None else _WHO[place.by]
    line.append(f"{who}: ", style="dim")
    for number, piece in enumerate(hit.pieces):
        line.append(printable(piece), style="bold yellow" if number % 2 else "")
    if hit.lines > 1:
        line.append(f"  ({hit.lines - 1} more)", style="dim")
    out = console()
    out.print(head)
    if session["title"] and not _says_same(session["title"], hit.snippet):
        out.print(Text(f"  {cut(printable(session['title']), max(out.width, _LEAST_WIDTH) - 2)}"))
    out.print(line)
    command = resume_command(session["agent"], session["native_id"], session["cwd"])
    if command is not None:
        out.print(Text(f"  {command}", style="dim"), soft_wrap=True)


def _says_same(title: str, snippet: str) -> bool:
    """Whether one is a part of the other: most titles are the words that a session began with."""
    short, long = sorted((" ".join(re.findall(r"\w+", text)) for text in (title, snippet)), key=len)
    return short in long or long.startswith(short[:_SAME_CHARS])


@click.command()
@click.argument("session")
@click.option("--print", "prints", is_flag=True, help="Print the agent's command instead of running it.")
@json_option
def resume(session: str, prints: bool) -> None:
    """Go back into a session, in its agent.

    Runs the agent's own command, in the folder of the session. SESSION is a session id or its beginning.

    \b
    Example: seasoned resume 53ea19c1
    """
    with own_store(load()) as store:
        row = find_session(store, session)
    agent, native_id, folder = row["agent"], row["native_id"], row["cwd"]
    words, command = resume_words(agent, native_id), resume_command(agent, native_id, folder)
    if words is None or command is None:
        parent = f" Resume {row['parent_agent']}:{row['parent_native_id']}." if row["parent_agent"] else ""
        raise CannotDo(f"'{agent}:{native_id}' cannot be resumed: its agent has no command for it.{parent}")
    if answered("resume", {"agent": agent, "session_id": native_id, "cwd": folder, "command": command}):
        return
    if prints:
        click.echo(command)
        return
    if shutil.which(words[0]) is None:
        raise CannotDo(f"{words[0]!r} is not on the PATH. Install it, or run this where it is: {command}")
    try:
        os.chdir(folder or ".")
    except OSError as error:
        raise CannotDo(f"The folder {folder!r} of the session cannot be entered: {error.strerror}.") from error
    # The agent takes the place of this process, so that the terminal is its own.
    os.execvp(words[0], words)
