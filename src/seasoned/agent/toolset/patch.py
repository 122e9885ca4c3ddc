"""Replaces one piece of a file by another, and says what is near where the piece is not there."""

from __future__ import annotations

import difflib
import re
from itertools import islice

from seasoned.agent.toolset.reach import Reach
from seasoned.agent.toolset.result import Answer, tool
from seasoned.errors import CannotDo, NotFound, UsageError

_DIFF_LINES = 120
_COMPARED = 5_000
_NUMBERED = re.compile(r"\s*\d+\|")


@tool(success=False, diff="")
def patch(reach: Reach, path: str, old_string: str, new_string: str, replace_all: bool = False) -> Answer:
    """Replace a piece of text in a file of the working folder.

    `old_string` must stand in the file exactly once, with the same blanks; take a few lines around the change, so that
    it does. Read the file first. `diff` shows what was changed.

    Args:
        path: The path from the working folder, for example "src/app.py".
        old_string: The text as it stands in the file now.
        new_string: The text to put in its place; "" removes it.
        replace_all: Replace every place where old_string stands, not just one.
    """
    if not old_string:
        raise UsageError("old_string is empty; use write_file for a new file, or give the text to replace.")
    if old_string == new_string:
        raise UsageError("old_string and new_string are the same; nothing would change.")
    data = reach.folder.read(path, most=reach.limits.file_bytes)
    if b"\0" in data[:8192]:
        raise CannotDo(f"{path!r} is not text; use a program in the terminal.")
    # Bytes that are no UTF-8 go through unchanged.
    text = data.decode("utf-8", "surrogateescape")
    found = list(_places(text, old_string))
    if not found:
        raise NotFound(f"old_string is not in {path!r}.{_nearest(text, old_string)}")
    if len(found) > 1 and not replace_all:
        lines = ", ".join(str(text.count("\n", 0, each.start()) + 1) for each in found[:10])
        more = ", …" if len(found) > 10 else ""
        raise UsageError(
            f"old_string stands {len(found)} times in {path!r} (lines {lines}{more}); "
            "add lines around it to make it unique, or set replace_all."
        )
    changed = _replaced(text, found, new_string)
    written = changed.encode("utf-8", "surrogateescape")
    if len(written) > reach.limits.file_bytes:
        raise CannotDo(f"{path!r} would have {len(written):,} bytes, more than {reach.limits.file_bytes:,}.")
    reach.folder.write(path, written)
    return {
        "success": True,
        "path": path,
        "replacements": len(found),
        "diff": _diff(path, text, changed),
        "error": None,
    }


def _places(text: str, old: str) -> list[re.Match[str]]:
    """Where it stands; a line's end in either way fits a line's end in the file."""
    expression = r"\r?\n".join(re.escape(line) for line in old.replace("\r\n", "\n").split("\n"))
    return list(re.finditer(expression, text))


def _replaced(text: str, found: list[re.Match[str]], new: str) -> str:
    """The text with the pieces replaced, each with line ends as they are where it stands."""
    new = new.encode("utf-8", "replace").decode().replace("\r\n", "\n")
    parts: list[str] = []
    at = 0
    for each in found:
        parts += [text[at : each.start()], new.replace("\n", _line_end(text, each))]
        at = each.end()
    return "".join([*parts, text[at:]])


def _line_end(text: str, place: re.Match[str]) -> str:
    inside = place.group()
    if "\n" in inside:
        return "\r\n" if "\r\n" in inside else "\n"
    next_end = text.find("\n", place.end())
    if next_end < 0:
        next_end = text.rfind("\n", 0, place.start())
    return "\r\n" if next_end > 0 and text[next_end - 1] == "\r" else "\n"


def _nearest(text: str, old: str) -> str:
    """What stands in the file instead, as far as something there resembles it."""
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")
    if all(_NUMBERED.match(line) for line in wanted if line.strip()) and "|" in old:
        return " Leave the line numbers ('12|') out of it."
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    sought = [line.strip() for line in wanted]
    for at in range(len(lines) - len(sought) + 1):
        if stripped[at : at + len(sought)] == sought:
            return f" At line {at + 1} it stands with other blanks:\n{_quoted(lines, at, len(sought))}"
    best, place = 0.0, -1
    key = max(sought, key=len, default="")
    offset = sought.index(key) if key else 0
    matcher = difflib.SequenceMatcher(b=key[:200], autojunk=False)
    for at, line in enumerate(stripped[:_COMPARED]):
        matcher.set_seq1(line[:200])
        if (
            line
            and matcher.real_quick_ratio() > best
            and matcher.quick_ratio() > best
            and (near := matcher.ratio()) > best
        ):
            best, place = near, at
    if best < 0.6:
        return " Nothing in the file resembles it; read the file again."
    first = max(0, place - offset)
    return f" The nearest is at line {first + 1}:\n{_quoted(lines, first, len(sought))}"


def _quoted(lines: list[str], first: int, count: int) -> str:
    shown = "\n".join(line[:300] for line in lines[first : first + min(count, 12)])
    return shown.encode("utf-8", "backslashreplace").decode()


def _diff(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), f"a/{path}", f"b/{path}", n=2, lineterm="")
    shown = [line[:500] for line in islice(lines, _DIFF_LINES + 1)]
    if len(shown) > _DIFF_LINES:
        shown[-1] = "[… more changes left out …]"
    return "\n".join(shown).encode("utf-8", "backslashreplace").decode()
