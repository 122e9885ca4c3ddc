"""Finds a session by what a person types: its id, the beginning of it, or `agent:id`."""

from __future__ import annotations

import sqlite3
from difflib import get_close_matches

from seasoned.errors import NotFound, UsageError
from seasoned.store.database import Store

_SHOWN = 5


def find_session(store: Store, text: str) -> sqlite3.Row:
    """The one session that is meant; NotFound and UsageError name the near ones."""
    agent, _, native_id = text.rpartition(":")
    rows = _matching(store, agent or None, native_id) or _matching(store, None, text)
    exact = [row for row in rows if row["native_id"] in (native_id, text)]
    if len(exact) == 1:
        return exact[0]
    if len(rows) == 1:
        return rows[0]
    if rows:
        names = ", ".join(f"{row['agent']}:{row['native_id']}" for row in rows[:_SHOWN])
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        raise UsageError(f"{text!r} fits {len(rows)} sessions ({names}{more}): give more of the id.")
    raise NotFound(f"No session {text!r}{_near(store, native_id)}")


def _matching(store: Store, agent: str | None, native_id: str) -> list[sqlite3.Row]:
    pattern = native_id.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return store.rows("session.by_native_id", {"agent": agent, "native_id": f"{pattern}%"}) if native_id else []


def _near(store: Store, native_id: str) -> str:
    known = [row["native_id"] for row in store.rows("session.native_ids", {"limit": 5000})]
    if not known:
        return ": there are no sessions yet, run `seasoned scan` first."
    near = get_close_matches(native_id, known, n=3, cutoff=0.3) or known[:3]
    return f": the nearest are {', '.join(near)} (`seasoned sessions` lists them)."
