"""Sessions of Gemini CLI: one document, or JSON Lines where a message may be repeated with additions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    first_of,
    identity,
    kind_of,
    known_usage,
    remaining,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import documents, field, items, noting_unreadable
from seasoned.history.session_reader import SessionFormat, SessionReader, add_messages, note_times
from seasoned.session import Marks, Session, Unreadable, Usage

NAME = "gemini"
_FORMAT = SessionFormat(NAME, "gemini")
# Messages of the program to the user; the model never sees them.
_NOTICES = frozenset({"info", "error", "warning"})
# `cancelled` covers refusals and interruptions; the text tells which.
_DECLINED = re.compile(r"did not allow|denied|declined|rejected", re.IGNORECASE)
_SHELL = "run_shell_command"
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,10})\s*$", re.MULTILINE)


def recognises(sample: Sample) -> bool:
    """Whether it is a session document, or opens with the line that describes one."""
    if sample.kind not in ("document", "lines"):
        return False
    return any("sessionId" in value and ("projectHash" in value or _is_opening(value)) for value in sample.records)


def _is_opening(value: dict[str, Any]) -> bool:
    return value.get("type") == "session_metadata" or ("startTime" in value and "messages" in value)


def read(path: Path) -> Iterator[Session]:
    """One session for each document, or one of all lines."""
    return _FORMAT.sessions(path, _parts(path))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    lines: list[dict[str, Any]] = []
    lost: list[Unreadable] = []
    opening: dict[str, Any] = {}
    for part in documents(path):
        if isinstance(part, Unreadable):
            lost.append(part)
            continue
        if "messages" in part.value:
            yield _session(path, part.value)
            continue
        value = {key: field(part.value, key) for key in part.value}
        if "sessionId" in value:
            opening |= value
        elif "$set" in value:
            opening |= as_object(value["$set"])
        else:
            lines.append({**value, "place": part.place, "where": part.where})
    if lines or opening:
        yield _from_lines(path, opening, lines)
    yield from lost


def _session(path: Path, document: dict[str, msgspec.Raw]) -> SessionBuilder:
    head = {key: field(document, key) for key in document if key != "messages"}
    builder = _begin(path, head)
    add_messages(builder, items(document["messages"]), _GeminiReader(builder).add)
    return builder


def _from_lines(path: Path, opening: dict[str, Any], lines: list[dict[str, Any]]) -> SessionBuilder:
    """A line with the id of an earlier one is the same message with additions."""
    builder = _begin(path, opening)
    messages: dict[str, dict[str, Any]] = {}
    for position, line in enumerate(lines):
        # Calls that were rewound did run, so they stay.
        if "$rewindTo" in line:
            continue
        key = identity(line.get("id")) or f"line {position}"
        known = messages.setdefault(key, {})
        kind = known.get("type") if line.get("type") == "message_update" else line.get("type")
        messages[key] = {**known, **line, "type": kind, "place": known.get("place", line["place"])}
    reader = _GeminiReader(builder)
    for message in messages.values():
        with noting_unreadable(builder, message["where"]):
            reader.add(message, message["where"], message["place"])
    return builder


def _begin(path: Path, head: dict[str, Any]) -> SessionBuilder:
    builder = _FORMAT.builder(path, identity(head.get("sessionId")))
    builder.title = string(head.get("summary"))
    builder.cwd = _folder(path)
    note_times(builder, "the opening", head.get("startTime"), head.get("lastUpdated"))
    return builder


def _folder(path: Path) -> str | None:
    """The folder that a session ran in: newer versions write it next to the folder `chats`."""
    chats = next((parent for parent in path.parents if parent.name == "chats"), None)
    try:
        found = "" if chats is None else (chats.parent / ".project_root").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return found if found.startswith("/") or found[1:3] == ":\\" else None


class _GeminiReader(SessionReader):
    """Reads the messages of one session."""

    def add(self, message: dict[str, Any], where: str, place: int) -> None:
        """Add one message with its calls."""
        kind = first_of(message, "type", "role")
        time = time_of(message.get("timestamp"))
        text = text_of(first_of(message, "content", "parts"))
        if kind == "user":
            self.builder.message("user", text, time=time, place=place)
        elif kind in ("gemini", "model", "assistant"):
            model = string(message.get("model"))
            self.builder.message("assistant", text, time=time, place=place, model=model, usage=_usage(message))
            self.calls.turn()
            self._add_calls(message.get("toolCalls"), where, time, place)
        elif string(kind) not in _NOTICES:
            self.builder.unreadable(where, f"a message whose type is {str(kind)[:40]!r}")

    def _add_calls(self, calls: object, where: str, time: float | None, place: int) -> None:
        if calls is not None and not isinstance(calls, list):
            self.builder.unreadable(where, f"{kind_of(calls)} where a list of tool calls should be")
        made: list[tuple[str, dict[str, Any], float | None]] = []
        for fields in map(as_object, as_list(calls)):
            name = string(fields.get("name"))
            if name is None:
                self.builder.unreadable(where, "a tool call without a tool name")
                continue
            moment = time_of(fields.get("timestamp")) or time
            arguments = arguments_of(fields.get("args"))
            made.append((self.calls.make(fields.get("id"), name, arguments, time=moment, place=place), fields, moment))
        for call_id, fields, moment in made:
            if (text := _result_text(fields)) is not None:
                marks = marks_of(fields.get("status"), text, string(fields.get("name")))
                self.calls.answer(call_id, text, marks, time=moment, place=place)


def _result_text(call: dict[str, Any]) -> str | None:
    """The result that the model saw; None while the call is running."""
    result = call.get("result")
    if isinstance(result, list):
        return "\n".join([text for text in map(part_text, result) if text])
    if result is not None:
        return part_text(result)
    # What the model saw was not recorded; what the user saw is the next best.
    if string(call.get("status")) in ("success", "error", "cancelled"):
        return string(call.get("resultDisplay")) or ""
    return None


def part_text(part: object) -> str:
    """The text of a result's part."""
    response = as_object(as_object(part).get("functionResponse")).get("response")
    if response is None:
        return text_of(part)
    return text_of(first_of(as_object(response), "output", "error") if isinstance(response, dict) else response)


def marks_of(status: object, text: str, tool: str | None = None) -> Marks:
    """The marks for the status of a call; Qwen Code writes the same ones."""
    if status in ("success", "error"):
        said = _EXIT_CODE.search(text[-400:]) if tool == _SHELL else None
        code = None if said is None else int(said[1])
        # "success" means that the program ended; only the exit code says whether it worked.
        return Marks(failed=True if status == "error" else None if code else False, exit_code=code)
    if status == "cancelled":
        said_no = _DECLINED.search(text) is not None
        return Marks(declined=said_no, interrupted=not said_no)
    return Marks()


def _usage(message: dict[str, Any]) -> Usage | None:
    tokens = as_object(message.get("tokens"))
    cached, thoughts, output = count(tokens.get("cached")), count(tokens.get("thoughts")), count(tokens.get("output"))
    return known_usage(
        Usage(
            input=remaining(count(tokens.get("input")), cached),
            # Gemini counts thoughts separately; all other providers include them in the output.
            output=None if output is None else output + (thoughts or 0),
            cache_read=cached,
            reasoning=thoughts,
        )
    )
