"""Crush's database: `.crush/crush.db` in the folder of a project, which holds the parts of each message as JSON."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import arguments_of, as_list, as_object, count, number, string, text_of, time_of
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.readonly import SessionDatabase
from seasoned.history.session_reader import SessionFormat, SessionReader, note_times, set_parent
from seasoned.session import Marks, Usage

NAME = "crush"
_FORMAT = SessionFormat(NAME, "crush")
_DECLINED = re.compile(r"\A(?:user denied permission|permission denied)", re.IGNORECASE)
_INTERRUPTED = re.compile(r"\A(?:tool execution (?:canceled|cancelled)|request cancelled)", re.IGNORECASE)
_EXIT_CODE = re.compile(r"(?:\A|\n)Exit code (-?\d{1,10})\s*(?:\n\n?<cwd>[^\n]*</cwd>)?\s*\Z")


def _session(connection: sqlite3.Connection, path: Path, row: dict[str, Any]) -> SessionBuilder:
    reader = _CrushReader(path, row)
    messages = connection.execute(
        "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid", (row["id"],)
    )
    for place, message in enumerate(messages):
        where = f"message {message['id']}"
        with noting_unreadable(reader.builder, where):
            parts = as_list(stored(reader.builder, where, message["parts"]))
            reader.add(dict(message), [as_object(part) for part in parts], where, place)
    return reader.builder


_DATABASE = SessionDatabase(
    "Crush",
    {
        "sessions": {"id", "parent_session_id", "title", "prompt_tokens", "completion_tokens"}
        | {"created_at", "updated_at"},
        "messages": {"id", "session_id", "role", "parts", "created_at"},
    },
    "SELECT s.id, s.updated_at, count(m.id), coalesce(max(m.updated_at), 0) FROM sessions s "
    "LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id",
    "SELECT * FROM sessions ORDER BY created_at, id",
    _session,
)
recognises, stamps, read = _DATABASE.recognises, _DATABASE.stamps, _DATABASE.read


class _CrushReader(SessionReader):
    """Reads the messages of one session."""

    def __init__(self, path: Path, row: dict[str, Any]) -> None:
        builder = _FORMAT.builder(path, str(row["id"]))
        super().__init__(builder)
        self._summary = string(row.get("summary_message_id"))
        builder.title = string(row.get("title"))
        # The folder of the database is the only record of where a session worked.
        builder.cwd = str(path.parent.parent) if path.parent.name == ".crush" else string(row.get("workspace_cwd"))
        set_parent(builder, string(row.get("parent_session_id")))
        if cost := number(row.get("cost")):
            builder.cost_usd = cost
        note_times(builder, "the head of the session", row.get("created_at"))
        used = Usage(input=count(row.get("prompt_tokens")), output=count(row.get("completion_tokens")))
        # Crush writes zeros where nothing was counted.
        if used.total:
            builder.total_usage = used

    def add(self, row: dict[str, Any], parts: list[dict[str, Any]], where: str, place: int) -> None:
        """Add one message with its parts."""
        role, time = row["role"], time_of(row["created_at"])
        held = [(str(part.get("type")), as_object(part.get("data"))) for part in parts]
        text = "\n".join(text_of(data) for kind, data in held if kind == "text")
        is_summary = bool(row.get("is_summary_message")) or (self._summary is not None and row["id"] == self._summary)
        if is_summary:
            self.builder.compaction()
        if role == "assistant":
            for _, data in held:
                self.builder.thinking(data.get("thinking"))
            model = string(row.get("model"))
            self.builder.message("assistant", text, time=time, place=place, model=model, summary=is_summary)
            self.calls.turn()
        elif role in ("user", "system"):
            self.builder.message(role, text, time=time, place=place)
        elif role != "tool":
            self.builder.unreadable(where, f"a message whose role is {str(role)[:40]!r}")
        for kind, data in held:
            if kind == "tool_call":
                asked = arguments_of(data.get("input"))
                self.calls.make_named(where, data.get("id"), string(data.get("name")), asked, time=time, place=place)
            elif kind == "tool_result":
                answer = text_of(data.get("content"))
                tool = string(data.get("name"))
                marks = _marks(answer, failed=data.get("is_error"))
                self.calls.answer(data.get("tool_call_id"), answer, marks, tool=tool, time=time, place=place)
            elif kind == "finish" and data.get("reason") == "canceled":
                self.calls.amend_open(Marks(interrupted=True))


def _marks(text: str, *, failed: object) -> Marks:
    if not isinstance(failed, bool):
        return Marks()
    if failed and _DECLINED.search(text):
        return Marks(declined=True)
    if failed and _INTERRUPTED.search(text):
        return Marks(interrupted=True)
    # A failed command is not an error of the tool: its exit code ends the output.
    code = _EXIT_CODE.search(text[-400:])
    return Marks(exit_code=int(code[1])) if code and not failed else Marks(failed=failed)
