"""Finds sessions by id, and narrows a text search to the sessions that can contain the text."""

from __future__ import annotations

import sqlite3
from difflib import get_close_matches
from itertools import product

from seasoned.errors import NotFound, UsageError
from seasoned.store.database import Store

_WIDTH = 3
_MOST_TRIGRAMS = 24  # of a long text; each of them is looked up
_RARE = 100  # with so few sessions for one trigram, no other is looked up
# Trigrams that are combined. Further ones have longer lists and exclude few more sessions.
_RAREST = 4
# Most candidates to return. With more, reading the list in order fills a page quickly.
_FEW = 1000
_LAST = "\U0010ffff"


def pattern_of(text: str) -> str:
    """A LIKE pattern that finds the text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def maybe_holding(store: Store, text: str) -> list[int] | None:
    """Candidates for sessions that contain a text, as LIKE compares it; None if there are too many."""
    # LIKE and the trigram index both stop at a NUL, but differently.
    if not text or "\0" in text:
        return None
    return _short(store, text) if len(text) < _WIDTH else _long(store, text)


def _long(store: Store, text: str) -> list[int] | None:
    common = []
    for trigram in map(_quoted, _spread([text[at : at + _WIDTH] for at in range(len(text) - _WIDTH + 1)])):
        rows = store.rows("page.holding", {"trigrams": trigram, "limit": _RARE + 1})
        if len(rows) <= _RARE:
            return [row["id"] for row in rows]
        # Rows come in id order: the larger the last id, the rarer the trigram.
        common.append((rows[-1]["id"], trigram))
    rarest = " AND ".join(trigram for _, trigram in sorted(common, reverse=True)[:_RAREST])
    given = {"trigrams": rarest, "words": pattern_of(text), "limit": _FEW + 1}
    rows = store.rows("page.holding_words", given)
    return None if len(rows) > _FEW else [row["id"] for row in rows]


def _short(store: Store, text: str) -> list[int] | None:
    """A text of one or two characters is the beginning of some trigrams."""
    if not all(one.isascii() or one.isprintable() for one in text):
        return None
    found = []
    # The index folds case by other tables than Python: look for every form.
    for first in map("".join, product(*({one, one.lower(), one.casefold()} for one in text))):
        rows = store.rows("page.beginning", {"first": first, "last": first + _LAST * _WIDTH, "limit": _FEW + 1})
        if len(rows) > _FEW:
            return None
        found += [row["id"] for row in rows]
    return found


def _spread(trigrams: list[str]) -> list[str]:
    """The distinct trigrams; of a long text a sample from all over it."""
    found = list(dict.fromkeys(trigrams))
    step = max(1.0, len(found) / _MOST_TRIGRAMS)
    return [found[int(number * step)] for number in range(min(len(found), _MOST_TRIGRAMS))]


def _quoted(trigram: str) -> str:
    return '"' + trigram.replace('"', '""') + '"'


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
