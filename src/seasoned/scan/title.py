"""What a session is called in lists: by its first words that say something, else by what it did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from seasoned.command.parse import parse
from seasoned.command.tool import argument, command_of, tool_of
from seasoned.project import relative_inside
from seasoned.session import ToolCall
from seasoned.text import plural

_CHARS = 120
# "yes" and "/review" tell less than what is said next, as far as that comes soon.
_FEWEST_WORDS = 3
_LOOKED_AT = 4
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def title_of_words(said: Iterable[str]) -> str | None:
    """The first of the first texts that has some words, in one line; None where nothing was said."""
    lines = [line for text in said if (line := _first_line(text))]
    best = next((line for line in lines[:_LOOKED_AT] if len(line.split()) >= _FEWEST_WORDS), None)
    return best or (lines[0] if lines else None)


def _first_line(text: str) -> str:
    """The text in one line, without the marks of headings, lists and quotations."""
    short = " ".join([word for word in text.replace("**", "").split() if word.strip("#>-–•❯=")])
    if not any(sign.isalnum() for sign in short):
        return ""
    return short if len(short) <= _CHARS else f"{short[: _CHARS - 2].rsplit(' ', 1)[0]} …"


def title_of_work(calls: Sequence[tuple[str, str]], folder: str | None, messages: int) -> str:
    """What a session did, from the tools and arguments of its calls: "edits in `src/web`, 12 calls"."""
    places: Counter[str] = Counter()
    programs: Counter[str] = Counter()
    for tool, arguments in calls:
        call = ToolCall("", tool, _decode(arguments))
        path = argument(call.arguments, "path")
        if tool_of(tool).form == "file_write" and isinstance(path, str):
            inside = relative_inside(path, folder) if folder else None
            places[(path if inside is None else inside).rpartition("/")[0] or "."] += 1
        elif command := command_of(call):
            programs.update([step.program for step in parse(command)[-1:]])
    count = plural(len(calls), "call") if calls else plural(messages, "message")
    if places:
        return f"edits in `{places.most_common(1)[0][0]}`, {count}"
    return f"runs `{programs.most_common(1)[0][0]}`, {count}" if programs else count
