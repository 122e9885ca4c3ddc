"""A place in a text that looks like a secret."""

from __future__ import annotations

from typing import NamedTuple


def line_start(text: str, at: int, furthest: int) -> int:
    """Where the line begins, which may be one of a text inside JSON."""
    least = max(0, at - furthest)
    plain, escaped = text.rfind("\n", least, at), text.rfind("\\n", least, at)
    return max(least, plain + 1, escaped + 2 if escaped >= 0 else 0)


class Hit(NamedTuple):
    """The kind of a secret, and where it begins and ends."""

    kind: str
    start: int
    end: int
