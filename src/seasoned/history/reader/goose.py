"""Goose's database: `sessions.db`, which holds the content of each message as JSON."""

from __future__ import annotations

import re
import sqlite3
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
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.readonly import SessionDatabase
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times
from seasoned.session import Marks, Usage

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


def _session(connection: sqlite3.Connection, path: Path, row: _Fields) -> SessionBuilder:
    reader = _GooseReader(path, row)
    builder = reader.builder
    model = as_object(stored(builder, "the model", row.get("model_config_json") or "{}"))
    builder.model = string(model.get("model_name")) or string(model.get("model"))
    for message in connection.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY id", (row["id"],)):
        where = f"message {message['id']}"
        with noting_unreadable(builder, where):
            time = time_of(dict(message).get("created_timestamp"))
            content = stored(builder, where, message["content_json"])
            reader.add(message["role"], content, time, where, int(message["id"]))
    return builder


_DATABASE = SessionDatabase(
    "Goose",
    {"sessions": {"id", "working_dir", "updated_at"}, "messages": {"id", "session_id", "role", "content_json"}},
    "SELECT s.id, s.updated_at, count(m.id), coalesce(max(m.id), 0) FROM sessions s "
    "LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id",
    "SELECT * FROM sessions ORDER BY updated_at, id",
    _session,
)
recognises, stamps, read = _DATABASE.recognises, _DATABASE.stamps, _DATABASE.read


class _GooseReader(SessionReader):
    """Reads the messages of one session."""

    def __init__(self, path: Path, about: _Fields) -> None:
        builder = _FORMAT.builder(path, str(about["id"]))
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
