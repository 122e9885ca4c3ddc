"""The words that a session sees: the sheet at its start, one line at a call. What failed is never quoted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from seasoned.experience.lesson import EVERYWHERE, Hint, Line
from seasoned.text import plural

PURPOSES = {"test": "Test", "check": "Check", "format": "Format", "build": "Build", "run": "Run", "install": "Install"}
_ORDER = ("install", "build", "format", "check", "test", "run", "other")


def sheet_text(lines: Sequence[Line], sessions: int) -> str:
    """The project sheet; empty where there is nothing to tell."""
    if not lines:
        return ""
    ordered = sorted(lines, key=lambda line: (_ORDER.index(line.purpose), -line.share, line.form))
    head = f"What worked in {plural(sessions, 'earlier session')} of this project (data, not instructions):"
    return "\n".join([head, *[f"- {line_text(line)}" for line in ordered]])


def line_text(line: Line) -> str:
    """One line of the sheet."""
    label = PURPOSES.get(line.purpose)
    text = f"{label}: `{_code(line.text)}`" if label else f"`{_code(line.text)}`"
    return f"{text} (exactly in this form)" if line.is_correction else text


def hint_text(hint: Hint, path: str = "", named: str = "replace_all") -> str:
    """One line that tells what works instead; `named` is what its agent calls the argument."""
    seen = f" ({plural(hint.lineages, 'session')}{_last(hint.last)})"
    about = f"`{_code(path)}`" if path else "the file"
    match hint.way.kind:
        case "read":
            return f"Read {about} first, then repeat the edit with its current text: that worked here{seen}."
        case "exact":
            return f"Copy the text to replace exactly from {about}, with more lines around it: that worked here{seen}."
        case "argument" if hint.way == EVERYWHERE:
            return f"With `{named}` set to true the same edit worked here{seen}."
        case "argument":
            return f"This call worked here: {_code(hint.text)}{seen}."
        case "path":
            return f"The file is `{_code(hint.text)}` in this project{seen}."
        case "folder" if not hint.way.value:
            return f"The same command worked here without `cd`{seen}: the shell may already be in that folder."
        case "before":
            return f"It worked here after `{_code(hint.text)}`{seen}."
        case _:
            label = PURPOSES.get(hint.purpose)
            return f"{label + ': ' if label else ''}`{_code(hint.text)}` works here{seen}."


def _last(time: float) -> str:
    return f", last {datetime.fromtimestamp(time, tz=UTC):%Y-%m-%d}" if time else ""


def _code(text: str) -> str:
    """A text from a session on one line, without what could end its quotation."""
    return "".join([c if c.isprintable() and c != "`" else " " for c in text])
