"""`statusline`: one line for the status line of Claude Code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from seasoned.cli.output import printable
from seasoned.config import load
from seasoned.text import dollars

_MOST_CHARS = 1_000_000


@click.command()
def statusline() -> None:
    """Print a status line for Claude Code.

    Project, cost of today, and what this session was shown. Claude Code says on standard input which session it is; set
    "statusLine": {"type": "command", "command": "seasoned statusline"} in its settings.json.

    \b
    Example: seasoned statusline
    """
    said = _read()
    config = load()
    folder = _text(said.get("workspace"), "current_dir") or _text(said, "cwd") or str(Path.cwd())
    session = _text(said, "session_id")
    cost = said.get("cost")
    live = cost.get("total_cost_usd") if isinstance(cost, dict) else None
    parts = [Path(folder).name or folder]
    if config.store_path.exists():
        # Imported here: without a store there is nothing to ask.
        from seasoned.app.gateway import budgets, spent_today
        from seasoned.project import name_of
        from seasoned.store import open_store
        from seasoned.store.project import project_key

        with open_store(config.store_path) as store:
            key = project_key(store, folder)
            parts = [name_of(key)] if key else parts
            today = spent_today(store, session, float(live) if isinstance(live, int | float) else None)
            limits = budgets(config, store, today=today)
            shown = store.rows("experience.told", {"conversation": f"claude-code:{session}"}) if session else []
        budget = f" of {dollars(limits[0].budget_usd)}" if limits and limits[0].period == "day" else ""
        parts.append("cost today unknown" if today is None else f"{dollars(today)} today{budget}")
        parts += [f"over the budget of this {one.period}" for one in limits if one.is_over]
        if shown:
            parts.append(f"{len(shown)} shown")
    elif isinstance(live, int | float):
        parts.append(f"{dollars(float(live))} this session")
    click.echo(" · ".join(printable(part) for part in parts))


def _read() -> dict[str, Any]:
    """What Claude Code says; nothing where a person tries the command at a terminal."""
    if sys.stdin.isatty():
        return {}
    try:
        found = json.loads(sys.stdin.read(_MOST_CHARS) or "{}")
    except (ValueError, OSError):
        # A status line that fails is an empty one: better to say what is known.
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object, name: str) -> str | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) and found else None
