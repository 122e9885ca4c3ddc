"""One expression for many words: shared beginnings are tried once, which is much quicker than a list of words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from seasoned.redact.pattern import Pattern


def any_of(words: Iterable[str]) -> Pattern:
    """A pattern that finds the place where any of the words stands."""
    return Pattern(_branches(sorted(set(words))))


def _branches(words: list[str]) -> str:
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    # A word that ends here decides; longer ones with the same beginning need not be looked at.
    found = [re.escape(first) + ("" if "" in rest else _branches(rest)) for first, rest in rests.items()]
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"
