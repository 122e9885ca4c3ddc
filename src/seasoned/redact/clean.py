"""Asks whether several short texts are free of secrets with one look, which is the usual answer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from seasoned.redact.name import promise
from seasoned.redact.redactor import PHONES, Redactor

CUT_MARGIN = 160
"""Characters to show beyond a cut, so that a secret that lies across it is recognised."""


def is_clean(redactor: Redactor, texts: Iterable[str], names: Iterable[str] = ()) -> bool:
    """Whether none of the texts holds a secret, and none of the names promises that its value is one."""
    return not any(map(gives_away, names)) and not redactor.find("\n".join(texts))


@lru_cache(maxsize=4096)
def gives_away(name: str) -> bool:
    """Whether a name alone makes its value worth a closer look: `password`, `Authorization`, `phone`."""
    low = name.lower()
    return bool(promise(name)) or low.endswith(("authorization", "cookie")) or any(word in low for word in PHONES)
