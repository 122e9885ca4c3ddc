"""`watch` and `statusline`: what running sessions are doing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from seasoned.cli.options import json_option, paths_argument, wants_json
from seasoned.cli.output import console, cut, print_json, printable, say
from seasoned.config import load
from seasoned.errors import NotFound
from seasoned.text import dollars, plural

# What follows sessions is imported when it is used: Claude Code prints a status line several times a minute.
if TYPE_CHECKING:
    from seasoned.live import LiveNews, RunningSession
    from seasoned.scan.rows import CallRow

_COLOURS = {"ok": "green", "failed": "red", "unclear": "yellow"}
_NAME_CHARS = 40


@click.command(epilog="PATH: files, folders or databases. Without one, your own agents' histories are followed.")
@paths_argument
@click.option("--failed", "only_failed", is_flag=True, help="Only calls that failed, and failing streaks.")
@json_option
def watch(paths: tuple[Path, ...], only_failed: bool) -> None:
    """Follow running sessions, call by call.

    Prints every call when it ends, and when calls fail in a row. Ctrl+C ends it.

    \b
    Example: seasoned watch --failed
    """
    from seasoned.app.stores import live_sessions

    for path in paths:
        if not path.exists():
            raise NotFound(f"{str(path)!r} does not exist: check the path.")
    live = live_sessions(load(), paths)
    shown = _WatchedCalls(only_failed=only_failed)
    stop = Event()
    try:
        for number, news in enumerate(live.follow(stop)):
            shown.take(news)
            if number == 0:
                say(_opening(len(live.running())), err=True)
    except KeyboardInterrupt:
        stop.set()


def _opening(running: int) -> str:
    """What is said once, when following begins."""
    if not running:
        return "No session is running. New ones are shown as they begin. Press Ctrl+C to stop."
    return f"Following {plural(running, 'session')} active in the last 15 minutes, and new ones. Press Ctrl+C to stop."


class _WatchedCalls:
    """Prints what is new, each call once."""

    def __init__(self, *, only_failed: bool) -> None:
        self._only_failed = only_failed
        self._streaks: dict[str, int] = {}

    def take(self, found: Iterable[LiveNews]) -> None:
        """Print the calls that ended, and streaks that grew."""
        for news in found:
            session = news.session
            # Calls from before the command started are not news; a streak that continues is.
            for call in () if news.is_first else news.calls:
                if call.result is not None and (call.counts_as == "failed" or not self._only_failed):
                    self._print_call(session, call)
            self._print_streak(session)

    def _print_streak(self, session: RunningSession) -> None:
        from seasoned.live import STREAK

        streak, before = session.streak, self._streaks.get(session.ref, 0)
        self._streaks[session.ref] = streak
        if streak < STREAK or streak <= before:
            return
        if wants_json():
            self._print_line("streak", session, {"failed_in_a_row": streak})
            return
        console().print(
            f"  {streak} calls failed in a row in {_name(session)} ({printable(session.ref)})",
            style="bold red",
            markup=False,
        )

    def _print_call(self, session: RunningSession, call: CallRow) -> None:
        from seasoned.command.call import brief_of

        if wants_json():
            fields = {name: getattr(call, name) for name in ("position", "tool", "verdict", "counts_as", "reason")}
            self._print_line("call", session, {**fields, "time": call.time, "arguments": brief_of(call.arguments)})
            return
        from rich.text import Text

        at = datetime.now() if call.time is None else datetime.fromtimestamp(call.time)
        line = Text(f"{at:%H:%M:%S} ")
        line.append(f"{_name(session)} ", style="dim")
        line.append(f"{call.verdict:<8}", style=_COLOURS.get(call.verdict, ""))
        line.append(f"{printable(call.tool)} ", style="bold")
        line.append(printable(" ".join(brief_of(call.arguments).split())))
        if call.counts_as == "failed":
            line.append(f"\n           {printable(call.reason)}", style="dim")
        console().print(line)

    def _print_line(self, event: str, session: RunningSession, fields: dict[str, Any]) -> None:
        about = {"agent": session.agent, "session_id": session.native_id, "project": session.project}
        print_json("watch", {"event": event, **about, "title": session.title, **fields}, lines=True)
        # A program at the other end of a pipe waits for each line.
        sys.stdout.flush()


def _name(session: RunningSession) -> str:
    short = cut(session.title, _NAME_CHARS) or session.native_id
    return printable(f"{session.project}: {short}" if session.project else short)


_MOST_CHARS = 1_000_000


@click.command()
def statusline() -> None:
    """Print a status line for Claude Code.

    Project, cost of today, and what this session was shown. Claude Code says on standard input which session it is; set
    "statusLine": {"type": "command", "command": "seasoned statusline"} in its settings.json.

    \b
    Example: seasoned statusline
    """
    said = _read_stdin()
    config = load()
    folder = _text_in(said.get("workspace"), "current_dir") or _text_in(said, "cwd") or str(Path.cwd())
    session = _text_in(said, "session_id")
    cost = said.get("cost")
    live = cost.get("total_cost_usd") if isinstance(cost, dict) else None
    parts = [Path(folder).name or folder]
    if config.store_path.exists():
        # Imported here: without a store there is nothing to ask.
        from seasoned.app.gateway import budget_words
        from seasoned.app.stores import own_store
        from seasoned.project import name_of
        from seasoned.store.project import project_key

        with own_store(config) as store:
            key = project_key(store, folder)
            parts = [name_of(key)] if key else parts
            parts += budget_words(config, store, session, float(live) if isinstance(live, int | float) else None)
            shown = store.rows("lesson.told", {"conversation": f"claude-code:{session}"}) if session else []
        if shown:
            parts.append(f"{len(shown)} shown")
    elif isinstance(live, int | float):
        parts.append(f"{dollars(float(live))} this session")
    click.echo(" · ".join(printable(part) for part in parts))


def _read_stdin() -> dict[str, Any]:
    """What Claude Code says; nothing where a person tries the command at a terminal."""
    if sys.stdin.isatty():
        return {}
    try:
        found = json.loads(sys.stdin.read(_MOST_CHARS) or "{}")
    except (ValueError, OSError):
        # A status line that fails is empty; it is better to show what is known.
        return {}
    return found if isinstance(found, dict) else {}


def _text_in(value: object, name: str) -> str | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) and found else None
