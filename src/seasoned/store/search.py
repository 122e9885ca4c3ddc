"""Narrows a search down to the few sessions that can hold its text, so that nobody looks at all of them."""

from __future__ import annotations

import sqlite3
from difflib import get_close_matches
from itertools import product

from seasoned.errors import NotFound, UsageError
from seasoned.store.database import Store

_WIDTH = 3
_MOST_TRIGRAMS = 24  # of a long text; each of them is looked up
_RARE = 100  # sessions that hold one trigram: so few are named without asking for another
# Trigrams that are asked for together. The lists of the others are longer, and leave hardly fewer sessions.
_RAREST = 4
# Sessions that are named. Where there are more, whoever goes down the list meets a page of them soon.
_FEW = 1000
_LAST = "\U0010ffff"


def pattern_of(text: str) -> str:
    """What LIKE takes to find this text anywhere in another."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def maybe_holding(store: Store, text: str) -> list[int] | None:
    """Sessions among which are all that hold a text, as LIKE sees it; None where they are too many to name."""
    # Both LIKE and the trigrams of SQLite end at a NUL, each in its own way.
    if not text or "\0" in text:
        return None
    return _short(store, text) if len(text) < _WIDTH else _long(store, text)


def _long(store: Store, text: str) -> list[int] | None:
    common = []
    for trigram in map(_quoted, _spread([text[at : at + _WIDTH] for at in range(len(text) - _WIDTH + 1)])):
        rows = store.rows("page.holding", {"trigrams": trigram, "limit": _RARE + 1})
        if len(rows) <= _RARE:
            return [row["id"] for row in rows]
        # They come by their ids: the further one had to go for so many, the rarer the trigram.
        common.append((rows[-1]["id"], trigram))
    rarest = " AND ".join(trigram for _, trigram in sorted(common, reverse=True)[:_RAREST])
    given = {"trigrams": rarest, "words": pattern_of(text), "limit": _FEW + 1}
    rows = store.rows("page.holding_words", given)
    return None if len(rows) > _FEW else [row["id"] for row in rows]


def _short(store: Store, text: str) -> list[int] | None:
    """A trigram begins at every character, so that one or two are the beginning of some."""
    if not all(one.isascii() or one.isprintable() for one in text):
        return None
    found = []
    # The index folds case by tables of its own, older or newer than Python's; which form it keeps is not asked.
    for first in map("".join, product(*({one, one.lower(), one.casefold()} for one in text))):
        rows = store.rows("page.beginning", {"first": first, "last": first + _LAST * _WIDTH, "limit": _FEW + 1})
        if len(rows) > _FEW:
            return None
        found += [row["id"] for row in rows]
    return found


def _spread(trigrams: list[str]) -> list[str]:
    """Each of them once; of many, as many as are looked up, from all over the text."""
    found = list(dict.fromkeys(trigrams))
    step = max(1.0, len(found) / _MOST_TRIGRAMS)
    return [found[int(number * step)] for number in range(min(len(found), _MOST_TRIGRAMS))]


def _quoted(trigram: str) -> str:
    return '"' + trigram.replace('"', '""') + '"'


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
