"""Event files of Copilot CLI: what was said, and every tool's start and end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
from seasoned.history.coerce import (
    NO_USAGE,
    arguments_of,
    as_list,
    as_object,
    count,
    first_of,
    identity,
    kind_of,
    remaining,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue, entries, finish_sessions, noting_unreadable
from seasoned.session import Marks, Session, SessionRef, Usage

NAME = "copilot"
_AGENT = "copilot"
# Event types by which a file is recognised.
_TELLING = frozenset({"session.start", "user.message", "assistant.message", "tool.execution_start"})
_REFUSED = frozenset({"rejected", "denied", "user_rejected", "user_denied", "permission_denied"})
# A refusal without a code is recognised by its words.
_SAID_NO = re.compile(r"\b(?:user|permission)\b.{0,40}\b(?:rejected|denied|declined)\b", re.IGNORECASE)


def recognises(sample: Sample) -> bool:
    """Whether the first records are Copilot's events: a known type and data."""
    if sample.kind not in ("lines", "document"):
        return False
    return any(string(v.get("type")) in _TELLING and isinstance(v.get("data"), dict) for v in sample.records)


def read(path: Path) -> Iterator[Session]:
    """One session of all events."""
    parts = entries(path, partial(_start, path))
    return finish_sessions(parts, SessionRef(_AGENT, _native_id(path)), format=NAME, path=path)


def _native_id(path: Path) -> str:
    """Each session has its own folder, and the file in it always has the same name."""
    return path.parent.name if path.stem == "events" and path.parent.name else path.stem


def _start(path: Path, first: dict[str, Any]) -> _CopilotReader:
    started = as_object(first.get("data")) if first["type"] == "session.start" else {}
    return _CopilotReader(path, identity(started.get("sessionId")) or _native_id(path))


class _CopilotReader:
    """Reads the events of one session."""

    def __init__(self, path: Path, native_id: str) -> None:
        self._builder = SessionBuilder(SessionRef(_AGENT, native_id), format=NAME, path=str(path))
        self._calls = CallPairing(self._builder)
        self._usage = NO_USAGE
        self._interrupted: set[str] = set()
        self._speaks = False

    def add(self, part: JsonValue[Any]) -> None:
        """Add one event."""
        event = part.value
        with noting_unreadable(self._builder, part.where):
            time = time_of(event.get("timestamp"))
            if time is not None:
                self._builder.seen_at(time)
            self._add(event["type"], as_object(event.get("data")), time, part)

    def finish(self) -> SessionBuilder:
        """Mark the calls that were running when the user stopped the agent, and add the usage."""
        self._calls.amend_open(Marks(interrupted=True), self._interrupted)
        if self._usage != NO_USAGE:
            self._builder.total_usage = self._usage
        return self._builder

    def _add(self, kind: str, data: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        if kind == "user.message":
            self._builder.message("user", text_of(data.get("content")), time=time, place=part.place)
            self._speaks = False
        elif kind == "system.message":
            self._builder.message("system", text_of(data.get("content")), time=time, place=part.place)
            self._speaks = False
        elif kind == "assistant.message":
            self._add_message(data, time, part)
        elif kind == "tool.execution_start":
            self._add_call(data, "toolName", time, part, starts=True)
        elif kind == "tool.execution_complete":
            self._add_end(data, time, part.place)
        elif kind == "abort":
            # Only marked at the end: a call may still finish after the user pressed stop.
            self._interrupted |= set(self._calls.open)
        elif kind in ("session.compaction_complete", "session.truncation"):
            self._builder.compaction()
        else:
            self._add_about(kind, data)

    def _add_message(self, data: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        model = string(data.get("model"))
        self._builder.message("assistant", text_of(data.get("content")), time=time, place=part.place, model=model)
        self._speaks = True
        self._calls.turn()
        requests = data.get("toolRequests")
        if requests is not None and not isinstance(requests, list):
            self._builder.unreadable(part.where, f"{kind_of(requests)} where a list of tool requests should be")
        for request in map(as_object, as_list(requests)):
            self._add_call(request, "name", time, part)

    def _add_call(
        self, call: dict[str, Any], key: str, time: float | None, part: JsonValue[Any], *, starts: bool = False
    ) -> None:
        given, name = call.get("toolCallId"), string(call.get(key))
        if name is None:
            self._builder.unreadable(part.where, "a tool call without a tool name")
            return
        asked = arguments_of(call.get("arguments"))
        # A call is requested by a message and then started: the same call, by its id or by its arguments.
        if self._calls.knows(given) or (starts and identity(given) is None and self._calls.waits(name, asked)):
            return
        if not self._speaks:
            self._builder.message("assistant", time=time, place=part.place)
            self._speaks = True
        self._calls.make(given, name, asked, time=time, place=part.place)

    def _add_end(self, data: dict[str, Any], time: float | None, place: int) -> None:
        error = data.get("error")
        fields = as_object(error)
        result = data.get("result")
        text = text_of(
            first_of(as_object(result), "content", "detailedContent") if isinstance(result, dict) else result
        )
        if error is not None and not text:
            text = text_of(first_of(fields, "message", "code") if fields else error)
        success = data.get("success")
        call_id = data.get("toolCallId")
        refused = success is False and _is_refusal(fields, text)
        marks = Marks(
            failed=not success if isinstance(success, bool) else None,
            declined=refused,
            interrupted=success is False and not refused and identity(call_id) in self._interrupted,
        )
        self._calls.answer(call_id, text, marks, tool=string(data.get("toolName")), time=time, place=place)
        self._speaks = False

    def _add_about(self, kind: str, data: dict[str, Any]) -> None:
        """Events about the session; others are ignored."""
        if kind in ("session.start", "session.resume"):
            context = as_object(data.get("context"))
            self._builder.cwd = string(context.get("cwd")) or self._builder.cwd
            host, repository = string(context.get("repositoryHost")), string(context.get("repository"))
            if host and repository:
                self._builder.remote = f"https://{host}/{repository}"
            self._builder.model = string(data.get("selectedModel")) or self._builder.model
        elif kind == "session.model_change":
            self._builder.model = string(data.get("newModel")) or self._builder.model
        elif kind == "session.error":
            self._builder.end_reason = "error"
        elif kind == "assistant.usage":
            cached, written = count(data.get("cacheReadTokens")), count(data.get("cacheWriteTokens"))
            self._usage = self._usage + Usage(
                input=remaining(count(data.get("inputTokens")), cached, written),
                output=count(data.get("outputTokens")),
                cache_read=cached,
                cache_write=written,
            )


def _is_refusal(error: dict[str, Any], text: str) -> bool:
    return string(error.get("code")) in _REFUSED or _SAID_NO.match(text.removeprefix("The ")) is not None
