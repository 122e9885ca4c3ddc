"""The JSON values of a file, whether it is JSON Lines, a list or one document, and the sessions made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from seasoned.errors import SourceError
from seasoned.history.builder import Builder
from seasoned.history.lines import decode, mend, objects, records
from seasoned.session import Session, SessionRef, Unreadable

_HEAD_BYTES = 1 << 16
_BLANK = b"\xef\xbb\xbf \t\r\n"
_raw_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])
_TOKEN = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"|[{}\[\]]|[^"{}\[\]]+', re.DOTALL)
_CLOSES = {b"{": b"}", b"[": b"]"}
_ENDS_EARLY = "the document ends before it is whole; what lies before its end was read"


class Piece(NamedTuple):
    """The bytes of one value of a file, and where they lie."""

    place: int
    where: str
    data: bytes | msgspec.Raw


T = TypeVar("T")


class Value(NamedTuple, Generic[T]):
    """One value of a file, and where it lies."""

    place: int
    where: str
    value: T


def pieces(path: Path) -> Iterator[Piece | Unreadable]:
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
            yield Piece(index, f"item {index}", item)
    else:
        yield Piece(0, "the document", data)
    if cut:
        yield Unreadable("the end of the file", _ENDS_EARLY)


def values(path: Path) -> Iterator[Value[Any] | Unreadable]:
    """The same, decoded; glued objects come apart, and what cannot be read says why."""
    return _decoded(path, decode)


def documents(path: Path) -> Iterator[Value[dict[str, msgspec.Raw]] | Unreadable]:
    """The same where objects are expected, with their fields not yet decoded: for large ones."""
    return _decoded(path, fields)


def _decoded(path: Path, read: Callable[[bytes | msgspec.Raw], T]) -> Iterator[Value[T] | Unreadable]:
    for piece in pieces(path):
        if isinstance(piece, Unreadable):
            yield piece
            continue
        try:
            yield Value(piece.place, piece.where, read(piece.data))
        except msgspec.DecodeError as error:
            yield from _apart(piece, str(error), read)


def _apart(piece: Piece, reason: str, read: Callable[[bytes | msgspec.Raw], T]) -> Iterator[Value[T] | Unreadable]:
    parts = objects(bytes(piece.data))
    if not parts:
        yield Unreadable(piece.where, reason)
    for part in parts:
        try:
            yield Value(piece.place, piece.where, read(part))
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
def reading(builder: Builder, where: str) -> Iterator[None]:
    """A record that turns out to be nested or counted beyond reason is unreadable, and no more than that."""
    try:
        yield
    except (RecursionError, OverflowError) as error:
        builder.unreadable(where, "nested too deeply" if isinstance(error, RecursionError) else "a number out of range")


def spread(parts: Iterable[Builder | Unreadable], ref: SessionRef, *, format: str, path: Path) -> Iterator[Session]:
    """The sessions in order; what lies between them and cannot be read is told by the one before it, or the first."""
    held: Builder | None = None
    homeless: list[Unreadable] = []
    for part in parts:
        if isinstance(part, Builder):
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
        held = Builder(ref, format=format, path=str(path))
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


def _lines(path: Path) -> Iterator[Piece]:
    for place, line, data in records(path):
        yield Piece(place, f"line {line}", data)


def _glued(path: Path, data: bytes) -> Iterator[Piece]:
    """Documents one after the other, each over several lines; otherwise lines after all."""
    parts = objects(data)
    if len(parts) > 1 and all(map(_is_json, parts[:-1])):
        for index, part in enumerate(parts):
            yield Piece(index, f"document {index}", part)
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
