"""Texts from anybody, so that a person sees what is there: nothing hides, turns around or passes for a space."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5")
"""Letters and signs that are drawn as nothing."""
_SELECTORS = re.compile("[\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_MOST_LINE = 140


def marked(text: str) -> Markup:
    """The text with every character that cannot be seen written out, and marked as not being text."""
    if text.isascii() and text.isprintable():
        return escape(text)
    return Markup("").join([_mark(char) if _is_hidden(char) else escape(char) for char in text])


def line(text: str) -> Markup:
    """The beginning of a text in one line, for lists."""
    short = " ".join(text.split(None, 60)[:60])
    return marked(short if len(short) <= _MOST_LINE else short[: _MOST_LINE - 1] + "…")


def arguments(details: dict[str, Any]) -> str:
    """The exact arguments as JSON for people; what stands in quotes is as JSON writes it."""
    return json.dumps(details, ensure_ascii=False, indent=2)


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(seconds: float) -> str:
    """`42 s`, `4 min 05 s`, `3 h 20 min`, `2 d`; the script of the page counts on in the same words."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min" if whole < 172_800 else f"{whole // 86_400} d"


def _is_hidden(char: str) -> bool:
    if char in " \n":
        return False
    return unicodedata.category(char) in _HIDDEN or char in _BLANK or _SELECTORS.match(char) is not None


def _mark(char: str) -> Markup:
    name = unicodedata.name(char, "a control character").lower()
    return Markup('<mark title="{}">U+{:04X}</mark>').format(name, ord(char))
