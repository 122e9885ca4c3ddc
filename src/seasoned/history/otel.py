"""OpenTelemetry spans of the GenAI conventions: chats with a model, and executions of tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import Builder
from seasoned.history.calls import Calls
from seasoned.history.chat import ROLES
from seasoned.history.documents import reading, spread, values
from seasoned.history.otel_span import Span, is_span, span_of, spans_of, structured
from seasoned.history.sample import Sample
from seasoned.history.shape import first_of, identity, kind_of, record, sequence, string
from seasoned.history.text import arguments_of, text_of
from seasoned.history.tokens import count, told, without
from seasoned.session import Marks, Role, Session, SessionRef, Unreadable, Usage

NAME = "otel"
_AGENT = "otel"
_CHATS = frozenset({"chat", "text_completion", "generate_content"})
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


def recognises(sample: Sample) -> bool:
    """Whether the first records are batches of spans, or spans about a model or a tool."""
    if sample.kind not in ("lines", "document"):
        return False
    for value in sample.records:
        if "resourceSpans" in value or "resource_spans" in value:
            return True
        if is_span(value) and any(key.startswith("gen_ai.") for key in record(value.get("attributes"))):
            return True
    return False


def read(path: Path) -> Iterator[Session]:
    """A session a conversation, or a trace where conversations have no id."""
    return spread(_parts(path), SessionRef(_AGENT, path.stem), format=NAME, path=path)


def _parts(path: Path) -> Iterator[Builder | Unreadable]:
    lost: list[Unreadable] = []
    spans: list[Span] = []
    for part in values(path):
        if isinstance(part, Unreadable):
            lost.append(part)
            continue
        if not isinstance(part.value, dict):
            lost.append(Unreadable(part.where, f"{kind_of(part.value)} where spans should be"))
            continue
        for value in spans_of(part.value):
            try:
                span = span_of(value)
            except (RecursionError, OverflowError):
                span = None
            if span is None:
                lost.append(Unreadable(part.where, "something that is no span"))
            elif _is_telling(span):
                span.place, span.where = part.place, part.where
                spans.append(span)
    for native, group in _grouped(spans, path.stem).items():
        yield _session(path, native, group)
    yield from lost


def _is_telling(span: Span) -> bool:
    return any(key.startswith("gen_ai.") for key in span.attributes) or any(
        event.name.startswith("gen_ai.") for event in span.events
    )


def _grouped(spans: list[Span], stem: str) -> dict[str, list[Span]]:
    """By conversation; a span that names none belongs to the only conversation of its trace, or to the trace."""
    named: dict[str | None, set[str]] = {}
    for span in spans:
        if (conversation := _conversation(span)) is not None:
            named.setdefault(span.trace, set()).add(conversation)
    groups: dict[str, list[Span]] = {}
    for span in spans:
        around = named.get(span.trace, set())
        only = next(iter(around)) if len(around) == 1 else None
        groups.setdefault(_conversation(span) or only or span.trace or stem, []).append(span)
    return groups


def _conversation(span: Span) -> str | None:
    return identity(first_of(span.attributes, "gen_ai.conversation.id", "session.id"))


def _operation(span: Span) -> str:
    named = string(span.attributes.get("gen_ai.operation.name"))
    if named is not None:
        return named
    return "execute_tool" if "gen_ai.tool.name" in span.attributes else "chat"


def _session(path: Path, native: str, spans: list[Span]) -> Builder:
    builder = Builder(SessionRef(_AGENT, native), format=NAME, path=str(path))
    teller = _Teller(builder)
    # Spans are exported when they end, so that those around others come last.
    spans.sort(key=lambda span: span.start or 0.0)
    has_chats = any(_operation(span) in _CHATS for span in spans)
    for position, span in enumerate(spans):
        with reading(builder, span.where):
            operation = _operation(span)
            if operation == "execute_tool":
                teller.execute(span, position)
            elif operation in _CHATS or not has_chats:
                teller.chat(span, position)
    with reading(builder, "the end"):
        teller.finish()
    return builder


class _Teller:
    """Tells the spans of one session in the order of time."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._calls = Calls(builder)
        self._told: Counter[int] = Counter()
        self._ends: dict[str, Span] = {}
        self._speaks = False

    def chat(self, span: Span, place: int) -> None:
        """One request to a model, which repeats what was said before, and its answer."""
        attributes = span.attributes
        for moment in (span.start, span.end):
            if moment is not None:
                self._builder.seen_at(moment)
        model = string(first_of(attributes, "gen_ai.response.model", "gen_ai.request.model"))
        asked, answered = _messages(span)
        system = structured(attributes.get("gen_ai.system_instructions"))
        if system:
            asked.insert(0, {"role": "system", "parts": system if isinstance(system, list) else [system]})
        before: Counter[int] = Counter()
        for message in asked:
            self._tell(message, span.start, place, before, None, None)
        usage = _usage(attributes)
        if not answered and usage is not None:
            answered = [{"role": "assistant", "parts": []}]
        for index, message in enumerate(answered):
            self._tell(message, span.end, place, before, model, usage if index == 0 else None)
        self._told |= before
        self._builder.model = model or self._builder.model

    def execute(self, span: Span, place: int) -> None:
        """One execution of a tool: what was asked for may be known from the chat before it."""
        attributes = span.attributes
        name = string(attributes.get("gen_ai.tool.name")) or span.name.removeprefix("execute_tool ").strip()
        given = identity(attributes.get("gen_ai.tool.call.id"))
        if not name:
            self._builder.unreadable(span.where, "an execution without the name of a tool")
            return
        if not self._calls.knows(given):
            if not self._speaks:
                self._builder.message("assistant", time=span.start, place=place)
                self._speaks = True
            arguments = arguments_of(structured(attributes.get("gen_ai.tool.call.arguments")))
            given = self._calls.make(given, name, arguments, time=span.start, place=place)
        assert given is not None
        marks = Marks(failed=True) if span.failed else Marks()
        result = attributes.get("gen_ai.tool.call.result")
        if result is None and not span.failed:
            # The content may not have been recorded here; the next chat may show it.
            self._ends[given] = span
            return
        text = _result_text(result) if result is not None else span.message or str(attributes.get("error.type") or "")
        self._calls.answer(given, text, marks, time=span.end, place=place)
        self._speaks = False

    def finish(self) -> None:
        """Executions that ended, and whose result nobody recorded."""
        for call_id in self._calls.open:
            if (span := self._ends.get(call_id)) is not None and span.end is not None:
                self._calls.answer(call_id, "", time=span.end)

    def _tell(
        self,
        message: object,
        time: float | None,
        place: int,
        before: Counter[int],
        model: str | None,
        usage: Usage | None,
    ) -> None:
        fields = record(message)
        role: Role | None = ROLES.get(string(fields.get("role")) or "")
        parts = [record(part) for part in sequence(fields.get("parts"))]
        if role is None:
            self._builder.unreadable(f"span {place}", f"a message whose role is {str(fields.get('role'))[:40]!r}")
            return
        words = "\n".join([text for part in parts if (text := _words(part))])
        calls = [part for part in parts if part.get("type") == "tool_call"]
        results = [part for part in parts if part.get("type") == "tool_call_response"]
        mark = hash((role, words, *[identity(part.get("id")) for part in (*calls, *results)]))
        before[mark] += 1
        if before[mark] <= self._told[mark]:
            return
        if role != "tool" and (words or not results):
            self._builder.message(role, words, time=time, place=place, model=model, usage=usage)
            self._speaks = role == "assistant"
            self._calls.turn()
        for part in calls:
            name = string(part.get("name"))
            if name is None:
                self._builder.unreadable(f"span {place}", "a tool call without the name of a tool")
                continue
            self._calls.make(part.get("id"), name, arguments_of(part.get("arguments")), time=time, place=place)
        for part in results:
            text = _result_text(first_of(part, "response", "result", "content"))
            self._calls.answer(part.get("id"), text, time=time, place=place)
            self._speaks = False


def _words(part: dict[str, Any]) -> str:
    kind = part.get("type")
    return "" if kind in ("tool_call", "tool_call_response", "reasoning", "thinking") else text_of(part)


def _result_text(value: object) -> str:
    """The result as text: an object that is no block of content stays JSON."""
    if isinstance(value, dict) and not {"text", "content", "output"} & value.keys():
        return msgspec.json.encode(value).decode()
    return text_of(value)


def _messages(span: Span) -> tuple[list[Any], list[Any]]:
    """What was asked and answered: from attributes, from events of today, or from those of earlier conventions."""
    places = [span.attributes] + [event.attributes for event in span.events]
    asked = next((p["gen_ai.input.messages"] for p in places if "gen_ai.input.messages" in p), None)
    answered = next((p["gen_ai.output.messages"] for p in places if "gen_ai.output.messages" in p), None)
    if asked is not None or answered is not None:
        return list(sequence(structured(asked))), list(sequence(structured(answered)))
    old = [(_EVENT_ROLES[e.name], e.name, e.attributes) for e in span.events if e.name in _EVENT_ROLES]
    return (
        [_old_message(role, fields) for role, name, fields in old if name != "gen_ai.choice"],
        [_old_message(role, fields) for role, name, fields in old if name == "gen_ai.choice"],
    )


def _old_message(role: str, attributes: dict[str, Any]) -> dict[str, Any]:
    inner = record(structured(attributes.get("message"))) or attributes
    content = first_of(inner, "content", "gen_ai.event.content")
    if role == "tool":
        return {"role": role, "parts": [{"type": "tool_call_response", "id": inner.get("id"), "response": content}]}
    parts: list[dict[str, Any]] = [{"type": "text", "content": text_of(content)}] if content is not None else []
    for call in map(record, sequence(structured(inner.get("tool_calls")))):
        function = record(call.get("function")) or call
        parts.append(
            {
                "type": "tool_call",
                "id": call.get("id"),
                "name": function.get("name"),
                "arguments": function.get("arguments"),
            }
        )
    return {"role": role, "parts": parts}


def _usage(attributes: dict[str, Any]) -> Usage | None:
    read = count(attributes.get("gen_ai.usage.cache_read.input_tokens"))
    written = count(attributes.get("gen_ai.usage.cache_creation.input_tokens"))
    sent = count(first_of(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"))
    return told(
        Usage(
            # By the conventions the input includes what came from the cache.
            input=without(sent, read, written),
            output=count(first_of(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")),
            cache_read=read,
            cache_write=written,
            reasoning=count(attributes.get("gen_ai.usage.reasoning.output_tokens")),
        )
    )
