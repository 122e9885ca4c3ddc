"""Edits JSON in place: a value that is not changed keeps its bytes, so escapes and number spelling stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode
_scan = json.JSONDecoder(strict=False).raw_decode
_SPACE = re.compile(r"[ \t\r\n]*")
# What is read to find a place; more of it if that was too short. What leads to the first prompt is seldom longer.
_FIRST_BYTES = 1 << 16
Fields = dict[str, msgspec.Raw]


def read_fields(body: bytes | msgspec.Raw) -> Fields | None:
    """The values of an object as they are written; None if it is not an object."""
    try:
        return _fields(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def with_fields(fields: Fields, **changed: object) -> bytes:
    """An object with some fields changed, or added at its end."""
    return _encode({**fields, **changed})


def insert_after(body: bytes, name: str, belongs: Callable[[dict[str, Any]], bool], content: bytes) -> bytes:
    """The body with the items of a list inserted into the list `name`, after the leading items that `belongs` takes.

    A text in place of the list is short for one message of the user, and becomes the last item.
    """
    block = content.strip()[1:-1]
    size = _FIRST_BYTES
    while block:
        # One character for each byte, so that places in this text are places in the body. The signs of JSON are ASCII.
        text = body[:size].decode("latin-1")
        try:
            at, end, opening, between, closing = _place(text, name, belongs)
        except (ValueError, IndexError, RecursionError):
            if size >= len(body):
                break
            size *= 8
            continue
        # Not copied more than once: a body may have many megabytes.
        view = memoryview(body)
        return b"".join((view[:at], opening, block, between, view[at:end], closing, view[end:]))
    return body


def _place(text: str, name: str, belongs: Callable[[dict[str, Any]], bool]) -> tuple[int, int, bytes, bytes, bytes]:
    """Where a block begins and what it puts into a list ends; what stands before the block, after it, and at the end.

    ValueError or IndexError if the text ends before that, or is not such a request.
    """
    at = _behind(text, 0, "{")
    while (field := _scan(text, at))[0] != name:
        _, at = _scan(text, _behind(text, field[1], ":"))
        at = _behind(text, at, ",")
    at = _behind(text, field[1], ":")
    if text[at] == '"':
        return at, _scan(text, at)[1], b"[", b',{"type":"message","role":"user","content":', b"}]"
    at = _behind(text, at, "[")
    found = None
    while text[at] != "]":
        item, end = _scan(text, at)
        if not isinstance(item, dict) or not belongs(item):
            break
        found = end
        at = _space(text, end)
        at = at if text[at] == "]" else _behind(text, at, ",")
    if found is not None:
        return found, found, b",", b"", b""
    return at, at, b"", b"" if text[at] == "]" else b",", b""


def _behind(text: str, at: int, sign: str) -> int:
    """The place of what follows a sign."""
    at = _space(text, at)
    if text[at] != sign:
        raise ValueError(f"not {sign}")
    return _space(text, at + 1)


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
