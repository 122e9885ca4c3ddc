"""Sessions of Qwen Code: lines as Claude Code writes them, with messages in Gemini's form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import JsonValue
from seasoned.history.reader.gemini import marks_of, part_text
from seasoned.history.session_reader import EntryReader, SessionFormat
from seasoned.session import Session, Usage

NAME = "qwen"
_FORMAT = SessionFormat(NAME, "qwen")
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})


def recognises(sample: Sample) -> bool:
    """Whether it has lines of a session whose messages have parts."""
    return sample.may_be_lines and any(
        "sessionId" in value
        and string(value.get("type")) in _TYPES
        and ("systemPayload" in value or "parts" in as_object(value.get("message")))
        for value in sample.records
    )


def read(path: Path) -> Iterator[Session]:
    """One session of all lines."""
    return _FORMAT.read_entries(path, _QwenReader, lambda first: identity(first.get("sessionId")))


class _QwenReader(EntryReader):
    """Reads the lines of one session."""

    def add_entry(self, kind: str, entry: dict[str, Any], time: float | None, part: JsonValue[Any]) -> None:
        """Add one line of this type."""
        self.builder.cwd = string(entry.get("cwd")) or self.builder.cwd
        pieces = [as_object(one) for one in as_list(as_object(entry.get("message")).get("parts"))]
        if kind == "user":
            self.builder.message("user", _text(pieces), time=time, place=part.place)
        elif kind == "assistant":
            self._add_answer(entry, pieces, time, part)
        elif kind == "tool_result":
            self._add_results(entry, pieces, time, part.place)
        elif kind == "system":
            self._add_about(string(entry.get("subtype")), as_object(entry.get("systemPayload")), time, part.place)
        else:
            self.builder.unreadable(part.where, f"a line whose type is {kind[:40]!r}")

    def _add_answer(
        self, line: dict[str, Any], pieces: list[dict[str, Any]], time: float | None, part: JsonValue[Any]
    ) -> None:
        usage = _usage(as_object(line.get("usageMetadata")))
        model = string(line.get("model"))
        self.builder.thinking(text_of([one for one in pieces if one.get("thought")]))
        self.builder.message("assistant", _text(pieces), time=time, place=part.place, model=model, usage=usage)
        self.calls.turn()
        for call in (as_object(piece["functionCall"]) for piece in pieces if "functionCall" in piece):
            asked = arguments_of(call.get("args"))
            name = string(call.get("name"))
            self.calls.make_named(part.where, call.get("id"), name, asked, time=time, place=part.place)

    def _add_results(self, line: dict[str, Any], pieces: list[dict[str, Any]], time: float | None, place: int) -> None:
        ended = as_object(line.get("toolCallResult"))
        for piece in pieces:
            if "functionResponse" not in piece:
                continue
            response = as_object(piece["functionResponse"])
            text = part_text(piece)
            # The line has the status of one call only.
            is_same = len(pieces) == 1 or identity(ended.get("callId")) == identity(response.get("id"))
            tool = string(response.get("name"))
            marks = marks_of(ended.get("status") if is_same else None, text, tool)
            self.calls.answer(first_of(response, "id"), text, marks, tool=tool, time=time, place=place)

    def _add_about(self, kind: str | None, payload: dict[str, Any], time: float | None, place: int) -> None:
        """What the program notes about the session; the rest is telemetry."""
        if kind == "chat_compression":
            self.builder.compaction()
            summary = text_of(first_of(payload, "summary", "compressedText"))
            if summary:
                self.builder.message("user", summary, time=time, place=place, summary=True)
        elif kind == "custom_title":
            self.builder.title = string(first_of(payload, "title", "customTitle")) or self.builder.title


def _text(pieces: list[dict[str, Any]]) -> str:
    """The text of a message, without thoughts and calls."""
    words = [one for one in pieces if not one.get("thought") and not {"functionCall", "functionResponse"} & one.keys()]
    return text_of(words)


def _usage(counted: dict[str, Any]) -> Usage | None:
    prompt, cached = count(counted.get("promptTokenCount")), count(counted.get("cachedContentTokenCount"))
    # Providers count thoughts within the answer or separately; the total always includes them.
    total, answer = count(counted.get("totalTokenCount")), count(counted.get("candidatesTokenCount"))
    return known_usage(
        Usage(
            input=remaining(prompt, cached),
            output=remaining(total, prompt) if total is not None and prompt is not None else answer,
            cache_read=cached,
            reasoning=count(counted.get("thoughtsTokenCount")),
        )
    )
