"""How the parts of a call were written, with what varies from call to call masked: programs, folders, values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from seasoned.insight.mistake.call_target import ProgramRun
from seasoned.lazy_regex import LazyRegex

VARIES = "…"
_ARGUMENTS = 12
_UUID = LazyRegex(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE)
_DAY = LazyRegex(r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)?\Z")
_CLASSES = LazyRegex(r"[a-z]+|[A-Z]+|\d+")


def written_program(run: ProgramRun) -> str:
    """A program with its subcommand as it was written, without variables: `uv run .venv/bin/pytest`."""
    before = [_place(word) if word[-1] == "/" else f"{word} " for word in run.prefix if word[-1] != "="]
    return "".join([*before, run.label])


def _place(folder: str) -> str:
    """The folder of a program; of a full path only its end, which is the same on other machines."""
    parts = folder.rstrip("/").split("/")
    return folder if not folder.startswith(("/", "~", "$")) or len(parts) < 4 else f"{VARIES}/{'/'.join(parts[-2:])}/"


def folder_form(path: str) -> str:
    """A folder as it was written; of a full path only the last name, which other machines have too."""
    if not path.startswith(("/", "~", "$")):
        return path
    name = path.rstrip("/").rsplit("/", 1)[-1]
    return f"{VARIES}/{name}" if name and name != path else VARIES


def value_shape(value: Any) -> str:
    """How a value is written: a number, a day, an id with its letters and digits, a path, one word or several."""
    if isinstance(value, bool):
        return "switch"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "{" + ",".join(sorted(map(str, value))[:_ARGUMENTS]) + "}"
    if isinstance(value, list | tuple):
        return "[" + "|".join(sorted({value_shape(item) for item in value[:20]})) + "]"
    text = str(value).strip()
    if _UUID.compiled.match(text):
        return "uuid"
    if _DAY.compiled.match(text):
        return "day" if len(text) == 10 else "time"
    if "://" in text[:12]:
        return "url"
    if not text or len(text) > 60 or any(c.isspace() for c in text):
        return "words"
    first, slash, _ = text.partition("/")
    if slash:
        # Where a path begins is often the convention itself; how deep it goes is not.
        return f"{first}/path"
    shape = _CLASSES.compiled.sub(_class, text)
    # One word in any letters is a word; with digits or marks in it, it is written in some way.
    return "word" if shape.isalpha() else shape


def _class(found: re.Match[str]) -> str:
    first = found[0][0]
    return "0" if first.isdigit() else "A" if first.isupper() else "a"
