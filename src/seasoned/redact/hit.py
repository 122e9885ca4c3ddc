"""A place in a text that looks like a secret."""

from __future__ import annotations

from typing import NamedTuple


def line_start(text: str, at: int, furthest: int) -> int:
    """Where the line begins, which may be one of a text inside JSON."""
    least = max(0, at - furthest)
    plain, escaped = text.rfind("\n", least, at), text.rfind("\\n", least, at)
    return max(least, plain + 1, escaped + 2 if escaped >= 0 else 0)


def line_end(text: str, at: int, furthest: int) -> int:
    """Where the line ends, which may be one of a text inside JSON."""
    plain = text.find("\n", at, at + furthest)
    end = plain if plain >= 0 else min(len(text), at + furthest)
    escaped = text.find("\\n", at, end)
    if escaped >= 0:
        return escaped - 2 if text.startswith("\\r", escaped - 2) and escaped - 2 >= at else escaped
    return end - 1 if plain > at and text[end - 1] == "\r" else end


class Hit(NamedTuple):
    """The kind of a secret, and where it begins and ends."""

    kind: str
    start: int
    end: int
