"""Finds sessions by id, and by what was said and done in them, with the place where it stands."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import islice
from typing import Any, Literal

import msgspec

from seasoned.digest import short_digest
from seasoned.errors import NotFound, UsageError
from seasoned.lazy_regex import LazyRegex
from seasoned.store.database import Store
from seasoned.store.packed import pack, pack_text, unpack

By = Literal["title", "person", "agent", "call"]
VERDICTS = ("ok", "failed", "unclear", "declined", "cancelled", "interrupted", "trivial")
_SHOWN = 5  # ids in an error
_CALL_CHARS = 400
_BATCH = 25
_GROUP = 16 * _BATCH
_CANDIDATES = 500  # sessions to look into at most, for each way in which the words may stand
_SHORTEST = 3  # letters of a stem
# The endings of English, and the letter that is doubled before some of them.
_ENDING = LazyRegex(
    r"(?i)(?<=[a-z]{3})([b-df-hj-np-tv-z])?\1?(?:ations?|ings?|ions?|ers?|e?d|ies|e?s|ly|y|(?<=[a-z]{4})e)?\Z"
)
_NEAR = 12  # words between those that stand close together, and some more for each
_AROUND = 70  # characters shown on each side of a match
# The rowid: seconds, then the session. 2**25 sessions in one store, and times far beyond this century.
_SESSION_BITS = 25
_MOST_SECONDS = 1 << 37
_OPENS, _CLOSES = "\x02", "\x03"
# Scripts without spaces between words: a separator makes each character a word, so that any part can be found.
_UNSPACED = LazyRegex(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff]"
)
_GAP = "\u200b"
# A name such as `readFile` is followed by its parts, which are found and not shown.
_PARTS_OPEN, _PARTS_CLOSE = "\u2063", "\u2064"
_JOINED = LazyRegex(r"(?<![A-Za-z0-9])[A-Za-z]+[a-z][A-Z][A-Za-z]*(?![A-Za-z0-9])")
_PART = LazyRegex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WITH_PARTS = LazyRegex(f"(\\w+{_CLOSES}?){_PARTS_OPEN}([^{_PARTS_CLOSE}]*){_PARTS_CLOSE}")
_DROPPED = dict.fromkeys(map(ord, (_GAP, _PARTS_OPEN, _PARTS_CLOSE, _OPENS, _CLOSES, "\0")))
_TERM = LazyRegex(r'"([^"]*)"?|(\S+)')
_WORD = LazyRegex(r"[^\W_]+")


class SearchTerm(msgspec.Struct, frozen=True, order=True):
    """A text whose words stand together; with `is_begun` its last word may go on."""

    text: str
    is_begun: bool = False

    def begun(self) -> SearchTerm:
        """How the words of the same stem begin: `cancelled` also finds `cancels` and `cancellation`."""
        stem = _ENDING.compiled.sub(r"\1", self.text)
        return SearchTerm(stem if len(stem) >= _SHORTEST else self.text, is_begun=len(self.text) >= _SHORTEST)

    def __str__(self) -> str:
        """For FTS5."""
        # A name such as `readFile` is also found as `read_file`; among other words its parts stand behind it.
        is_name = _JOINED.compiled.fullmatch(self.text) is not None
        quoted = _quoted(" ".join(_PART.compiled.findall(self.text))) if is_name else _row_of([self])
        return f"{quoted} *" if self.is_begun else quoted


class SearchPlace(msgspec.Struct, frozen=True, array_like=True):
    """Where a line of a session's text stands."""

    message: int
    by: By
    position: int | None = None
    tool: str | None = None
    verdict: str | None = None


class SearchHit(msgspec.Struct, frozen=True):
    """A session with the words, and the line that has most of them."""

    session: sqlite3.Row
    place: SearchPlace
    # What is shown of the line; matches are the texts at odd positions.
    pieces: tuple[str, ...]
    lines: int  # in how many lines of the session words were found

    @property
    def snippet(self) -> str:
        return "".join(self.pieces)


class SearchAnswer(msgspec.Struct, frozen=True):
    """The sessions with the words, best first."""

    hits: tuple[SearchHit, ...]
    has_more: bool
    waiting: int  # sessions that are not in the index yet


class SearchFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What else must hold; None filters nothing."""

    project: str | None = None
    agent: str | None = None
    tool: str | None = None
    verdict: str | None = None
    since: float | None = None
    until: float | None = None


def search(
    store: Store, words: str, wanted: SearchFilter | None = None, *, limit: int = 20, after: int = 0
) -> SearchAnswer:
    """The sessions that hold all words, those first in which they stand closest together; `after` leaves out the first.

    Each word also finds its English endings, `word*` any ending. Words between quotation marks must stand together.
    """
    wanted = wanted or SearchFilter()
    terms = _terms(words)
    if not terms:
        raise UsageError("Give a word to search for: a letter or a digit must be in it.")
    row = store.row("search.count_waiting")
    waiting = 0 if row is None else int(row["sessions"])
    found = list(islice(_hits(store, terms, wanted), after, after + limit + 1))
    return SearchAnswer(tuple(found[:limit]), len(found) > limit, waiting)


def _hits(store: Store, terms: list[SearchTerm], wanted: SearchFilter) -> Iterator[SearchHit]:
    first = 0 if wanted.since is None else _rowid(wanted.since, 0)
    last = (1 << 62) if wanted.until is None else _rowid(wanted.until, 0)
    facts = _facts(wanted)
    seen: set[int] = set()
    for expression in _tiers(terms, partial(_count, store), lambda: bool(seen)):
        given = {"words": f"text : ({expression}){facts}", "first": first, "before": last, "limit": _CANDIDATES}
        for row in store.each("search.find", given):
            if row["id"] in seen:
                continue
            seen.add(row["id"])
            session = store.row("search.found", {"id": row["id"]})
            hit = None if session is None else _hit(session, row["text"], wanted)
            if hit is not None:
                yield hit


def _tiers(terms: list[SearchTerm], count: Callable[[SearchTerm], int], is_found: Callable[[], bool]) -> Iterator[str]:
    """What FTS5 is asked, one after the other: words in a row, close together, and anywhere.

    Where no session has all words, the commonest are left out: the rare ones say most.
    """
    begun = [one.begun() for one in terms]
    if len(terms) > 1:
        yield _row_of(terms)
        for several in (terms, begun):
            yield f"NEAR({' '.join(map(str, several))}, {_NEAR + 2 * len(several)})"
    for several in (terms, begun):
        yield " AND ".join(map(str, several))
    rarest = [str(one) for times, one in sorted([(count(one), one) for one in begun]) if times]
    for size in range(min(len(rarest), len(terms) - 1), 0, -1):
        if is_found():
            return
        yield " AND ".join(rarest[:size])


def _count(store: Store, term: SearchTerm) -> int:
    row = store.row("search.count", {"words": f"text : {term}"})
    return 0 if row is None else int(row["sessions"])


def _row_of(terms: list[SearchTerm]) -> str:
    return _quoted(_with_parts(spaced(" ".join([one.text for one in terms]))))


def _quoted(text: str) -> str:
    """A phrase for FTS5: nothing that a person types is an operator."""
    return '"' + text.replace('"', " ") + '"'


def _hit(session: sqlite3.Row, text: str, wanted: SearchFilter) -> SearchHit | None:
    """The line with most of the words; None if none has what is wanted."""
    places = msgspec.json.decode(unpack(session["places"]), type=list[SearchPlace])
    best: tuple[int, int] | None = None
    lines = text.split("\n")
    matching = 0
    for number, (line, place) in enumerate(zip(lines, places, strict=True)):
        if _OPENS not in line or not _is_wanted(place, wanted):
            continue
        matching += 1
        marked = " ".join([piece.partition(_CLOSES)[0] for piece in line.split(_OPENS)[1:]])
        words = len(set(_WORD.compiled.findall(marked.lower())))
        # The first of equals, which is where people begin to read.
        if best is None or words > best[0]:
            best = (words, number)
    if best is None:
        return None
    return SearchHit(session, places[best[1]], _pieces(lines[best[1]]), matching)


def _is_wanted(place: SearchPlace, wanted: SearchFilter) -> bool:
    if wanted.tool is not None and (place.tool or "").casefold() != wanted.tool.casefold():
        return False
    return wanted.verdict is None or place.verdict == wanted.verdict


def _pieces(line: str) -> tuple[str, ...]:
    """What is shown of a line: its first match and some words around it."""
    parts = re.split(f"[{_OPENS}{_CLOSES}]", _without_parts(line))
    parts[0] = parts[0] if len(parts[0]) <= _AROUND else "…" + parts[0][-_AROUND:]
    shown: list[str] = []
    length = 0
    for part in parts:
        if length >= 3 * _AROUND and len(shown) % 2 == 0:
            shown.append(part[:_AROUND].rstrip() + "…")
            break
        shown.append(part if len(part) <= 2 * _AROUND else part[: 2 * _AROUND].rstrip() + "…")
        length += len(shown[-1])
    return tuple(shown)


def _terms(words: str) -> list[SearchTerm]:
    """What must be found: texts whose words stand together."""
    return [
        SearchTerm(text.rstrip("*"), bool(plain) and text.endswith("*"))
        for quoted, plain in _TERM.compiled.findall(words)
        # What has no letter and no digit is not in the index.
        if _WORD.compiled.search(text := quoted or plain)
    ]


def _facts(wanted: SearchFilter) -> str:
    """What else FTS5 is asked."""
    facts = [_fact("project", wanted.project)] if wanted.project is not None else []
    facts += [_fact("agent", wanted.agent)] if wanted.agent is not None else []
    if wanted.tool is not None or wanted.verdict is not None:
        facts.append(_fact("call", wanted.tool, wanted.verdict))
    return "".join([f' AND facts : "{fact}"' for fact in facts])


def _fact(*parts: str | None) -> str:
    """A fact as one word that no text has."""
    return "x" + short_digest(*["" if part is None else part.casefold() for part in parts])


def spaced(text: str) -> str:
    """The text with a separator around each character of scripts that have no spaces; without marks of ours."""
    plain = text.translate(_DROPPED)
    return plain if plain.isascii() else _UNSPACED.compiled.sub(lambda match: f"{_GAP}{match[0]}{_GAP}", plain)


def _with_parts(text: str) -> str:
    """The text in which each name such as `readFile` is followed by `read File`."""
    return _JOINED.compiled.sub(
        lambda match: f"{match[0]}{_PARTS_OPEN}{' '.join(_PART.compiled.findall(match[0]))}{_PARTS_CLOSE}", text
    )


def _without_parts(line: str) -> str:
    """The line as it was; where only a part of a name is marked, the whole name is."""

    def name(match: re.Match[str]) -> str:
        is_marked = _OPENS in match[2] and _CLOSES not in match[1]
        return f"{_OPENS}{match[1]}{_CLOSES}" if is_marked else match[1]

    return _WITH_PARTS.compiled.sub(name, line.replace(_GAP, ""))


def fill(store: Store, *, within_seconds: float | None = None, pause: Callable[[], None] = lambda: None) -> int:
    """Bring the index up to date, the newest sessions first; returns how many still wait.

    `pause` is called between two short transactions: a server lets others go first.
    """
    begun = time.monotonic()
    queue = _by_groups([(row["session_id"], row["times"]) for row in store.rows("search.queue")])
    for first in range(0, len(queue), _BATCH):
        if within_seconds is not None and time.monotonic() - begun > within_seconds:
            return len(queue) - first
        if first:
            pause()
        batch = queue[first : first + _BATCH]
        with store.write():
            # Inside the transaction: a session that is forgotten meanwhile must not come back.
            made = [row for session_id, _ in batch if (row := _document(store, session_id)) is not None]
            store.run_many("search.remove", [(session_id,) for session_id, _ in batch])
            store.run_many("search.add", made)
            store.run_many("search.done", batch)
    return 0


def _by_groups(newest: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The newest first, in groups that grow, and each group from its oldest: SQLite fills pages in the order of ids.

    Rows that come in the opposite order leave more than half of each page empty.
    """
    found: list[tuple[int, int]] = []
    size = _BATCH
    while len(found) < len(newest):
        found += reversed(newest[len(found) : len(found) + size])
        size = min(2 * size, _GROUP)
    return found


def _document(store: Store, session_id: int) -> tuple[Any, ...] | None:
    """The row of a session: its text line by line, and where each line stands. None if it is gone."""
    session = store.row("search.session", {"id": session_id})
    if session is None:
        return None
    lines: list[tuple[SearchPlace, str]] = []
    if session["title"]:
        lines.append((SearchPlace(0, "title"), session["title"]))
    # A stretch that was read again replaces what an earlier one says of the same message.
    said = {
        index: (SearchPlace(index, "person" if by_person else "agent"), text)
        for row in store.rows("search.said_in", {"session_id": session_id})
        for index, by_person, text in msgspec.json.decode(unpack(row["messages"]), type=list[tuple[int, int, str]])
    }
    lines += said.values()
    facts = {_fact("agent", session["agent"])}
    if session["project"] is not None:
        facts.add(_fact("project", session["project"]))
    for row in store.rows("search.calls_in", {"session_id": session_id}):
        tool, verdict = row["tool"], row["counts_as"]
        facts |= {_fact("call", tool, None), _fact("call", None, verdict), _fact("call", tool, verdict)}
        text = f"{tool} {_values_of(row['arguments'])} {row['error'] or ''}"
        lines.append((SearchPlace(row["message"], "call", row["position"], tool, verdict), text))
    lines.sort(key=lambda one: (one[0].message, one[0].by == "call"))
    # One line each: the line of a match is its place.
    text = "\n".join([_with_parts(spaced(" ".join(text.split()))) for _, text in lines])
    places = msgspec.json.encode([place for place, _ in lines])
    id = _rowid(session["at"], session_id)
    return id, session_id, " ".join(sorted(facts)), pack(places), pack_text(text)


def _values_of(arguments: str) -> str:
    """The texts in a call's arguments, without their names."""
    try:
        return " ".join(_texts(msgspec.json.decode(arguments)))[:_CALL_CHARS]
    except msgspec.DecodeError:
        return arguments[:_CALL_CHARS]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _rowid(at: float, session_id: int) -> int:
    seconds = min(max(int(at), 0), _MOST_SECONDS)
    return seconds << _SESSION_BITS | session_id & ((1 << _SESSION_BITS) - 1)


def pattern_of(text: str) -> str:
    """A LIKE pattern that finds the text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


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
