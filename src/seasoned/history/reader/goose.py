"""Sessions of Goose as it kept them before its database: JSON Lines, the first of which describes the session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    count,
    first_of,
    identity,
    known_usage,
    number,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import noting_unreadable
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times, objects
from seasoned.session import Marks, Session, Unreadable, Usage

NAME = "goose"
_FORMAT = SessionFormat(NAME, "goose")
_DECLINED = re.compile(r"\b(?:declined|denied|rejected)\b", re.IGNORECASE)
_INTERRUPTED = re.compile(r"\b(?:cancelled|interrupted|aborted)\b", re.IGNORECASE)
# The name of a session until its model has given it one.
_UNNAMED = "CLI Session"
# The output of a failed command ends with its code. Newer versions also have it in a field.
_EXIT_CODE = re.compile(r"(?:exit(?:ed)? (?:with )?(?:code|status):?|exit status:) (-?\d{1,10})\s*\Z", re.IGNORECASE)
_OWN_BLOCKS = frozenset({"toolRequest", "toolResponse", "thinking", "redactedThinking", "frontendToolRequest"})
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """Whether it opens with Goose's description, or has its requests and responses."""
    return sample.may_be_lines and any(_is_head(one) or _is_message(one) for one in sample.records)


def _is_head(value: _Fields) -> bool:
    return "working_dir" in value and ("message_count" in value or "description" in value)


def _is_message(value: _Fields) -> bool:
    blocks = [as_object(one) for one in as_list(value.get("content"))]
    return "role" in value and any(one.get("type") in ("toolRequest", "toolResponse") for one in blocks)


def read(path: Path) -> Iterator[Session]:
    """One session of all lines."""
    return _FORMAT.sessions(path, _parts(path))


def _parts(path: Path) -> Iterator[SessionBuilder | Unreadable]:
    reader: GooseReader | None = None
    lost: list[Unreadable] = []
    for part in objects(path, lost, "a message"):
        reader = reader or GooseReader(path, path.stem, part.value if "role" not in part.value else {})
        if "role" in part.value:
            with noting_unreadable(reader.builder, part.where):
                time = time_of(part.value.get("created"))
                reader.add(part.value["role"], part.value.get("content"), time, part.where, part.place)
        elif not _is_head(part.value):
            lost.append(Unreadable(part.where, "a record that is not a message"))
    if reader is not None:
        yield reader.builder
    yield from lost


class GooseReader(SessionReader):
    """Reads the messages of one session."""

    def __init__(self, path: Path, native_id: str, about: _Fields) -> None:
        builder = _FORMAT.builder(path, native_id)
        super().__init__(builder)
        title = string(about.get("name")) or string(about.get("description"))
        builder.title = None if title == _UNNAMED else title
        builder.cwd = string(about.get("working_dir"))
        builder.platform = string(about.get("session_type"))
        note_times(builder, "the head of the session", about.get("created_at"), about.get("updated_at"))
        with noting_unreadable(builder, "the head of the session"):
            # Both figures are totals; the fields without `accumulated` are of the last request.
            used = Usage(
                input=count(first_of(about, "accumulated_input_tokens", "input_tokens")),
                output=count(first_of(about, "accumulated_output_tokens", "output_tokens")),
            )
            if known_usage(used):
                builder.total_usage = used
            if cost := number(about.get("accumulated_cost")):
                builder.cost_usd = cost

    def add(self, role: object, content: object, time: float | None, where: str, place: int) -> None:
        """Add one message: its text, its calls, its results."""
        blocks = [as_object(one) for one in as_list(content)]
        kinds = {str(one.get("type")) for one in blocks}
        text = text_of([one for one in blocks if str(one.get("type")) not in _OWN_BLOCKS])
        if kinds & {"summarizationRequested", "conversationCompacted"}:
            self.builder.compaction()
        elif role == "assistant":
            for block in blocks:
                self.builder.thinking(block.get("thinking"))
            self.builder.message("assistant", text, time=time, place=place)
            self.calls.turn()
        elif role == "user":
            if text or "toolResponse" not in kinds:
                self.builder.message("user", text, time=time, place=place)
        else:
            self.builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")
        for block in blocks:
            if block.get("type") in ("toolRequest", "frontendToolRequest"):
                self._add_call(block, time, where, place)
            elif block.get("type") == "toolResponse":
                self._add_result(block, time, place)

    def _add_call(self, block: _Fields, time: float | None, where: str, place: int) -> None:
        asked = as_object(block.get("toolCall"))
        call = as_object(first_of(asked, "value", "Ok") or asked)
        given, tool = arguments_of(call.get("arguments")), string(call.get("name"))
        if tool is None and asked.get("status") == "error":
            # The model's call could not be understood; the response says so.
            tool = "invalid"
        self.calls.make_named(where, block.get("id"), tool, given, time=time, place=place)

    def _add_result(self, block: _Fields, time: float | None, place: int) -> None:
        result = as_object(block.get("toolResult"))
        error = first_of(result, "error", "Err")
        value = first_of(result, "value", "Ok")
        answer = as_object(value)
        text = text_of(error if error is not None else answer.get("content") if "content" in answer else value)
        failed = error is not None or answer.get("isError") is True
        code = as_object(answer.get("structuredContent")).get("exit_code")
        marks = _marks(text, failed=failed, code=code if isinstance(code, int) else None)
        self.calls.answer(identity(block.get("id")), text, marks, time=time, place=place)


def _marks(text: str, *, failed: bool, code: int | None) -> Marks:
    head = text[:200]
    if failed and _DECLINED.search(head):
        return Marks(declined=True)
    if failed and _INTERRUPTED.search(head):
        return Marks(interrupted=True)
    if code is None and failed and (found := _EXIT_CODE.search(text[-200:])):
        code = int(found[1])
    return Marks(failed=failed, exit_code=code)
