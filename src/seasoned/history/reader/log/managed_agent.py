"""Events of Claude managed agents, plain or wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    NO_USAGE,
    anthropic_usage,
    arguments_of,
    as_list,
    as_object,
    first_of,
    identity,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, noting_unreadable
from seasoned.history.session_reader import SessionFormat, SessionReader, objects
from seasoned.session import Marks, Session, Unreadable

NAME = "claude-managed"
_FORMAT = SessionFormat(NAME, "claude-managed")
_USES = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
_RESULTS = frozenset({"agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result"})
# Prefixes of all event types; others are reported as unreadable.
_DOMAINS = ("agent.", "user.", "session.", "span.", "system.")
# Event types by which a file is recognised.
_EVENT_TYPES = (
    _USES | _RESULTS | {"span.model_request_start", "span.model_request_end", "user.interrupt", "agent.message"}
)


def recognises(sample: Sample) -> bool:
    """Whether the first records are such events."""
    if sample.kind not in ("document", "lines"):
        return False
    return any(_kind(event) in _EVENT_TYPES for value in sample.records for event in _events(value))


def read(path: Path) -> Iterator[Session]:
    """One session of all events."""
    return _FORMAT.sessions(path, _parts(path))


def _events(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a record: itself, what it wraps, or the list it holds."""
    held = first_of(value, "events", "data")
    events = held if isinstance(held, list) else [value]
    return [_unwrap(as_object(event)) for event in events]


def _unwrap(event: dict[str, Any]) -> dict[str, Any]:
    raw = event.get("raw")
    if not isinstance(raw, dict) or "type" not in raw:
        return event
    return {"time": event.get("time"), "name": event.get("tool"), "content": event.get("content"), **raw}


def _kind(event: dict[str, Any]) -> str:
    return string(event.get("type")) or ""


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    reader: _ManagedAgentReader | None = None
    lost: list[Unreadable] = []
    for part in objects(path, lost, "an event"):
        reader = reader or _ManagedAgentReader(path, part.value)
        for event in _events(part.value):
            reader.add(event, part)
    if reader is not None:
        yield reader.finish()
    yield from lost


class _ManagedAgentReader(SessionReader):
    """Reads the events of one session."""

    def __init__(self, path: Path, first: dict[str, Any]) -> None:
        inner = as_object(first.get("raw"))
        session = identity(first_of(first, "session_id", "sessionId")) or identity(inner.get("session_id"))
        super().__init__(_FORMAT.builder(path, session))
        self._usage = NO_USAGE
        self._denied: dict[str, str] = {}
        self._interrupted: set[str] = set()
        self._speaks = False

    def add(self, event: dict[str, Any], part: JsonValue[Any]) -> None:
        """Add one event."""
        with noting_unreadable(self.builder, part.where):
            self._add(event, _kind(event), part)

    def finish(self) -> SessionBuilder:
        """Mark calls that were denied or interrupted and never got a result."""
        for call_id in self.calls.open:
            if call_id in self._denied:
                self.calls.answer(call_id, self._denied[call_id], Marks(declined=True))
        self.calls.amend_open(Marks(interrupted=True), self._interrupted)
        if self._usage != NO_USAGE:
            self.builder.total_usage = self._usage
        return self.builder

    def _add(self, event: dict[str, Any], kind: str, part: JsonValue[Any]) -> None:
        time = time_of(first_of(event, "processed_at", "time", "created_at", "timestamp"))
        if time is not None:
            self.builder.seen_at(time)
        if kind in _USES:
            self._add_use(event, time, part)
        elif kind in _RESULTS:
            self._add_result(event, time, part.place)
        elif kind in ("user.message", "system.message"):
            text = text_of(event.get("content"))
            self.builder.message("user" if kind == "user.message" else "system", text, time=time, place=part.place)
            self._speaks = False
        elif kind == "agent.message":
            self.builder.message("assistant", text_of(event.get("content")), time=time, place=part.place)
            self._speaks = True
            self.calls.turn()
        elif kind == "user.tool_confirmation" and event.get("result") == "deny":
            if (call_id := identity(event.get("tool_use_id"))) is not None:
                self._denied[call_id] = text_of(event.get("deny_message"))
        elif kind == "user.interrupt":
            self._interrupted |= set(self.calls.open)
        elif kind == "agent.thread_context_compacted":
            self.builder.compaction()
        else:
            self._add_about(event, kind, part)

    def _add_about(self, event: dict[str, Any], kind: str, part: JsonValue[Any]) -> None:
        """Events about the session rather than in it."""
        if kind == "span.model_request_end":
            self._usage = self._usage + (anthropic_usage(first_of(event, "model_usage", "usage")) or NO_USAGE)
        elif kind == "span.model_request_start":
            self._speaks = False
        elif kind in ("session.error", "session.status_terminated"):
            self.builder.end_reason = "error" if kind == "session.error" else "terminated"
        elif not kind.startswith(_DOMAINS):
            self.builder.unreadable(
                part.where, f"an event of type {kind[:60]!r}" if kind else "an event without a type"
            )

    def _add_use(self, event: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        name = string(event.get("name")) or string(event.get("tool_name"))
        if name is None:
            self.builder.unreadable(part.where, "a tool call without a tool name")
            return
        if not self._speaks:
            self.builder.message("assistant", time=time, place=part.place)
            self._speaks = True
            self.calls.turn()
        self.calls.make(event.get("id"), name, arguments_of(event.get("input")), time=time, place=part.place)

    def _add_result(self, event: dict[str, Any], time: float | None, place: int) -> None:
        call_id = identity(first_of(event, "tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"))
        failed = event.get("is_error")
        marks = Marks(
            failed=failed if isinstance(failed, bool) else None,
            declined=call_id in self._denied,
            # A call that was running at an interrupt and still succeeded was not interrupted.
            interrupted=call_id in self._interrupted and failed is True,
        )
        self.calls.answer(
            call_id, text_of(as_list(event.get("content")) or event.get("content")), marks, time=time, place=place
        )
        self._speaks = False
