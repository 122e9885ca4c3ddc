"""Event files of Copilot CLI: messages, and the start and end of every tool call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
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
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue
from seasoned.history.session_reader import EntryReader, SessionFormat
from seasoned.session import Marks, Session, Usage

NAME = "copilot"
_FORMAT = SessionFormat(NAME, "copilot")
# Event types by which a file is recognised.
_EVENT_TYPES = frozenset({"session.start", "user.message", "assistant.message", "tool.execution_start"})
_REFUSED = frozenset({"rejected", "denied", "user_rejected", "user_denied", "permission_denied"})
# A refusal without a code is recognised by its words.
_DECLINED = re.compile(r"\b(?:user|permission)\b.{0,40}\b(?:rejected|denied|declined)\b", re.IGNORECASE)


def recognises(sample: Sample) -> bool:
    """Whether the first records are Copilot's events: a known type and data."""
    if sample.kind not in ("lines", "document"):
        return False
    return any(string(v.get("type")) in _EVENT_TYPES and isinstance(v.get("data"), dict) for v in sample.records)


def read(path: Path) -> Iterator[Session]:
    """One session of all events."""
    # Each session has its own folder, in which the file is always called `events.jsonl`.
    folder = path.parent.name if path.stem == "events" else None
    return _FORMAT.read_entries(path, _CopilotReader, _session_id, folder)


def _session_id(first: dict[str, Any]) -> str | None:
    return identity(as_object(first.get("data")).get("sessionId")) if first["type"] == "session.start" else None


class _CopilotReader(EntryReader):
    """Reads the events of one session."""

    def __init__(self, builder: SessionBuilder) -> None:
        super().__init__(builder)
        self._usage = NO_USAGE
        self._interrupted: set[str] = set()
        self._speaks = False

    def finish(self) -> SessionBuilder:
        """Mark the calls that were running when the user stopped the agent, and add the usage."""
        self.calls.amend_open(Marks(interrupted=True), self._interrupted)
        if self._usage != NO_USAGE:
            self.builder.total_usage = self._usage
        return self.builder

    def add_entry(self, kind: str, entry: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        """Add one event of this type."""
        data = as_object(entry.get("data"))
        if kind == "user.message":
            self.builder.message("user", text_of(data.get("content")), time=time, place=part.place)
            self._speaks = False
        elif kind == "system.message":
            self.builder.message("system", text_of(data.get("content")), time=time, place=part.place)
            self._speaks = False
        elif kind == "assistant.message":
            self._add_message(data, time, part)
        elif kind == "tool.execution_start":
            self._add_call(data, "toolName", time, part, starts=True)
        elif kind == "tool.execution_complete":
            self._add_end(data, time, part.place)
        elif kind == "abort":
            # Only marked at the end: a call may still finish after the user pressed stop.
            self._interrupted |= set(self.calls.open)
        elif kind in ("session.compaction_complete", "session.truncation"):
            self.builder.compaction()
        else:
            self._add_about(kind, data)

    def _add_message(self, data: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        model = string(data.get("model"))
        self.builder.message("assistant", text_of(data.get("content")), time=time, place=part.place, model=model)
        self._speaks = True
        self.calls.turn()
        requests = data.get("toolRequests")
        if requests is not None and not isinstance(requests, list):
            self.builder.unreadable(part.where, f"{kind_of(requests)} where a list of tool requests should be")
        for request in map(as_object, as_list(requests)):
            self._add_call(request, "name", time, part)

    def _add_call(
        self, call: dict[str, Any], key: str, time: float | None, part: JsonValue[Any], *, starts: bool = False
    ) -> None:
        given, name = call.get("toolCallId"), string(call.get(key))
        if name is None:
            self.builder.unreadable(part.where, "a tool call without a tool name")
            return
        asked = arguments_of(call.get("arguments"))
        # A call is requested by a message and then started: the same call, by its id or by its arguments.
        if self.calls.knows(given) or (starts and identity(given) is None and self.calls.waits(name, asked)):
            return
        if not self._speaks:
            self.builder.message("assistant", time=time, place=part.place)
            self._speaks = True
        self.calls.make(given, name, asked, time=time, place=part.place)

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
        self.calls.answer(call_id, text, marks, tool=string(data.get("toolName")), time=time, place=place)
        self._speaks = False

    def _add_about(self, kind: str, data: dict[str, Any]) -> None:
        """Events about the session; others are ignored."""
        if kind in ("session.start", "session.resume"):
            context = as_object(data.get("context"))
            self.builder.cwd = string(context.get("cwd")) or self.builder.cwd
            host, repository = string(context.get("repositoryHost")), string(context.get("repository"))
            if host and repository:
                self.builder.remote = f"https://{host}/{repository}"
            self.builder.model = string(data.get("selectedModel")) or self.builder.model
        elif kind == "session.model_change":
            self.builder.model = string(data.get("newModel")) or self.builder.model
        elif kind == "session.error":
            self.builder.end_reason = "error"
        elif kind == "assistant.usage":
            cached, written = count(data.get("cacheReadTokens")), count(data.get("cacheWriteTokens"))
            self._usage = self._usage + Usage(
                input=remaining(count(data.get("inputTokens")), cached, written),
                output=count(data.get("outputTokens")),
                cache_read=cached,
                cache_write=written,
            )


def _is_refusal(error: dict[str, Any], text: str) -> bool:
    return string(error.get("code")) in _REFUSED or _DECLINED.match(text.removeprefix("The ")) is not None
