"""Event streams, cut into events over any chunk borders; every byte that comes in is in exactly one event."""

from __future__ import annotations

import re
from typing import NamedTuple

_LIMIT = 32 << 20
"""Bytes of one event that are kept; a whole answer can be one event, a stream without events never ends."""
# Atomic, so that the two halves of one \r\n are never taken for two ends of lines.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its name where it has one, and its data."""

    name: str
    data: bytes


class Splitter:
    """Cuts a stream into events, each with the blank line that ends it."""

    def __init__(self, *, limit: int = _LIMIT) -> None:
        self._kept = bytearray()
        self._searched = 0
        self._limit = limit
        self.is_lost = False
        """An event was too long: from here on nothing is read any more."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that this chunk completes."""
        if self.is_lost:
            return [chunk] if chunk else []
        self._kept += chunk
        events: list[bytes] = []
        start = 0
        at = self._searched
        while found := _BLANK_LINE.search(self._kept, at):
            end = found.end()
            if end == len(self._kept) and self._kept.endswith(b"\r"):
                # The \n that belongs to this end may be the next byte.
                break
            events.append(bytes(self._kept[start:end]))
            start = at = end
        del self._kept[:start]
        self._searched = max(0, len(self._kept) - _LONGEST_END)
        if len(self._kept) > self._limit:
            self.is_lost = True
            events.append(self.end())
        return events

    @property
    def kept(self) -> int:
        """Bytes of an event whose end has not come."""
        return len(self._kept)

    @property
    def rest(self) -> bytes:
        """Those bytes themselves."""
        return bytes(self._kept)

    def end(self) -> bytes:
        """What remains after the last whole event."""
        rest = bytes(self._kept)
        self._kept.clear()
        self._searched = 0
        return rest


def read_event(raw: bytes) -> Event:
    """The name and the data of one event; comments and other fields are left out."""
    name = ""
    data: list[bytes] = []
    for line in _LINE_END.split(raw.removeprefix(_BOM)):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ").decode("utf-8", "replace")
    return Event(name, b"\n".join(data))
