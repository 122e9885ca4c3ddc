"""Our part of a text file between two marks: put in, found again, taken out; all other lines stay as they are."""

from __future__ import annotations

import re

import msgspec

from seasoned.errors import CannotDo


class Fence(msgspec.Struct, frozen=True):
    """The lines before and after our part, in the comments of the file's language."""

    begin: str
    end: str

    def find(self, text: str) -> re.Match[str] | None:
        """Our part with its marks and the line break behind it; CannotDo where the marks are not one pair."""
        begins, ends = text.count(self.begin), text.count(self.end)
        if not begins and not ends:
            return None
        pattern = re.escape(self.begin) + r"[^\n]*\n(?P<body>.*?)" + re.escape(self.end) + r"[^\n]*(?:\n|\Z)"
        found = re.search(pattern, text, re.DOTALL)
        if begins != 1 or ends != 1 or found is None:
            raise CannotDo(f"the marks {self.begin!r} and {self.end!r} do not stand there once and in order")
        return found

    def part(self, body: str, newline: str) -> str:
        """Our part as it is written."""
        return newline.join([self.begin, *body.splitlines(), self.end, ""])

    def take_out(self, text: str) -> str:
        """The text without our part and the empty line that was put before it."""
        found = self.find(text)
        if found is None:
            return text
        before, after = text[: found.start()], text[found.end() :]
        for blank in ("\r\n\r\n", "\n\n"):
            if before.endswith(blank):
                return before[: -len(blank) // 2] + after
        return before + after


def newline_of(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def put_at_end(text: str, fence: Fence, body: str) -> str:
    """The text with our part at its end, or in its place where it stands already."""
    newline = newline_of(text)
    part = fence.part(body, newline)
    found = fence.find(text)
    if found is not None:
        return text[: found.start()] + part + text[found.end() :]
    if not text:
        return part
    return text + ("" if text.endswith("\n") else newline) + newline + part


def put_at_start(text: str, fence: Fence, body: str) -> str:
    """The text with our part before everything else, or in its place."""
    part = fence.part(body, newline_of(text))
    found = fence.find(text)
    if found is not None:
        return text[: found.start()] + part + text[found.end() :]
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + part + text[len(mark) :]
