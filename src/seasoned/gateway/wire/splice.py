"""Edits JSON in place: a value that is not changed keeps its bytes, so spaces, escapes and number spelling stay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from seasoned.history.json_file import decode

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode
_UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
Fields = dict[str, msgspec.Raw]


def read_fields(body: bytes | msgspec.Raw) -> Fields | None:
    """The values of an object as they are written; None if it is not an object."""
    try:
        return _fields(body)
    except _UNREADABLE:
        return None


def read_items(body: bytes | msgspec.Raw | None) -> list[msgspec.Raw] | None:
    """The items of a list as they are written; None if it is not a list."""
    try:
        return None if body is None else _items(body)
    except _UNREADABLE:
        return None


def with_fields(fields: Fields, **changed: object) -> bytes:
    """An object with some fields changed, or added at its end."""
    return _encode({**fields, **changed})


def insert_after(body: bytes, name: str, belongs: Callable[[dict[str, Any]], bool], content: bytes) -> bytes:
    """The body with the items of a list inserted into the list `name`, after the leading items that `belongs` takes."""
    fields, block = read_fields(body), read_items(content)
    items = None if fields is None else read_items(fields.get(name))
    if fields is None or items is None or not block:
        return body
    at = _count_leading(items, belongs)
    return with_fields(fields, **{name: [*items[:at], *block, *items[at:]]})


def _count_leading(items: Sequence[msgspec.Raw], belongs: Callable[[dict[str, Any]], bool]) -> int:
    for count, item in enumerate(items):
        value = _value(item)
        if not isinstance(value, dict) or not belongs(value):
            return count
    return len(items)


def _value(written: msgspec.Raw) -> object:
    try:
        return decode(bytes(written))
    except msgspec.DecodeError:
        return None
