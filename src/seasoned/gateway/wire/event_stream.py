"""What the readers of the three event streams share. Events are read while their bytes pass."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

import msgspec

from seasoned.gateway.wire.request import ApiResponse
from seasoned.history.coerce import as_object, string
from seasoned.history.json_file import decode

# Bytes of one event that are kept; a whole answer can be one event, a stream without events never ends.
_LIMIT = 32 << 20
# Atomic, so that one \r\n never counts as two line ends.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
# A blank line may have been cut anywhere: its first bytes are searched again with the next chunk.
_LONGEST_END = 4
_BOM = b"\xef\xbb\xbf"


class EventSplitter:
    """Cuts a stream into events, each with the blank line that ends it."""

    def __init__(self, *, limit: int = _LIMIT) -> None:
        self._kept = bytearray()
        self._searched = 0
        self._limit = limit
        # An event was too long: from here on nothing is read any more.
        self.is_lost = False

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
    def rest(self) -> bytes:
        """The bytes of an event that is not complete yet."""
        return bytes(self._kept)

    def end(self) -> bytes:
        """What remains after the last whole event."""
        rest = bytes(self._kept)
        self._kept.clear()
        self._searched = 0
        return rest


def event_data(raw: bytes) -> bytes:
    """The data of one event, without its name, comments and other fields."""
    lines = [line.partition(b":") for line in _LINE_END.split(raw.removeprefix(_BOM))]
    return b"\n".join([value.removeprefix(b" ") for field, _, value in lines if field == b"data"])


# An error is stored, and providers may quote the whole request in it.
_ERROR_CHARS = 500


class EventStream(ABC):
    """Passes chunks on and reads their events, with a subclass for each API.

    What it cannot read is passed on all the same.
    """

    def __init__(self) -> None:
        self._splitter = EventSplitter()
        # Whether only we asked for the usage, which is then not passed on.
        self.takes_usage_out = False
        self._usage: dict[str, Any] | None = None
        self.error: str | None = None

    @property
    def held(self) -> bytes:
        """What has arrived and was not passed on yet."""
        return self._splitter.rest if self.takes_usage_out else b""

    def feed(self, chunk: bytes) -> bytes:
        """What to pass on now: the chunk itself, unless the usage event that we asked for may be in it."""
        events = self._splitter.feed(chunk)
        if not self.takes_usage_out:
            for event in events:
                self._meet(event)
            return chunk
        return b"".join([event for event in events if not self._meet(event)])

    def end(self) -> bytes:
        """What was held back when the upstream closed the stream."""
        rest = self._splitter.end()
        is_usage = self._meet(rest) if rest.strip() else False
        return rest if self.takes_usage_out and not is_usage else b""

    @abstractmethod
    def answer(self) -> ApiResponse:
        """What was read so far."""

    def _meet(self, raw: bytes) -> bool:
        """Read one event; whether it is the one that only we asked for."""
        if self._splitter.is_lost:
            return False
        data = event_data(raw)
        if not data or data == b"[DONE]":
            return False
        fields = fields_of(data)
        if fields is None:
            return False
        if fields.get("error") is not None:
            self.error = error_of(fields)
        self._read(fields)
        return self._is_only_usage(fields)

    @abstractmethod
    def _read(self, fields: dict[str, Any]) -> None:
        """Read one event of the API."""

    def _is_only_usage(self, _fields: dict[str, Any]) -> bool:
        """Whether an event says nothing but the usage."""
        return False


def fields_of(data: bytes) -> dict[str, Any] | None:
    """The JSON object in some bytes; None if they are anything else."""
    try:
        value = decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def error_of(fields: dict[str, Any]) -> str | None:
    """The error in the provider's words; None if there is none."""
    error = fields.get("error")
    if error is None:
        return None
    inner = as_object(error)
    said = string(inner.get("message")) or string(inner.get("type")) or string(error) or "an error without a message"
    return said[:_ERROR_CHARS]


def merge_usage(before: dict[str, Any] | None, later: object) -> dict[str, Any] | None:
    """The usage so far with a later report: a later figure replaces an earlier one unless it is zero."""
    if not isinstance(later, dict):
        return before
    merged = dict(before or {})
    for key, value in later.items():
        if isinstance(value, dict) and isinstance(known := merged.get(key), dict):
            merged[key] = {**known, **{name: one for name, one in value.items() if one or name not in known}}
        elif value or key not in merged:
            merged[key] = value
    return merged
