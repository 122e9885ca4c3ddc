"""Sets of words, written as running text."""

from __future__ import annotations


def vocabulary(text: str) -> frozenset[str]:
    """The words of the text."""
    return frozenset(text.split())
