"""Edits JSON in place: finds where values of an object and items of a list are in the bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from seasoned.history.json_file import decode

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
_SPACE = re.compile(rb"[ \t\r\n]*")
# Between items, and before a key: the decoder has found the JSON valid already, so no more need be checked.
_BETWEEN = re.compile(rb"[ \t\r\n,]*")
_KEY = re.compile(rb'[ \t\r\n,{]*"[^"\\]*(?:\\.[^"\\]*)*"[ \t\r\n]*:[ \t\r\n]*', re.DOTALL)


class ByteSpan(NamedTuple):
    """A value's first byte, and the first one after it."""

    start: int
    end: int


class ObjectFields(NamedTuple):
    """Where the values of an object are, and the object itself."""

    spans: dict[str, ByteSpan]
    whole: ByteSpan


def find_fields(body: bytes, at: int = 0) -> ObjectFields | None:
    """Where each value of the object at a position is; None if it is not an object, or names a field twice.

    If a field occurs twice, it is unknown which one the upstream uses, so the body is left alone.
    """
    try:
        found = _fields.decode(body if at == 0 else memoryview(body)[at:])
    except _UNREADABLE:
        return None
    start = _after_space(body, at)
    place = start + 1
    spans: dict[str, ByteSpan] = {}
    for key, raw in found.items():
        named = _KEY.match(body, place)
        value = bytes(raw)
        # A repeated field: the decoder returns its last value, which is not at the first position.
        if named is None or not body.startswith(value, named.end()):
            return None
        if msgspec.json.decode(body[named.start() : named.end()].strip(b" \t\r\n,{:")) != key:
            return None
        spans[key] = ByteSpan(named.end(), named.end() + len(value))
        place = spans[key].end
    place = _after_space(body, place)
    return ObjectFields(spans, ByteSpan(start, place + 1)) if body[place : place + 1] == b"}" else None


def find_items(body: bytes, span: ByteSpan) -> list[ByteSpan] | None:
    """Where the items of a list are; None if it is not a list."""
    try:
        found = _items.decode(memoryview(body)[span.start : span.end])
    except _UNREADABLE:
        return None
    spans = []
    place = span.start + 1
    for raw in found:
        # Only spaces and a comma come before an item, and no item begins with one of them.
        before = _BETWEEN.match(body, place)
        place = place if before is None else before.end()
        end = place + len(memoryview(raw))
        spans.append(ByteSpan(place, end))
        place = end
    return spans


def insert_after(body: bytes, name: str, belongs: Callable[[dict[str, Any]], bool], content: bytes) -> bytes:
    """The body with the items of a list inserted into the list `name`, after the leading items that `belongs` takes."""
    fields = find_fields(body)
    span = None if fields is None else fields.spans.get(name)
    items = None if span is None else find_items(body, span)
    if span is None or items is None:
        return body
    return _insert_items(body, span, items, _count_leading(body, items, belongs), content)


def _count_leading(body: bytes, items: list[ByteSpan], belongs: Callable[[dict[str, Any]], bool]) -> int:
    for count, item in enumerate(items):
        try:
            value = decode(body[item.start : item.end])
        except msgspec.DecodeError:
            return count
        if not isinstance(value, dict) or not belongs(value):
            return count
    return len(items)


def _insert_items(body: bytes, span: ByteSpan, items: list[ByteSpan], index: int, content: bytes) -> bytes:
    """The body with the items of another list inserted before one of its items, or after the last."""
    inner = content.strip()[1:-1].strip()
    if not inner:
        return body
    if not items:
        return _put(body, span.start + 1, inner)
    if index < len(items):
        return _put(body, items[index].start, inner + b",")
    return _put(body, items[-1].end, b"," + inner)


def list_items(body: bytes, name: str) -> list[ByteSpan]:
    """Where the items of the list `name` in the body are; empty if there is no such list."""
    fields = find_fields(body)
    span = None if fields is None else fields.spans.get(name)
    return (None if span is None else find_items(body, span)) or []


def find_inside(body: bytes, item: ByteSpan) -> dict[str, ByteSpan]:
    """Where the values of an object inside the body are; empty if it is not an object."""
    found = find_fields(body[item.start : item.end])
    spans = {} if found is None else found.spans
    return {name: ByteSpan(item.start + span.start, item.start + span.end) for name, span in spans.items()}


def _text_at(body: bytes, span: ByteSpan | None) -> str:
    value = None if span is None else decode(body[span.start : span.end])
    return value if isinstance(value, str) else ""


def follow(
    body: bytes,
    results: list[ByteSpan],
    lines: dict[str, str],
    *,
    named: str,
    content: str,
    part_type: str = "text",
) -> bytes:
    """The body with lines after the contents of results, which are texts or lists of parts.

    `lines` are by the ids of calls, which a result has in its field `named`.
    """
    left, places = dict(lines), []
    for result in results:
        inside = find_inside(body, result) if any(one.encode() in body[slice(*result)] for one in left) else {}
        if content in inside and (line := left.pop(_text_at(body, inside.get(named)), "")):
            places.append((inside[content], line))
    # From the last to the first, so that the places before stay where they are.
    for span, line in sorted(places, reverse=True):
        if body[span.start : span.start + 1] == b'"':
            escaped = msgspec.json.encode(f"\n\n{line}")[1:-1]
            body = _put(body, span.end - 1, escaped)
        elif (items := find_items(body, span)) is not None:
            part = msgspec.json.encode([{"type": part_type, "text": line}])
            body = _insert_items(body, span, items, len(items), part)
    return body


def add_field(body: bytes, fields: ObjectFields, member: bytes) -> bytes:
    """The body with one more field at the end of an object."""
    last = max([span.end for span in fields.spans.values()], default=None)
    if last is None:
        return _put(body, fields.whole.start + 1, member)
    return _put(body, last, b"," + member)


def replace(body: bytes, span: ByteSpan, value: bytes) -> bytes:
    """The body with the value in a span replaced."""
    return _put(body, span.start, value, span.end)


def _put(body: bytes, at: int, piece: bytes, until: int | None = None) -> bytes:
    # One copy: concatenating slices of a long body takes twenty times as long.
    view = memoryview(body)
    return b"".join((view[:at], piece, view[at if until is None else until :]))


def _after_space(body: bytes, at: int) -> int:
    found = _SPACE.match(body, at)
    return at if found is None else found.end()
