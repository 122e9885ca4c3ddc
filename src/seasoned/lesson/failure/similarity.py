"""Fuzzy comparison of argument values, names and lines."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from seasoned.lazy_regex import LazyRegex

NUMERIC_IDS = LazyRegex(r"\d{3,}")
TRUNCATION_MARK = LazyRegex(r" … \[\d+ characters\]\Z")  # ends a text that the store truncated
_NON_ALPHANUMERIC = LazyRegex(r"[\W_]+")
_WORDS = LazyRegex(r"\w{2,60}")
# Longer values are compared by the words they share.
_MAX_NAME_CHARS = 60
_MAX_TEXT_CHARS = 4000


def values_match(one: Any, other: Any) -> bool:
    """Whether two values mean the same despite different spelling; two different ids never do."""
    if one == other:
        return True
    a, b = alphanumeric_only(str(one)), alphanumeric_only(str(other))
    if not a or not b or "[redacted:" in str(one) or "[redacted:" in str(other):
        return False
    ids, other_ids = set(NUMERIC_IDS.compiled.findall(a)), set(NUMERIC_IDS.compiled.findall(b))
    if ids or other_ids:
        return bool(ids & other_ids)
    return (
        a == b
        or word_overlap(str(one), str(other)) >= 0.6
        or similarity_ratio(a[:_MAX_NAME_CHARS], b[:_MAX_NAME_CHARS]) >= 0.75
    )


def alphanumeric_only(text: str) -> str:
    """A text reduced to letters and digits: whitespace, punctuation and case are the most common slips."""
    return _NON_ALPHANUMERIC.compiled.sub("", text[:_MAX_TEXT_CHARS].casefold())


def word_overlap(one: str, other: str) -> float:
    """The share of words in the smaller vocabulary that also occur in the other text."""
    mine, theirs = (
        set(_WORDS.compiled.findall(TRUNCATION_MARK.compiled.sub("", text)[:_MAX_TEXT_CHARS])) for text in (one, other)
    )
    if not mine or not theirs:
        return float(one == other)
    return len(mine & theirs) / min(len(mine), len(theirs))


def similarity_ratio(one: str, other: str) -> float:
    """How similar two names are, from 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def is_identifying(value: Any) -> bool:
    """Whether a value identifies one thing, like an id, a path or a text, unlike a word such as `open`."""
    return any(len(leaf) > 24 or "/" in leaf or NUMERIC_IDS.compiled.search(leaf) for leaf in scalar_texts(value))


def scalar_texts(value: Any, depth: int = 6) -> list[str]:
    """Every text and number in a value, up to `depth` levels deep."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value[:50] for leaf in scalar_texts(item, depth - 1)] if depth else []
    return [] if value is None or isinstance(value, bool) else [str(value)]


def argument_texts(arguments: dict[str, Any]) -> Iterator[str]:
    """Every text and number in the arguments."""
    return (leaf for value in arguments.values() for leaf in scalar_texts(value))
