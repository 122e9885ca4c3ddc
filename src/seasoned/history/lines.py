"""JSON Lines as agents really write them: glued objects, cut ends, broken characters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from seasoned.errors import SourceError

_any = msgspec.json.Decoder()
_scan = json.JSONDecoder(strict=False)
_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_BUFFER = 1 << 18
_OPENING = re.compile(r'\{\s*"[^"\\]{1,40}"\s*:')
_RESTARTS = 32

# A pair of surrogates, a lone one, or any other escape (so that `\\ud800` is not taken for one).
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


class Record(NamedTuple):
    """One line that is not blank: where it begins, its number, and its bytes with the newline."""

    place: int
    line: int
    data: bytes


def records(path: Path, start: int = 0) -> Iterator[Record]:
    """The lines of a file from a byte offset on, one in memory at a time; line numbers count from there."""
    place = start
    number = 0
    try:
        with path.open("rb", buffering=_BUFFER) as file:
            if start:
                file.seek(start)
            for data in file:
                number += 1
                if not data.isspace():
                    if place == 0 and data.startswith(_BOM):
                        yield Record(len(_BOM), number, data[len(_BOM) :])
                    else:
                        yield Record(place, number, data)
                place += len(data)
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def decode(data: bytes | msgspec.Raw) -> Any:
    """The value of some JSON, with broken characters replaced; `msgspec.DecodeError` where it is none."""
    try:
        return _any.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        mended = mend(bytes(data))
        if mended is None:
            raise msgspec.DecodeError(str(error)) from error
        return _any.decode(mended)
    except RecursionError as error:
        raise msgspec.DecodeError("nested too deeply") from error


def mend(data: bytes) -> bytes | None:
    """The same JSON where only characters or a NaN were wrong in it; None where more than that is."""
    text = _ESCAPE.sub(_replace_lone, data.decode("utf-8", "replace").encode())
    try:
        value = json.loads(text, strict=False, parse_constant=_no_value, parse_float=_finite)
        mended = msgspec.json.encode(value)
        # What is mended must also decode, which a nesting or a number may forbid.
        _any.decode(mended)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return None
    return mended


def objects(data: bytes) -> list[bytes]:
    """What is glued together on a line, piece by piece: a piece that will not decode is what nobody can read."""
    text = data.decode("utf-8", "surrogateescape")
    pieces, end = _whole_from(text, 0)
    while end < len(text):
        again = _restart(text, end)
        if again is None:
            pieces.append(text[end:].rstrip(_SPACE))
            break
        pieces.append(text[end:again])
        more, end = _whole_from(text, again)
        pieces += more
    return [piece.encode("utf-8", "surrogateescape") for piece in pieces]


def _whole_from(text: str, at: int) -> tuple[list[str], int]:
    """The objects that lie whole from a position on, and where the first broken one begins."""
    whole: list[str] = []
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if not text.startswith("{", at):
            return whole, at
        try:
            _, end = _scan.raw_decode(text, at)
        except (ValueError, RecursionError):
            return whole, at
        whole.append(text[at:end])
        at = end


def _restart(text: str, broken: int) -> int | None:
    """Where a whole object begins after a broken one: it opens as lines of this file do and runs to the end."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    at = broken
    for _ in range(_RESTARTS):
        at = text.find(opening[0], at + 1)
        if at < 0:
            return None
        if _whole_from(text, at)[1] == len(text):
            return at
    return None


def _replace_lone(match: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if match["lone"] else match[0]


def _no_value(_name: str) -> None:
    return None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if abs(number) != float("inf") else None
