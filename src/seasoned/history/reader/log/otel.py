"""OpenTelemetry spans of the GenAI conventions: chats with a model, and executions of tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.chat import ROLES
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    first_of,
    identity,
    known_usage,
    remaining,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import decode, noting_unreadable
from seasoned.history.session_reader import SessionFormat, SessionReader, objects
from seasoned.session import Marks, Role, Session, Unreadable, Usage

NAME = "otel"
_FORMAT = SessionFormat(NAME, "otel")
# The error status of a span, as different exporters write it.
_ERROR = frozenset({"2", "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR"})


class _SpanEvent(msgspec.Struct):
    """An event within a span."""

    name: str
    attributes: dict[str, Any]


class _OtelSpan(msgspec.Struct):
    """The parts of a span that are used here."""

    trace: str | None
    name: str
    attributes: dict[str, Any]
    events: list[_SpanEvent]
    start: float | None
    end: float | None
    failed: bool
    message: str  # what its status says, where it failed
    place: int = 0
    where: str = ""
    service: str | None = None


def is_span(value: object) -> bool:
    """Whether a record looks like one span, outside of any batch."""
    fields = as_object(value)
    return "attributes" in fields and (
        {"traceId", "trace_id"} & fields.keys() != set() or "trace_id" in as_object(fields.get("context"))
    )


def spans_of(value: dict[str, Any]) -> Iterator[tuple[object, str | None]]:
    """The spans of a record, each with its service: a batch of OTLP, a list under a key, or the record itself."""
    batches = first_of(value, "resourceSpans", "resource_spans")
    if batches is None:
        held = first_of(value, "spans", "data") if not is_span(value) else None
        for span in held if isinstance(held, list) else [value]:
            yield span, _service(as_object(span)) or _service(value)
        return
    for batch in map(as_object, as_list(batches)):
        scopes = first_of(batch, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in map(as_object, as_list(scopes)):
            for span in as_list(scope.get("spans")):
                yield span, _service(batch)


def _service(fields: dict[str, Any]) -> str | None:
    """The service that sent a batch or span; SDKs call it `unknown_service` until someone names it."""
    name = string(attributes_of(as_object(fields.get("resource")).get("attributes")).get("service.name"))
    return None if name is None or name.startswith("unknown_service") else name


def span_of(value: object) -> _OtelSpan | None:
    """One span; None if it is not one."""
    fields = as_object(value)
    if not ({"attributes", "name"} & fields.keys()):
        return None
    attributes = attributes_of(fields.get("attributes"))
    status = fields.get("status")
    code = first_of(as_object(status), "code", "status_code") if isinstance(status, dict) else status
    failed = str(first_of(fields, "status_code") if code is None else code) in _ERROR or bool(
        string(attributes.get("error.type"))
    )
    return _OtelSpan(
        trace=identity(first_of(fields, "traceId", "trace_id"))
        or identity(as_object(fields.get("context")).get("trace_id")),
        name=string(fields.get("name")) or "",
        attributes=attributes,
        events=[
            _SpanEvent(string(event.get("name")) or "", attributes_of(event.get("attributes")))
            for event in map(as_object, as_list(fields.get("events")))
        ],
        start=time_of(first_of(fields, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        end=time_of(first_of(fields, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        failed=failed,
        message=string(first_of(as_object(status), "message", "description")) or "",
    )


def attributes_of(value: object) -> dict[str, Any]:
    """Attributes as an object, also from OTLP's list of keys and values."""
    if isinstance(value, dict):
        return value
    return {
        key: _plain(pair.get("value")) for pair in map(as_object, as_list(value)) if (key := string(pair.get("key")))
    }


def _plain(value: object) -> Any:
    fields = as_object(value)
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
        return [_plain(item) for item in as_list(as_object(fields["arrayValue"]).get("values"))]
    if "kvlistValue" in fields:
        return attributes_of(as_object(fields["kvlistValue"]).get("values"))
    return None if isinstance(value, dict) else value


def structured(value: object) -> Any:
    """A value, decoded if it is a text of JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return decode(value.encode("utf-8", "replace"))
        except msgspec.DecodeError:
            return value
    return value


# Operations that are requests to a model.
_CHATS = frozenset({"chat", "text_completion", "generate_content"})


def recognises(sample: Sample) -> bool:
    """Whether the first records are batches of spans, or spans about a model or a tool."""
    if sample.kind not in ("lines", "document"):
        return False
    for value in sample.records:
        if "resourceSpans" in value or "resource_spans" in value:
            return True
        if is_span(value) and any(key.startswith("gen_ai.") for key in as_object(value.get("attributes"))):
            return True
    return False


def read(path: Path) -> Iterator[Session]:
    """One session for each conversation, or for each trace if conversations have no id."""
    return _FORMAT.sessions(path, _parts(path))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    lost: list[Unreadable] = []
    spans: list[_OtelSpan] = []
    for part in objects(path, lost, "spans"):
        for value, service in spans_of(part.value):
            try:
                span = span_of(value)
            except (RecursionError, OverflowError):
                span = None
            if span is None:
                lost.append(Unreadable(part.where, "something that is not a span"))
            elif _is_about_model(span):
                span.place, span.where, span.service = part.place, part.where, service
                spans.append(span)
    for native, group in _grouped(spans, path.stem).items():
        yield _session(path, native, group)
    yield from lost


def _is_about_model(span: _OtelSpan) -> bool:
    return any(key.startswith("gen_ai.") for key in span.attributes) or any(
        event.name.startswith("gen_ai.") for event in span.events
    )


def _grouped(spans: list[_OtelSpan], stem: str) -> dict[str, list[_OtelSpan]]:
    """Spans by conversation; a span without one belongs to the only conversation of its trace, or to the trace."""
    named: dict[str | None, set[str]] = {}
    for span in spans:
        if (conversation := _conversation(span)) is not None:
            named.setdefault(span.trace, set()).add(conversation)
    groups: dict[str, list[_OtelSpan]] = {}
    for span in spans:
        around = named.get(span.trace, set())
        only = next(iter(around)) if len(around) == 1 else None
        groups.setdefault(_conversation(span) or only or span.trace or stem, []).append(span)
    return groups


def _conversation(span: _OtelSpan) -> str | None:
    return identity(first_of(span.attributes, "gen_ai.conversation.id", "session.id"))


def _operation(span: _OtelSpan) -> str:
    named = string(span.attributes.get("gen_ai.operation.name"))
    if named is not None:
        return named
    return "execute_tool" if "gen_ai.tool.name" in span.attributes else "chat"


def _session(path: Path, native: str, spans: list[_OtelSpan]) -> SessionBuilder:
    builder = _FORMAT.builder(path, native)
    builder.application = next((span.service for span in spans if span.service), None)
    reader = _SpanReader(builder)
    # Spans are exported when they end, so the outer ones come last.
    spans.sort(key=lambda span: span.start or 0.0)
    has_chats = any(_operation(span) in _CHATS for span in spans)
    for position, span in enumerate(spans):
        with noting_unreadable(builder, span.where):
            operation = _operation(span)
            if operation == "execute_tool":
                reader.execute(span, position)
            elif operation in _CHATS or not has_chats:
                reader.chat(span, position)
    with noting_unreadable(builder, "the end"):
        reader.finish()
    return builder


class _SpanReader(SessionReader):
    """Reads the spans of one session in order of time."""

    def __init__(self, builder: SessionBuilder) -> None:
        super().__init__(builder)
        self._seen: Counter[int] = Counter()
        self._ends: dict[str, _OtelSpan] = {}
        self._speaks = False

    def chat(self, span: _OtelSpan, place: int) -> None:
        """Add one request to a model, which repeats the earlier messages, and its answer."""
        attributes = span.attributes
        for moment in (span.start, span.end):
            if moment is not None:
                self.builder.seen_at(moment)
        model = string(first_of(attributes, "gen_ai.response.model", "gen_ai.request.model"))
        asked, answered = _messages(span)
        system = structured(attributes.get("gen_ai.system_instructions"))
        if system:
            asked.insert(0, {"role": "system", "parts": system if isinstance(system, list) else [system]})
        before: Counter[int] = Counter()
        for message in asked:
            self._add(message, span.start, place, before, None, None)
        usage = _usage(attributes)
        if not answered and usage is not None:
            answered = [{"role": "assistant", "parts": []}]
        for index, message in enumerate(answered):
            self._add(message, span.end, place, before, model, usage if index == 0 else None)
        self._seen |= before
        self.builder.model = model or self.builder.model

    def execute(self, span: _OtelSpan, place: int) -> None:
        """Add one execution of a tool; the call may be known from the chat before it."""
        attributes = span.attributes
        name = string(attributes.get("gen_ai.tool.name")) or span.name.removeprefix("execute_tool ").strip()
        given = identity(attributes.get("gen_ai.tool.call.id"))
        if not name:
            self.builder.unreadable(span.where, "an execution without a tool name")
            return
        # Exporters may leave the messages out, and then the execution is all there is of a call.
        if not self.calls.knows(given):
            if not self._speaks:
                self.builder.message("assistant", time=span.start, place=place)
                self._speaks = True
            arguments = arguments_of(structured(attributes.get("gen_ai.tool.call.arguments")))
            given = self.calls.make(given, name, arguments, time=span.start, place=place)
        assert given is not None
        marks = Marks(failed=True) if span.failed else Marks()
        result = attributes.get("gen_ai.tool.call.result")
        if result is None and not span.failed:
            # The result was not recorded here; the next chat may show it.
            self._ends[given] = span
            return
        text = _result_text(result) if result is not None else span.message or str(attributes.get("error.type") or "")
        self.calls.answer(given, text, marks, time=span.end, place=place)
        self._speaks = False

    def finish(self) -> None:
        """Close executions that ended without a recorded result."""
        for call_id in self.calls.open:
            if (span := self._ends.get(call_id)) is not None and span.end is not None:
                self.calls.answer(call_id, "", time=span.end)

    def _add(
        self,
        message: object,
        time: float | None,
        place: int,
        before: Counter[int],
        model: str | None,
        usage: Usage | None,
    ) -> None:
        fields = as_object(message)
        role: Role | None = ROLES.get(string(fields.get("role")) or "")
        parts = [as_object(part) for part in as_list(fields.get("parts"))]
        if role is None:
            self.builder.unreadable(f"span {place}", f"a message whose role is {str(fields.get('role'))[:40]!r}")
            return
        words = "\n".join([text for part in parts if (text := _words(part))])
        calls = [part for part in parts if part.get("type") == "tool_call"]
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        mark = hash((role, words, *[identity(part.get("id")) for part in (*calls, *results)]))
        before[mark] += 1
        if before[mark] <= self._seen[mark]:
            return
        if role != "tool" and (words or not results):
            self.builder.message(role, words, time=time, place=place, model=model, usage=usage)
            self._speaks = role == "assistant"
            self.calls.turn()
        for part in calls:
            name, arguments = string(part.get("name")), arguments_of(part.get("arguments"))
            self.calls.make_named(f"span {place}", part.get("id"), name, arguments, time=time, place=place)
        for part in results:
            text = _result_text(first_of(part, "response", "result", "content"))
            self.calls.answer(part.get("id"), text, time=time, place=place)
            self._speaks = False


def _words(part: dict[str, Any]) -> str:
    kind = part.get("type")
    return "" if kind in ("tool_call", "tool_call_response", "reasoning", "thinking") else text_of(part)


def _result_text(value: object) -> str:
    """The result as text; an object that is not a content block stays JSON."""
    if isinstance(value, dict) and not {"text", "content", "output"} & value.keys():
        return msgspec.json.encode(value).decode()
    return text_of(value)


def _messages(span: _OtelSpan) -> tuple[list[Any], list[Any]]:
    """The messages sent and received: from attributes, or from events."""
    places = [span.attributes] + [event.attributes for event in span.events]
    asked = next((p["gen_ai.input.messages"] for p in places if "gen_ai.input.messages" in p), None)
    answered = next((p["gen_ai.output.messages"] for p in places if "gen_ai.output.messages" in p), None)
    return list(as_list(structured(asked))), list(as_list(structured(answered)))


def _usage(attributes: dict[str, Any]) -> Usage | None:
    read = count(attributes.get("gen_ai.usage.cache_read.input_tokens"))
    written = count(attributes.get("gen_ai.usage.cache_creation.input_tokens"))
    sent = count(first_of(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"))
    return known_usage(
        Usage(
            # By convention the input includes cached tokens.
            input=remaining(sent, read, written),
            output=count(first_of(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")),
            cache_read=read,
            cache_write=written,
            reasoning=count(attributes.get("gen_ai.usage.reasoning.output_tokens")),
        )
    )
