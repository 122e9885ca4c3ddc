"""The JSON values of a file, whether it is JSON Lines, a list or one document, and the sessions made of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from seasoned.errors import SourceError
from seasoned.history.builder import SessionBuilder
from seasoned.session import Session, SessionRef, Unreadable

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


class JsonLine(NamedTuple):
    """One line that is not blank: where it begins, its number, and its bytes with the newline."""

    place: int
    line: int
    data: bytes


def records(path: Path, start: int = 0) -> Iterator[JsonLine]:
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
                        yield JsonLine(len(_BOM), number, data[len(_BOM) :])
                    else:
                        yield JsonLine(place, number, data)
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


_HEAD_BYTES = 1 << 16
_BLANK = b"\xef\xbb\xbf \t\r\n"
_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])
_TOKEN = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"|[{}\[\]]|[^"{}\[\]]+', re.DOTALL)
_CLOSES = {b"{": b"}", b"[": b"]"}
_ENDS_EARLY = "the document ends before it is whole; what lies before its end was read"


class JsonPiece(NamedTuple):
    """The bytes of one value of a file, and where they lie."""

    place: int
    where: str
    data: bytes | msgspec.Raw


T = TypeVar("T")


class JsonValue(NamedTuple, Generic[T]):
    """One value of a file, and where it lies."""

    place: int
    where: str
    value: T


def pieces(path: Path) -> Iterator[JsonPiece | Unreadable]:
    """The lines of JSON Lines, the items of a list, or the one document; lines are not checked."""
    head = _head(path)
    text = head.lstrip(_BLANK)
    if not text.startswith((b"{", b"[")) or _begins_as_lines(path, text):
        yield from _lines(path)
        return
    data = _whole(path).lstrip(_BLANK)
    cut = False
    if not _is_json(data):
        mended = mend(data)
        if mended is None:
            mended = _close(data)
            cut = mended is not None
        if mended is None:
            yield from _lines(path) if text.startswith(b"[") else _glued(path, data)
            return
        data = mended
    if data.startswith(b"["):
        for index, item in enumerate(_raw_list.decode(data)):
            yield JsonPiece(index, f"item {index}", item)
    else:
        yield JsonPiece(0, "the document", data)
    if cut:
        yield Unreadable("the end of the file", _ENDS_EARLY)


def values(path: Path) -> Iterator[JsonValue[Any] | Unreadable]:
    """The same, decoded; glued objects come apart, and what cannot be read says why."""
    return _decoded(path, decode)


def documents(path: Path) -> Iterator[JsonValue[dict[str, msgspec.Raw]] | Unreadable]:
    """The same where objects are expected, with their fields not yet decoded: for large ones."""
    return _decoded(path, fields)


def _decoded(path: Path, read: Callable[[bytes | msgspec.Raw], T]) -> Iterator[JsonValue[T] | Unreadable]:
    for piece in pieces(path):
        if isinstance(piece, Unreadable):
            yield piece
            continue
        try:
            yield JsonValue(piece.place, piece.where, read(piece.data))
        except msgspec.DecodeError as error:
            yield from _apart(piece, str(error), read)


def _apart(
    piece: JsonPiece, reason: str, read: Callable[[bytes | msgspec.Raw], T]
) -> Iterator[JsonValue[T] | Unreadable]:
    parts = objects(bytes(piece.data))
    if not parts:
        yield Unreadable(piece.where, reason)
    for part in parts:
        try:
            yield JsonValue(piece.place, piece.where, read(part))
        except msgspec.DecodeError as error:
            yield Unreadable(piece.where, str(error))


def fields(data: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The fields of an object, not yet decoded; `msgspec.DecodeError` where it is none."""
    try:
        return _raw_object.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        mended = mend(bytes(data))
        if mended is None:
            raise msgspec.DecodeError(str(error)) from error
        return _raw_object.decode(mended)
    except RecursionError as error:
        raise msgspec.DecodeError("nested too deeply") from error


def items(data: bytes | msgspec.Raw | None) -> list[msgspec.Raw]:
    """The items of a list, not yet decoded; none where it is no list."""
    if data is None:
        return []
    try:
        return _raw_list.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return []


def field(data: dict[str, msgspec.Raw], key: str) -> Any:
    """One field, decoded; None where it is missing or cannot be read."""
    try:
        return decode(data[key]) if key in data else None
    except msgspec.DecodeError:
        return None


@contextmanager
def reading(builder: SessionBuilder, where: str) -> Iterator[None]:
    """A record that turns out to be nested or counted beyond reason is unreadable, and no more than that."""
    try:
        yield
    except (RecursionError, OverflowError) as error:
        builder.unreadable(where, "nested too deeply" if isinstance(error, RecursionError) else "a number out of range")


def spread(
    parts: Iterable[SessionBuilder | Unreadable], ref: SessionRef, *, format: str, path: Path
) -> Iterator[Session]:
    """The sessions in order; what lies between them and cannot be read is told by the one before it, or the first."""
    held: SessionBuilder | None = None
    homeless: list[Unreadable] = []
    for part in parts:
        if isinstance(part, SessionBuilder):
            if held is not None:
                yield held.take()
            held = part
            for lost in homeless:
                held.unreadable(lost.place, lost.reason)
            homeless.clear()
        elif held is not None:
            held.unreadable(part.place, part.reason)
        else:
            homeless.append(part)
    if held is None:
        if not homeless:
            return
        held = SessionBuilder(ref, format=format, path=str(path))
        for lost in homeless:
            held.unreadable(lost.place, lost.reason)
    yield held.take()


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def _whole(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def _begins_as_lines(path: Path, text: bytes) -> bool:
    """Whether the first or the second line is a whole object, which a document's never is."""
    if not text.startswith(b"{"):
        return False
    first, newline, rest = text.partition(b"\n")
    if not newline:
        # One long line: it is the document and the only line at once, unless more lines follow.
        return len(text) >= _HEAD_BYTES - len(_BLANK) and _has_more_lines(path)
    second = rest.lstrip(_BLANK).partition(b"\n")[0]
    return _is_json(first) or (second.startswith(b"{") and rest.startswith(b"{") and _is_json(second))


def _has_more_lines(path: Path) -> bool:
    lines = records(path)
    next(lines, None)
    return next(lines, None) is not None


def _lines(path: Path) -> Iterator[JsonPiece]:
    for place, line, data in records(path):
        yield JsonPiece(place, f"line {line}", data)


def _glued(path: Path, data: bytes) -> Iterator[JsonPiece]:
    """Documents one after the other, each over several lines; otherwise lines after all."""
    parts = objects(data)
    if len(parts) > 1 and all(map(_is_json, parts[:-1])):
        for index, part in enumerate(parts):
            yield JsonPiece(index, f"document {index}", part)
    else:
        yield from _lines(path)


def _is_json(data: bytes) -> bool:
    try:
        if data.startswith(b"["):
            _raw_list.decode(data)
        else:
            _raw_object.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _close(data: bytes) -> bytes | None:
    """A document that was cut off, closed after the last value that is whole; None where it is no such thing."""
    opened: list[bytes] = []
    good: tuple[int, bytes] | None = None
    at = 0
    while match := _TOKEN.match(data, at):
        token = match[0]
        at = match.end()
        if token in _CLOSES:
            opened.append(_CLOSES[token])
        elif token in (b"}", b"]"):
            if not opened or opened.pop() != token or not opened:
                return None
            good = at, b"".join(reversed(opened))
    if good is None:
        return None
    closed = data[: good[0]] + good[1]
    return closed if _is_json(closed) else mend(closed)
