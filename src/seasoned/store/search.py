"""Narrows a search down to the few sessions that can hold its text, so that nobody looks at all of them."""

from __future__ import annotations

from itertools import product

from seasoned.store.database import Store

_WIDTH = 3
_MOST_TRIGRAMS = 24
"""Of a long text; each of them is looked up."""
_RARE = 100
"""Sessions that hold one trigram: so few are named without asking for another."""
_RAREST = 4
"""Trigrams that are asked for together. The lists of the others are longer, and leave hardly fewer sessions."""
_FEW = 1000
"""Sessions that are named. Where there are more, whoever goes down the list meets a page of them soon."""
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
