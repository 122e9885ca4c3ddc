"""Known items: what a person remembers of a real session, and whether search shows that session among the first five.

The items are drawn by hash from the histories themselves: what the store has cut off counts as a miss.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from seasoned import judge, read
from seasoned.command.tool import argument, command_of
from seasoned.errors import SeasonedError
from seasoned.redact import Secrecy
from seasoned.scan.intent import users_words
from seasoned.scan.scan import ScanTarget, scan
from seasoned.session import Session
from seasoned.store import Store, open_store
from seasoned.store.search import fill, search

SHARED = [Path(__file__).resolve().parents[2] / "shared" / name for name in ("projects", "data")]
ITEMS = 150
FIRST = 5
# What more sessions have is not what a person remembers one session by.
_MOST_SESSIONS = 3
_WORD = re.compile(r"[^\W\d_]{3,}")
_IDENTIFIER = re.compile(r"\b(?:[a-z]+(?:_[a-z]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+)\b")
_FILE = re.compile(r"\b[\w-]{4,}(?:\.[\w-]+)*\.[a-z]{1,5}\b(?!\.)")
_ERROR = re.compile(
    r"(?i)error|fail|not found|cannot|can't|denied|no such|unknown|invalid|exception|unexpected|missing"
)
_COMMON = re.compile(
    r"^(?:the|and|for|with|that|this|you|from|are|not|have|will|was|can|all|but|let|has|now|into|its)$"
)


class Item(NamedTuple):
    """A query, and what the session must hold to be the right one."""

    kind: str
    words: str
    held: tuple[str, ...]


class Texts(NamedTuple):
    """What can be remembered of a session, by the kind of text."""

    ref: str
    person: list[str]
    agent: list[str]
    command: list[str]
    error: list[str]

    @property
    def every(self) -> str:
        """All of it in one line of lower case."""
        parts = (*self.person, *self.agent, *self.command, *self.error)
        return " ".join("\n".join(parts).lower().split())


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-search-") as name:
        path = Path(name) / "seasoned.db"
        scan(ScanTarget(path), SHARED, Secrecy(b"k" * 32), workers=1)
        with open_store(path) as store:
            fill(store)
            yield from measure(store, draw(SHARED, ITEMS))
            yield _size(store)


def measure(store: Store, items: list[tuple[str, Item]]) -> Iterator[str]:
    """How many are found among the first five, by kind, and how long an answer takes."""
    found: dict[str, list[bool]] = {}
    seconds, missed = [], []
    lineage = {
        f"{row['agent']}:{row['native_id']}": row["root_id"] or row["id"]
        for row in store.connection.execute("SELECT agent, native_id, id, root_id FROM session")
    }
    for ref, item in items:
        begun = time.perf_counter()
        hits = search(store, item.words, limit=FIRST).hits
        seconds.append(time.perf_counter() - begun)
        shown = [f"{hit.session['agent']}:{hit.session['native_id']}" for hit in hits]
        is_found = lineage.get(ref) in [lineage[one] for one in shown]
        found.setdefault(item.kind, []).append(is_found)
        if not is_found:
            missed.append(f"  missed ({item.kind}): {item.words!r} of {ref}")
    total = sum(map(sum, found.values()))
    yield f"{total} of {len(items)} known items among the first {FIRST} results (wanted: 140 of 150)"
    yield ", ".join(f"{kind} {sum(one)} of {len(one)}" for kind, one in sorted(found.items()))
    late = statistics.quantiles(seconds, n=20)[-1]
    yield f"median {1e3 * statistics.median(seconds):.1f} ms, 95 % within {1e3 * late:.1f} ms (wanted: under 100)"
    yield from missed


def _size(store: Store) -> str:
    rows = store.connection.execute("SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name").fetchall()
    total = sum(row["bytes"] for row in rows)
    index, texts = (
        sum(row["bytes"] for row in rows if row["name"].startswith(name))
        for name in ("search_index", "search_document")
    )
    return (
        f"index {index / 1e6:.1f} MB, {100 * index / total:.1f} % of the store (wanted: 15 at most); with its texts "
        f"{100 * (index + texts) / total:.1f} %"
    )


def draw(folders: list[Path], count: int) -> list[tuple[str, Item]]:
    """So many items, the kinds in turn; each of another file, for a benchmark keeps a thousand sessions in one."""
    texts = {}
    for path in [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]:
        found = [_texts(session) for session in _sessions(path) if session.parent is None]
        if found:
            texts[path] = sorted(found, key=lambda one: _hash(one.ref))
    every = {one.ref: one.every for found in texts.values() for one in found}
    drawn: list[tuple[str, Item]] = []
    for number, path in enumerate(sorted(texts, key=lambda path: _hash(path.name))):
        kinds = [*_KINDS, *_KINDS][number % len(_KINDS) :][: len(_KINDS)]
        items = ((one.ref, _item(kind, one, every)) for kind in kinds for one in texts[path][:3])
        drawn += [(ref, item) for ref, item in items if item is not None][:1]
        if len(drawn) == count:
            break
    return drawn


def _sessions(path: Path) -> list[Session]:
    try:
        return list(read(path))
    except SeasonedError:
        return []


def _item(kind: str, texts: Texts, every: dict[str, str]) -> Item | None:
    """The first item of a kind, in the order of their hashes, that few sessions have."""
    candidates = sorted(set(_KINDS[kind](texts)), key=lambda one: _hash(texts.ref + one[0]))[:40]
    for words, held in candidates:
        if sum(all(part in text for part in held) for text in every.values()) <= _MOST_SESSIONS:
            return Item(kind, words, held)
    return None


Candidates = Iterator[tuple[str, tuple[str, ...]]]


def _phrases(texts: list[str], size: int) -> Candidates:
    for text in texts:
        for line in text.splitlines():
            words = line.split()
            for first in range(0, len(words) - size + 1, 2):
                phrase = " ".join(words[first : first + size])
                if len(_WORD.findall(phrase)) >= size - 1:
                    yield phrase, (phrase.lower(),)


def _commands(texts: Texts) -> Candidates:
    for command in texts.command:
        words = command.split("\n")[0].split()[:6]
        if len(words) >= 3:
            phrase = " ".join(words)
            yield phrase, (phrase.lower(),)


def _files(texts: Texts) -> Candidates:
    for command in texts.command:
        for name in _FILE.findall(command):
            yield name, (name.lower(),)


def _parts(texts: Texts) -> Candidates:
    """One part of an identifier, with two words from beside it."""
    for text in (*texts.person, *texts.agent, *texts.command):
        for match in _IDENTIFIER.finditer(text):
            parts = [one for one in re.findall(r"[A-Z]?[a-z]+", match[0]) if len(one) > 3]
            beside = _content(text[max(0, match.start() - 120) : match.start()])[-2:]
            part = parts[_hash(match[0])[0] % len(parts)].lower() if len(parts) > 1 else ""
            if part and len({*beside, part}) == 3:
                yield " ".join([*beside, part]), (*beside, match[0].lower())


def _forms(texts: Texts) -> Candidates:
    """Three words that stand close together, each in another form and in another order."""
    for text in (*texts.person, *texts.agent):
        for line in text.splitlines():
            words = _content(line)
            for first in range(len(words) - 2):
                three = words[first : first + 3]
                if len(set(three)) == 3:
                    yield " ".join([_other_form(word) for word in reversed(three)]), tuple(three)


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if len(word) > 3 and not _COMMON.match(word)]


def _other_form(word: str) -> str:
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > 6:
            return word.removesuffix(ending)
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    # A person who is not sure of the rest types the beginning.
    return word[: 2 * len(word) // 3] if len(word) > 8 else word if word.endswith(("d", "s", "y")) else f"{word}s"


_KINDS: dict[str, Callable[[Texts], Candidates]] = {
    "said by a person": lambda texts: _phrases(texts.person, 5),
    "said by an agent": lambda texts: _phrases(texts.agent, 5),
    "command": _commands,
    "error": lambda texts: _phrases(texts.error, 5),
    "file": _files,
    "part of an identifier": _parts,
    "other forms": _forms,
}


def _texts(session: Session) -> Texts:
    said: dict[str, list[str]] = {"user": [], "assistant": []}
    for message in session.messages:
        words = users_words(message) if message.role == "user" else message.text
        if words and message.role in said and not message.synthetic and not message.summary:
            said[message.role].append(words)
    commands, errors = [], []
    for call, verdict in judge(session):
        path = argument(call.arguments, "path")
        commands += [text for text in (command_of(call), path) if isinstance(text, str) and len(text) < 4000]
        if verdict.verdict == "failed" and call.result is not None:
            errors += [line for line in call.result.text.splitlines() if _ERROR.search(line)]
    return Texts(str(session.ref), said["user"], said["assistant"], commands, errors)


def _hash(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()
