"""Which text may be shown to sessions: no secrets, orders, hidden characters or dangerous commands."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import msgspec

from seasoned.command.risk import need_of_command
from seasoned.lazy_regex import LazyRegex
from seasoned.redact import Hit, Redactor
from seasoned.template.admission.injection import is_injection

# What is kept about the user may hold contact data; notes and skills may not.
PERSONAL = frozenset(("email", "phone"))
# The check for orders reads only the beginning of a long text, so long texts are checked in overlapping parts.
_PART = 16_000
_OVERLAP = 1_000
LEFT_OUT = "(left out)"
_JOINERS = "\u200c\u200d"
# Letters and marks that show nothing, and variation selectors, which have been used to hide entire texts.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u2028\u2029\u034f") | frozenset(
    map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)))
)


# Quoted code, and lines that look like typed commands.
_QUOTED = LazyRegex(
    r"```[^\n`]*\n(.{1,4000}?)```|`([^`\n]{2,1000})`|^[ \t>]*\$ ([^\n]{2,1000})$", re.MULTILINE | re.DOTALL
)


class Admission(msgspec.Struct, frozen=True):
    """Whether a text is admitted; if not, why, in one sentence."""

    why: str | None = None

    def __bool__(self) -> bool:
        return self.why is None


def admit(
    redactor: Redactor, text: str, *, before: str = "", personal: bool = False, commands: bool = False
) -> Admission:
    """Whether a text may be kept for later sessions or shown to them. Only lines that `before` does not have count.

    `personal`: contact data is allowed. `commands`: the text is shown unasked, so it must not quote a command that a
    person must confirm.
    """
    # A person may write what an agent may not; the other lines of that file can still be changed.
    known = frozenset(before.split("\n"))
    added = "\n".join([line for line in text.split("\n") if line not in known])
    if place := hidden_character(added):
        return Admission(f"The text contains an invisible or broken character ({place}). Remove it.")
    hit = _secret(redactor, text, before, PERSONAL if personal else frozenset())
    if hit is not None:
        line = text.count("\n", 0, hit.start) + 1
        if hit.kind in PERSONAL:
            why = f"Line {line} contains personal data ({hit.kind}). Remove it, or keep it in the user's memory."
            return Admission(why)
        return Admission(
            f"Line {line} contains what looks like a secret ({hit.kind}). Say where it is kept, not what it is."
        )
    # An added line can complete an order that earlier lines began.
    if _speaks(added) or (_speaks(text) and not _speaks(before)):
        place = next((f"Line {at}" for at, line in enumerate(text.split("\n"), 1) if _speaks(line)), "The text")
        return Admission(
            f"{place} gives orders to its reader, or claims an approval, as injected instructions do. "
            "State the fact or the procedure instead."
        )
    if commands and (action := _needs_person(added)):
        return Admission(f"It quotes a command that a person must confirm ({action}), so it is not shown unasked.")
    return Admission()


def admitted(value: Any) -> Any:
    """A JSON value for a model to read, without texts that give orders or hide something."""
    if isinstance(value, str):
        return value if is_harmless(value) else LEFT_OUT
    if isinstance(value, dict):
        return {key if is_harmless(str(key)) else LEFT_OUT: admitted(inner) for key, inner in value.items()}
    return [admitted(inner) for inner in value] if isinstance(value, list | tuple) else value


def is_harmless(text: str) -> bool:
    """Whether a short text may be shown in a list or table for models: it gives no orders and hides nothing."""
    return not _speaks(text) and hidden_character(text) is None


def _needs_person(text: str) -> str | None:
    """The action of the first quoted command that a person must confirm."""
    for found in _QUOTED.compiled.finditer(text):
        for line in next(filter(None, found.groups()), "").splitlines():
            need = need_of_command(line.strip().removeprefix("$ ")) if line.strip() else None
            if need is not None:
                return need.action
    return None


def _speaks(text: str) -> bool:
    """Whether the text gives orders; it is checked in overlapping parts, so that no sentence is split."""
    return any(is_injection(text[at : at + _PART]) for at in range(0, max(len(text), 1), _PART - _OVERLAP))


def _secret(redactor: Redactor, text: str, before: str, allowed: frozenset[str]) -> Hit | None:
    for hit in redactor.find(text):
        if hit.kind not in allowed and (not before or text[hit.start : hit.end] not in before):
            return hit
    return None


def hidden_character(text: str) -> str | None:
    """The first character that a person would not see, by its name."""
    for at, char in enumerate(text):
        if char in "\n\t" or " " <= char <= "~":
            continue
        if char in _JOINERS:
            # They join letters of some scripts and parts of emoji; next to Latin letters they only hide.
            sides = text[at - 1 : at] + text[at + 1 : at + 2]
            if len(sides) == 2 and not any(side.isascii() or side in _JOINERS for side in sides):
                continue
        elif char not in _BLANK and unicodedata.category(char) not in ("Cc", "Cf", "Cs"):
            continue
        return f"U+{ord(char):04X} {unicodedata.name(char, '')}".rstrip()
    return None
