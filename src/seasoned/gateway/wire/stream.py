"""What the readers of the three event streams share: events are read while their bytes pass."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import msgspec

from seasoned.gateway.sse import Splitter, read_event
from seasoned.gateway.wire.value import Answer
from seasoned.history.coerce import record, string
from seasoned.history.json_file import decode

_ERROR_CHARS = 500
TOO_DEEP = Answer(error="an answer that is nested too deeply")

Arguments = ParamSpec("Arguments")
Read = TypeVar("Read")
Otherwise = TypeVar("Otherwise")


def unless_too_deep(
    otherwise: Otherwise,
) -> Callable[[Callable[Arguments, Read]], Callable[Arguments, Read | Otherwise]]:
    """What a reading gives instead when the JSON is nested deeper than its functions can go."""

    def bound(read: Callable[Arguments, Read]) -> Callable[Arguments, Read | Otherwise]:
        @wraps(read)
        def bounded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Read | Otherwise:
            try:
                return read(*args, **kwargs)
            except RecursionError:
                return otherwise

        return bounded

    return bound


class EventStream:
    """Passes chunks on and reads their events; made into a reader of one API by `_read`."""

    def __init__(self, *, takes_usage_out: bool = False) -> None:
        self._splitter = Splitter()
        self._takes_usage_out = takes_usage_out
        self.unread = 0
        """Events whose data was no JSON object."""
        self.error: str | None = None

    @property
    def held(self) -> bytes:
        """What came and is not passed on yet."""
        return self._splitter.rest if self._takes_usage_out else b""

    def feed(self, chunk: bytes) -> bytes:
        """What to pass on now: the chunk itself, unless the usage event that we asked for may be in it."""
        events = self._splitter.feed(chunk)
        if not self._takes_usage_out:
            for event in events:
                self._meet(event)
            return chunk
        return b"".join([event for event in events if not self._meet(event)])

    def end(self) -> bytes:
        """What was held back when the upstream closed the stream."""
        rest = self._splitter.end()
        is_usage = self._meet(rest) if rest.strip() else False
        return rest if self._takes_usage_out and not is_usage else b""

    def _meet(self, raw: bytes) -> bool:
        """Read one event; whether it is the one that only we asked for."""
        if self._splitter.is_lost:
            return False
        data = read_event(raw).data
        if not data or data == b"[DONE]":
            return False
        fields = fields_of(data)
        if fields is None:
            self.unread += 1
            return False
        if fields.get("error") is not None:
            self.error = error_of(fields)
        self._read(fields)
        return self._is_only_usage(fields)

    def _read(self, fields: dict[str, Any]) -> None:
        """One event of the API."""

    def _is_only_usage(self, _fields: dict[str, Any]) -> bool:
        """Whether an event says nothing but the usage."""
        return False


def fields_of(data: bytes) -> dict[str, Any] | None:
    """The object that some JSON is; None where it is none."""
    try:
        value = decode(data)
    except msgspec.DecodeError:
        return None
    return value if isinstance(value, dict) else None


def error_of(fields: dict[str, Any]) -> str | None:
    """What went wrong, in the provider's words; None where nothing did."""
    error = fields.get("error")
    if error is None:
        return None
    inner = record(error)
    said = string(inner.get("message")) or string(inner.get("type")) or string(error) or "an error without a message"
    return said[:_ERROR_CHARS]


def merge_usage(before: dict[str, Any] | None, later: object) -> dict[str, Any] | None:
    """Running totals: a later figure replaces an earlier one, and one that is missing or zero leaves it."""
    if not isinstance(later, dict):
        return before
    merged = dict(before or {})
    for key, value in later.items():
        if isinstance(value, dict) and isinstance(known := merged.get(key), dict):
            merged[key] = {**known, **{name: one for name, one in value.items() if one or name not in known}}
        elif value or key not in merged:
            merged[key] = value
    return merged
