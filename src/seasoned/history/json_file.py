"""Reads the JSON values of a file: JSON Lines, a list or one document, damaged ones as far as possible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from seasoned.errors import SourceError
from seasoned.history.builder import SessionBuilder
from seasoned.session import Unreadable

T = TypeVar("T")

_any = msgspec.json.Decoder()
_scan = json.JSONDecoder(strict=False)
_BOM = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"
_BUFFER = 1 << 18
# How a record opens: an object after a broken one is recognised by the same first key.
_OPENING = re.compile(r'\{\s*"[^"\\]{1,40}"\s*:')
# Most attempts to find the next object on a broken line, so that a hostile line stays cheap.
_RESTARTS = 32
_HEAD_BYTES = 1 << 16
_BLANK = b"\xef\xbb\xbf \t\r\n"
_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])

# A pair of surrogates, a lone one, or any other escape (so that `\\ud800` is not taken for one).
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


@contextmanager
def source_errors(path: Path) -> Iterator[None]:
    """Turn an error of the file system into a SourceError."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


class JsonLine(NamedTuple):
    """A line that is not blank: its offset, its number, and its bytes with the newline."""

    place: int
    line: int
    data: bytes


def json_lines(path: Path, start: int = 0) -> Iterator[JsonLine]:
    """The lines of a file from a byte offset, one in memory at a time; line numbers count from there."""
    place = start
    number = 0
    with source_errors(path), path.open("rb", buffering=_BUFFER) as file:
        if start:
            file.seek(start)
        for data in file:
            number += 1
            if not data.isspace():
                if place == 0 and data.startswith(_BOM):
                    yield JsonLine(len(_BOM), number, data[len(_BOM) :])
                else:
                    yield JsonLine(place, number, data)
            place += len(data)


def decode(data: bytes | msgspec.Raw) -> Any:
    """Decode JSON, replacing broken characters; `msgspec.DecodeError` if it is not JSON."""
    return _decode_leniently(_any.decode, data)


def _decode_leniently(read: Callable[[bytes | msgspec.Raw], T], data: bytes | msgspec.Raw) -> T:
    try:
        return read(data)
    except msgspec.ValidationError:
        raise  # valid JSON of another type
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        repaired = repair_json(bytes(data))
        if repaired is None:
            raise msgspec.DecodeError(str(error)) from error
        return read(repaired)
    except RecursionError as error:
        raise msgspec.DecodeError("nested too deeply") from error


def repair_json(data: bytes) -> bytes | None:
    """The same JSON with broken characters and NaN replaced; None if more than that is wrong."""
    # JavaScript cuts texts in the middle of a pair, and strict decoders refuse the half that is left.
    text = _ESCAPE.sub(_replace_lone, data.decode("utf-8", "replace").encode())
    try:
        value = json.loads(text, strict=False, parse_constant=_no_value, parse_float=_finite)
        repaired = msgspec.json.encode(value)
        # Deep nesting or a huge number may still make it undecodable.
        _any.decode(repaired)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return None
    return repaired


def split_objects(data: bytes) -> list[bytes]:
    """The objects that are glued together on a line; pieces that do not decode are returned as they are."""
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
    """The complete objects from a position on, and where the first broken one begins."""
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
    """Where a complete object begins after a broken one: it opens like the line itself and runs to its end."""
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


class JsonPiece(NamedTuple):
    """The bytes of one value of a file, and their place."""

    place: int
    where: str
    data: bytes | msgspec.Raw


class JsonValue(NamedTuple, Generic[T]):
    """One value of a file, and its place."""

    place: int
    where: str
    value: T


def pieces(path: Path) -> Iterator[JsonPiece]:
    """The lines of JSON Lines, the items of a list, or the one document, not yet decoded."""
    with source_errors(path), path.open("rb") as file:
        text = file.read(_HEAD_BYTES).lstrip(_BLANK)
    # JSON Lines are never loaded as a whole; a document must be.
    if not text.startswith((b"{", b"[")) or _begins_as_lines(path, text):
        yield from _lines(path)
        return
    with source_errors(path):
        data = path.read_bytes().lstrip(_BLANK)
    if not _is_json(data):
        repaired = repair_json(data)
        if repaired is None:
            # The last resort: each line by itself.
            yield from _lines(path)
            return
        data = repaired
    if data.startswith(b"["):
        for index, item in enumerate(_raw_list.decode(data)):
            yield JsonPiece(index, f"item {index}", item)
    else:
        yield JsonPiece(0, "the document", data)


def values(path: Path) -> Iterator[JsonValue[Any] | Unreadable]:
    """The values of a file; glued objects are separated, and what cannot be read is Unreadable."""
    return _decoded(path, decode)


def documents(path: Path) -> Iterator[JsonValue[dict[str, msgspec.Raw]] | Unreadable]:
    """The objects of a file with their fields not yet decoded, for large files."""
    return _decoded(path, fields)


def _decoded(path: Path, read: Callable[[bytes | msgspec.Raw], T]) -> Iterator[JsonValue[T] | Unreadable]:
    for piece in pieces(path):
        try:
            yield JsonValue(piece.place, piece.where, read(piece.data))
        except msgspec.DecodeError as error:
            yield from _apart(piece, str(error), read)


def _apart(
    piece: JsonPiece, reason: str, read: Callable[[bytes | msgspec.Raw], T]
) -> Iterator[JsonValue[T] | Unreadable]:
    parts = split_objects(bytes(piece.data))
    if not parts:
        yield Unreadable(piece.where, reason)
    for part in parts:
        try:
            yield JsonValue(piece.place, piece.where, read(part))
        except msgspec.DecodeError as error:
            yield Unreadable(piece.where, str(error))


def fields(data: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The fields of an object, not yet decoded; `msgspec.DecodeError` if it is not one."""
    return _decode_leniently(_raw_object.decode, data)


def items(data: bytes | msgspec.Raw | None) -> list[msgspec.Raw]:
    """The items of a list, not yet decoded; empty if it is not a list."""
    if data is None:
        return []
    try:
        return _raw_list.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return []


def field(data: dict[str, msgspec.Raw], key: str) -> Any:
    """One field, decoded; None if it is missing or cannot be read."""
    try:
        return decode(data[key]) if key in data else None
    except msgspec.DecodeError:
        return None


def stored(builder: SessionBuilder, where: str, data: object) -> Any:
    """The JSON value in a column of a database; None, and a note in the session, if it cannot be read."""
    try:
        return decode(data if isinstance(data, bytes) else str(data).encode("utf-8", "replace"))
    except msgspec.DecodeError as error:
        builder.unreadable(where, str(error))
        return None


@contextmanager
def noting_unreadable(builder: SessionBuilder, where: str) -> Iterator[None]:
    """Turn errors from absurdly nested records or huge numbers into an Unreadable of the session."""
    try:
        yield
    except (RecursionError, OverflowError) as error:
        builder.unreadable(where, "nested too deeply" if isinstance(error, RecursionError) else "a number out of range")


def _begins_as_lines(path: Path, text: bytes) -> bool:
    """Whether the first or second line is a complete object, which never happens in a document."""
    if not text.startswith(b"{"):
        return False
    first, newline, rest = text.partition(b"\n")
    if not newline:
        # One long line is both the document and its only line, unless more lines follow.
        return len(text) >= _HEAD_BYTES - len(_BLANK) and _has_more_lines(path)
    second = rest.lstrip(_BLANK).partition(b"\n")[0]
    return _is_json(first) or (second.startswith(b"{") and rest.startswith(b"{") and _is_json(second))


def _has_more_lines(path: Path) -> bool:
    lines = json_lines(path)
    next(lines, None)
    return next(lines, None) is not None


def _lines(path: Path) -> Iterator[JsonPiece]:
    for place, line, data in json_lines(path):
        yield JsonPiece(place, f"line {line}", data)


def _is_json(data: bytes) -> bool:
    try:
        if data.startswith(b"["):
            _raw_list.decode(data)
        else:
            _raw_object.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
