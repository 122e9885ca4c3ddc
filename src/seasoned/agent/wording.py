"""How replies speak: numbers with their word, texts cut to a glance."""

from __future__ import annotations

GLANCE = 80


def number(count: int, one: str, many: str) -> str:
    """`1 entry`, `3 entries`."""
    return f"{count:,} {one if count == 1 else many}"


def preview(text: str, length: int = GLANCE) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
