"""Sessions of Qwen Code: lines as Claude Code writes them, with messages in Gemini's form."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.call_pairing import CallPairing
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
from seasoned.history.json_file import JsonValue, entries, finish_sessions, noting_unreadable
from seasoned.history.reader.gemini import marks_of, part_text
from seasoned.session import Session, SessionRef, Usage

NAME = "qwen"
_AGENT = "qwen"
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
    parts = entries(path, partial(_QwenReader, path))
    return finish_sessions(parts, SessionRef(_AGENT, path.stem), format=NAME, path=path)


class _QwenReader:
    """Reads the lines of one session."""

    def __init__(self, path: Path, first: dict[str, Any]) -> None:
        ref = SessionRef(_AGENT, identity(first.get("sessionId")) or path.stem)
        self._builder = SessionBuilder(ref, format=NAME, path=str(path))
        self._calls = CallPairing(self._builder)

    def add(self, part: JsonValue[Any]) -> None:
        """Add one line."""
        line = part.value
        with noting_unreadable(self._builder, part.where):
            time = time_of(line.get("timestamp"))
            if time is not None:
                self._builder.seen_at(time)
            self._builder.cwd = string(line.get("cwd")) or self._builder.cwd
            pieces = [as_object(one) for one in as_list(as_object(line.get("message")).get("parts"))]
            if line["type"] == "user":
                self._builder.message("user", _said(pieces), time=time, place=part.place)
            elif line["type"] == "assistant":
                self._add_answer(line, pieces, time, part)
            elif line["type"] == "tool_result":
                self._add_results(line, pieces, time, part.place)
            elif line["type"] == "system":
                self._add_about(string(line.get("subtype")), as_object(line.get("systemPayload")), time, part.place)
            else:
                self._builder.unreadable(part.where, f"a line whose type is {line['type'][:40]!r}")

    def finish(self) -> SessionBuilder:
        """The session, after its last line."""
        return self._builder

    def _add_answer(
        self, line: dict[str, Any], pieces: list[dict[str, Any]], time: float | None, part: JsonValue[Any]
    ) -> None:
        usage = _usage(as_object(line.get("usageMetadata")))
        model = string(line.get("model"))
        self._builder.thinking(text_of([one for one in pieces if one.get("thought")]))
        self._builder.message("assistant", _said(pieces), time=time, place=part.place, model=model, usage=usage)
        self._calls.turn()
        for call in (as_object(piece["functionCall"]) for piece in pieces if "functionCall" in piece):
            asked = arguments_of(call.get("args"))
            name = string(call.get("name"))
            self._calls.make_named(part.where, call.get("id"), name, asked, time=time, place=part.place)

    def _add_results(self, line: dict[str, Any], pieces: list[dict[str, Any]], time: float | None, place: int) -> None:
        ended = as_object(line.get("toolCallResult"))
        for piece in pieces:
            if "functionResponse" not in piece:
                continue
            response = as_object(piece["functionResponse"])
            text = part_text(piece)
            # The line says how one call ended; a second answer on it would have its own.
            is_same = len(pieces) == 1 or identity(ended.get("callId")) == identity(response.get("id"))
            tool = string(response.get("name"))
            marks = marks_of(ended.get("status") if is_same else None, text, tool)
            self._calls.answer(first_of(response, "id"), text, marks, tool=tool, time=time, place=place)

    def _add_about(self, kind: str | None, payload: dict[str, Any], time: float | None, place: int) -> None:
        """What the program notes about the session; the rest is telemetry."""
        if kind == "chat_compression":
            self._builder.compaction()
            summary = text_of(first_of(payload, "summary", "compressedText"))
            if summary:
                self._builder.message("user", summary, time=time, place=place, summary=True)
        elif kind == "custom_title":
            self._builder.title = string(first_of(payload, "title", "customTitle")) or self._builder.title


def _said(pieces: list[dict[str, Any]]) -> str:
    """What was said, without thoughts and calls."""
    words = [one for one in pieces if not one.get("thought") and not {"functionCall", "functionResponse"} & one.keys()]
    return text_of(words)


def _usage(counted: dict[str, Any]) -> Usage | None:
    prompt, cached = count(counted.get("promptTokenCount")), count(counted.get("cachedContentTokenCount"))
    # Some providers count thoughts as part of the answer, some beside it: the total includes them in both cases.
    total, answer = count(counted.get("totalTokenCount")), count(counted.get("candidatesTokenCount"))
    return known_usage(
        Usage(
            input=remaining(prompt, cached),
            output=remaining(total, prompt) if total is not None and prompt is not None else answer,
            cache_read=cached,
            reasoning=count(counted.get("thoughtsTokenCount")),
        )
    )
