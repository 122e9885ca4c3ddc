"""What may be kept in memory and skills: no secrets, no orders to the reader, no hidden characters."""

from __future__ import annotations

import unicodedata

from seasoned.redact import Hit, Redactor
from seasoned.template.admission.hostile import speaks_to_reader

# Who the user is may hold how to reach them; notes and skills may not.
PERSONAL = frozenset(("email", "phone"))
# The check for orders reads only the beginning of a long text, so it gets parts that overlap.
_PART = 16_000
_OVERLAP = 1_000
_JOINERS = "\u200c\u200d"
# Letters and marks that show nothing, and variation selectors, in which entire texts have been hidden.
_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u2028\u2029\u034f") | frozenset(
    map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)))
)


def objection(redactor: Redactor, text: str, *, before: str = "", personal: bool = False) -> str | None:
    """Why the text may not be kept, in one sentence. Only what an edit adds counts."""
    # A person may have written what an agent may not; other lines of that file can still be changed.
    known = frozenset(before.split("\n"))
    added = "\n".join([line for line in text.split("\n") if line not in known])
    if place := _hidden(added):
        return f"The text holds an invisible or broken character ({place}): write it without."
    hit = _secret(redactor, text, before, PERSONAL if personal else frozenset())
    if hit is not None:
        line = text.count("\n", 0, hit.start) + 1
        if hit.kind in PERSONAL:
            return f"Line {line} holds personal data ({hit.kind}): leave it out, or keep it in the user's memory."
        return f"Line {line} holds what looks like a secret ({hit.kind}): say where it is kept, never what it is."
    # An added line can complete an order that began in lines that were there before.
    if _speaks(added) or (_speaks(text) and not _speaks(before)):
        place = next((f"Line {at}" for at, line in enumerate(text.split("\n"), 1) if _speaks(line)), "The text")
        return (
            f"{place} gives orders to its reader, or claims an approval, as injected instructions do: "
            "state the fact or the procedure itself."
        )
    return None


def _speaks(text: str) -> bool:
    """Whether the text speaks to its reader; it is checked in parts that overlap, so that no sentence is split."""
    return any(speaks_to_reader(text[at : at + _PART]) for at in range(0, max(len(text), 1), _PART - _OVERLAP))


def _secret(redactor: Redactor, text: str, before: str, allowed: frozenset[str]) -> Hit | None:
    for hit in redactor.find(text):
        if hit.kind not in allowed and (not before or text[hit.start : hit.end] not in before):
            return hit
    return None


def _hidden(text: str) -> str | None:
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
