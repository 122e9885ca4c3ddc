"""Spans of OpenTelemetry, from OTLP JSON or as SDKs print them, in one shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from seasoned.history.lines import decode
from seasoned.history.shape import first_of, identity, record, sequence, string
from seasoned.history.text import time_of

_ERROR = frozenset({"2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR"})


class Event(msgspec.Struct):
    """Something that happened within a span."""

    name: str
    attributes: dict[str, Any]


class Span(msgspec.Struct):
    """What of a span matters here."""

    trace: str | None
    name: str
    attributes: dict[str, Any]
    events: list[Event]
    start: float | None
    end: float | None
    failed: bool
    message: str
    """What its status says, where it failed."""
    place: int = 0
    where: str = ""


def is_span(value: object) -> bool:
    """Whether a record looks like one span, outside of any batch."""
    fields = record(value)
    return "attributes" in fields and (
        {"traceId", "trace_id"} & fields.keys() != set() or "trace_id" in record(fields.get("context"))
    )


def spans_of(value: dict[str, Any]) -> Iterator[object]:
    """The spans of a record: a batch of OTLP, a list under a key, or the record itself."""
    batches = first_of(value, "resourceSpans", "resource_spans")
    if batches is None:
        held = first_of(value, "spans", "data") if not is_span(value) else None
        yield from held if isinstance(held, list) else [value]
        return
    for batch in map(record, sequence(batches)):
        scopes = first_of(batch, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in map(record, sequence(scopes)):
            yield from sequence(scope.get("spans"))


def span_of(value: object) -> Span | None:
    """One span; None where it is none."""
    fields = record(value)
    if not ({"attributes", "name"} & fields.keys()):
        return None
    attributes = attributes_of(fields.get("attributes"))
    status = fields.get("status")
    code = first_of(record(status), "code", "status_code") if isinstance(status, dict) else status
    failed = str(first_of(fields, "status_code") if code is None else code) in _ERROR or bool(
        string(attributes.get("error.type"))
    )
    return Span(
        trace=identity(first_of(fields, "traceId", "trace_id"))
        or identity(record(fields.get("context")).get("trace_id")),
        name=string(fields.get("name")) or "",
        attributes=attributes,
        events=[
            Event(string(event.get("name")) or "", attributes_of(event.get("attributes")))
            for event in map(record, sequence(fields.get("events")))
        ],
        start=time_of(first_of(fields, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        end=time_of(first_of(fields, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        failed=failed,
        message=string(first_of(record(status), "message", "description")) or "",
    )


def attributes_of(value: object) -> dict[str, Any]:
    """Attributes as an object, from OTLP's list of keys and values too."""
    if isinstance(value, dict):
        return value
    return {key: _plain(pair.get("value")) for pair in map(record, sequence(value)) if (key := string(pair.get("key")))}


def _plain(value: object) -> Any:
    fields = record(value)
    for key in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        if key in fields:
            return fields[key]
    if "intValue" in fields:
        written = fields["intValue"]
        return (
            int(written)
            if isinstance(written, str) and written.lstrip("-").isdecimal() and len(written) < 20
            else written
        )
    if "arrayValue" in fields:
        return [_plain(item) for item in sequence(record(fields["arrayValue"]).get("values"))]
    if "kvlistValue" in fields:
        return attributes_of(record(fields["kvlistValue"]).get("values"))
    return None if isinstance(value, dict) else value


def structured(value: object) -> Any:
    """A value that may have been written as JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return decode(value.encode("utf-8", "replace"))
        except msgspec.DecodeError:
            return value
    return value
