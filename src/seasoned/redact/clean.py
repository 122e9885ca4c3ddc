"""Asks whether several short texts are free of secrets with one look, which is the usual answer."""

from __future__ import annotations

from collections.abc import Iterable

from seasoned.redact.name import promise
from seasoned.redact.redactor import PHONES, Redactor

CUT_MARGIN = 160
"""Characters to show beyond a cut, so that a secret that lies across it is recognised."""
_REMEMBERED = 4096


def is_clean(redactor: Redactor, texts: Iterable[str], common: Iterable[str] = ()) -> bool:
    """Whether none of the texts holds a secret, and nothing of what is common to many, names before all."""
    if not redactor.harmless.issuperset(common) and not all(_is_harmless(redactor, name) for name in common):
        return False
    return not redactor.find("\n".join(texts))


def _is_harmless(redactor: Redactor, name: str) -> bool:
    """Whether a name neither holds a secret nor promises that its value is one. Remembered: names come again."""
    if name in redactor.harmless:
        return True
    if gives_away(name) or redactor.find(name):
        return False
    if len(redactor.harmless) >= _REMEMBERED:
        redactor.harmless.clear()
    redactor.harmless.add(name)
    return True


def gives_away(name: str) -> bool:
    """Whether a name alone makes its value worth a closer look: `password`, `Authorization`, `phone`."""
    low = name.lower()
    return bool(promise(name)) or low.endswith(("authorization", "cookie")) or any(word in low for word in PHONES)
