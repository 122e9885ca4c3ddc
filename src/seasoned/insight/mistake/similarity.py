"""Whether two values mean the same thing, written differently."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from seasoned.lazy_regex import LazyRegex

IDS = LazyRegex(r"\d{3,}")
CUT = LazyRegex(r" … \[\d+ characters\]\Z")  # how a text ends that was shortened for the store
_MARKS = LazyRegex(r"[\W_]+")
_WORDS = LazyRegex(r"\w{2,60}")
# A longer value is a text: two texts are alike if they share most words.
_TEXT_CHARS = 60
_READ = 4000


def alike(one: Any, other: Any) -> bool:
    """Whether two values mean the same, perhaps written differently; two different ids do not."""
    if one == other:
        return True
    if isinstance(one, list | tuple | dict) or isinstance(other, list | tuple | dict):
        mine, theirs = flat(one), flat(other)
        return bool(mine) and any(alike(a, b) for a in mine[:20] for b in theirs[:20])
    a, b = letters(str(one)), letters(str(other))
    if not a or not b or "[redacted:" in str(one) or "[redacted:" in str(other):
        return False
    if "@" in str(one) and "@" in str(other):
        # Two addresses at one company are two people.
        a, b = (letters(str(value).partition("@")[0]) for value in (one, other))
    if a == b:
        return True
    if max(len(a), len(b)) > _TEXT_CHARS:
        return share(str(one), str(other)) >= 0.6
    ids, other_ids = set(IDS.compiled.findall(a)), set(IDS.compiled.findall(b))
    if ids or other_ids:
        return bool(ids & other_ids)
    shorter, longer = sorted((len(a), len(b)))
    if shorter > 2 and 3 * shorter >= longer and (a in b or b in a):
        return True
    return not (set("0123456789") & set(a + b)) and SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.75


def letters(text: str) -> str:
    """A text reduced to letters and digits: whitespace, punctuation and case are the most common slips."""
    return _MARKS.compiled.sub("", text[:_READ].casefold())


def share(one: str, other: str) -> float:
    """The share of the words of the shorter text that the other one also has."""
    mine, theirs = (set(_WORDS.compiled.findall(CUT.compiled.sub("", text)[:_READ])) for text in (one, other))
    if not mine or not theirs:
        return float(one == other)
    return len(mine & theirs) / min(len(mine), len(theirs))


def nearly(one: str, other: str) -> bool:
    """Whether two lines are equal except for a typo."""
    if one == other:
        return True
    shorter, longer = sorted((len(one), len(other)))
    if shorter < 0.7 * longer or longer > 200:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.85


def closeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def identifies(value: Any) -> bool:
    """Whether a value identifies one thing, like an id, a path or a text, unlike a word such as `open`."""
    return any(len(leaf) > 24 or "/" in leaf or IDS.compiled.search(leaf) for leaf in flat(value))


def flat(value: Any, depth: int = 6) -> list[str]:
    """Every text and number in a value, however deep."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value[:50] for leaf in flat(item, depth - 1)] if depth else []
    return [] if value is None or isinstance(value, bool) else [str(value)]


def leaves(arguments: dict[str, Any]) -> Iterator[str]:
    """Every text and number in the arguments."""
    return (leaf for value in arguments.values() for leaf in flat(value))
