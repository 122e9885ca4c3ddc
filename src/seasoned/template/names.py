"""Names of templates: what passes can be a file's name on any system, and can never leave its folder."""

from __future__ import annotations

import unicodedata

from seasoned.errors import UsageError

LONGEST = 64
_LONGEST_BYTES = 200
"""File systems count bytes; a suffix must still fit into the 255 that they allow."""
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin", "conout", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
_ALIKE = ("LATIN", "CYRILLIC", "GREEK")
"""Alphabets whose letters can look the same: a name is written in one of them."""


def check_name(name: str) -> str:
    """The name as it is kept (compatible characters joined); UsageError says in one sentence what is wrong."""
    wrong = _wrong(name)
    if wrong is not None:
        shown = name if len(name) <= LONGEST else name[:LONGEST] + "…"
        raise UsageError(f"{shown!r} cannot be the name of a template: {wrong}.")
    return unicodedata.normalize("NFKC", name)


def name_key(name: str) -> str:
    """What two names have in common that are the same but for capitals."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _wrong(name: str) -> str | None:
    if len(name) > 4 * LONGEST:
        return f"it has more than {LONGEST} characters"
    kept = unicodedata.normalize("NFKC", name)
    if not kept:
        return "it is empty"
    if len(kept) > LONGEST or len(kept.encode("utf-8", "replace")) > _LONGEST_BYTES:
        return f"it has more than {LONGEST} characters"
    for character in kept:
        if not _is_allowed(character):
            return f"{character!r} is none of letters, digits, '-', '_' and '.'"
    if kept[0] in ".-":
        return "it begins with a dot or a dash"
    if kept[-1] == "." or ".." in kept:
        return "it has a dot at its end or two in a row"
    if name_key(kept.partition(".")[0]) in _DEVICES:
        return "Windows keeps it for a device"
    if len({unicodedata.name(letter, "").partition(" ")[0] for letter in kept if letter.isalpha()} & {*_ALIKE}) > 1:
        return "it mixes letters of alphabets that look alike"
    # Capitals of some letters fall apart when folded: the key must be as harmless as the name.
    if not all(map(_is_allowed, name_key(kept))):
        return "it has letters whose capitals differ between systems"
    return None


def _is_allowed(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character in "-_."
    category = unicodedata.category(character)
    # Fillers count as letters and show nothing.
    return category in ("Lu", "Ll", "Lo", "Lm", "Nd") and "FILLER" not in unicodedata.name(character, "FILLER")
