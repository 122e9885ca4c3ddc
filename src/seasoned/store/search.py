"""Finds sessions by id."""

from __future__ import annotations

import sqlite3
from difflib import get_close_matches

from seasoned.errors import NotFound, UsageError
from seasoned.store.database import Store


def pattern_of(text: str) -> str:
    """A LIKE pattern that finds the text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


_SHOWN = 5


def find_session(store: Store, text: str) -> sqlite3.Row:
    """The session that matches; NotFound and UsageError list similar ids."""
    agent, _, native_id = text.rpartition(":")
    rows = _matching(store, agent or None, native_id) or _matching(store, None, text)
    exact = [row for row in rows if row["native_id"] in (native_id, text)]
    if len(exact) == 1:
        return exact[0]
    if len(rows) == 1:
        return rows[0]
    # Ids of sub-agents often begin with that of the session that started them: the parent is meant.
    above = [row for row in rows if not any(_is_below(row, other) for other in rows)]
    if len(above) == 1:
        return above[0]
    if rows:
        names = ", ".join(f"{row['agent']}:{row['native_id']}" for row in rows[:_SHOWN])
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        raise UsageError(f"{text!r} matches {len(rows)} sessions ({names}{more}): give more of the id.")
    raise NotFound(f"No session {text!r}{_near(store, native_id)}")


def _is_below(row: sqlite3.Row, other: sqlite3.Row) -> bool:
    """Whether a session is a sub-agent, a review or a part of another one."""
    return (
        row["id"] != other["id"] and row["id"] != row["root_id"] and row["root_id"] in (other["root_id"], other["id"])
    )


def _matching(store: Store, agent: str | None, native_id: str) -> list[sqlite3.Row]:
    if not native_id:
        return []
    # Behind the beginning of a parent's id may stand that of a sub-agent's own, as lists show it.
    head, slash, tail = pattern_of(native_id)[1:-1].partition("/")
    for pattern in (f"{head}{slash}{tail}%", *([f"{head}%/{tail}%", f"{head}%/agent-{tail}%"] if slash else ())):
        if rows := store.rows("session.by_native_id", {"agent": agent, "native_id": pattern}):
            return rows
    return []


def _near(store: Store, native_id: str) -> str:
    known = [row["native_id"] for row in store.rows("session.native_ids", {"limit": 5000})]
    if not known:
        return ": there are no sessions yet. Run `seasoned scan` first."
    near = get_close_matches(native_id, known, n=3, cutoff=0.3) or known[:3]
    return f": the most similar are {', '.join(near)} (`seasoned sessions` lists them)."
