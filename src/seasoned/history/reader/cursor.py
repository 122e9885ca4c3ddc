"""Cursor's database: `globalStorage/state.vscdb`, with a row for each message."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import (
    arguments_of,
    as_list,
    as_object,
    file_path,
    first_of,
    identity,
    integer,
    string,
    text_of,
    time_of,
)
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.readonly import SessionDatabase
from seasoned.history.session_reader import SessionFormat, SessionReader, set_parent, usage_from
from seasoned.session import Marks, Usage

NAME = "cursor"
AGENT = "cursor"
_FORMAT = SessionFormat(NAME, AGENT)
_USER, _ASSISTANT = 1, 2
_Fields = dict[str, Any]


def _conversation(connection: sqlite3.Connection, path: Path, row: _Fields) -> SessionBuilder | None:
    native_id = str(row["id"])
    builder = _FORMAT.builder(path, native_id)
    reader = _CursorReader(builder, as_object(stored(builder, "the conversation", row["value"])))
    for place, (where, bubble) in enumerate(reader.bubbles(connection, native_id)):
        with noting_unreadable(builder, where):
            reader.add(bubble, where, place)
    # A conversation that was opened and never used is left out.
    return builder if builder.has_news else None


# The keys of conversations are `composerData:ID`, those of their messages `bubbleId:ID:MESSAGE`.
_DATABASE = SessionDatabase(
    "Cursor",
    {"cursorDiskKV": {"key", "value"}},
    "SELECT substr(c.key, 14), length(c.value), (SELECT coalesce(sum(length(b.value)), 0) FROM cursorDiskKV b "
    "WHERE b.key >= 'bubbleId:' || substr(c.key, 14) || ':' "
    "AND b.key < 'bubbleId:' || substr(c.key, 14) || ';') FROM cursorDiskKV c "
    "WHERE c.key >= 'composerData:' AND c.key < 'composerData;'",
    "SELECT substr(key, 14) AS id, value FROM cursorDiskKV "
    "WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL ORDER BY key",
    _conversation,
)
recognises, stamps, read = _DATABASE.recognises, _DATABASE.stamps, _DATABASE.read


class _CursorReader(SessionReader):
    """Reads the messages of one conversation."""

    def __init__(self, builder: SessionBuilder, about: _Fields) -> None:
        super().__init__(builder)
        self._about = about
        builder.title = string(about.get("name"))
        builder.model = string(as_object(about.get("modelConfig")).get("modelName"))
        folder = as_object(first_of(about, "workspaceIdentifier", "workspace"))
        builder.cwd = string(as_object(folder.get("uri")).get("fsPath")) or file_path(folder.get("uri"))
        set_parent(builder, identity(as_object(about.get("subagentInfo")).get("parentComposerId")))

    def bubbles(self, connection: sqlite3.Connection, native_id: str) -> Iterator[tuple[str, _Fields]]:
        """The messages in order: rows of their own, or in older versions part of the conversation."""
        for position, one in enumerate(as_list(self._about.get("conversation"))):
            yield f"message {position}", as_object(one)
        for header in map(as_object, as_list(self._about.get("fullConversationHeadersOnly"))):
            key = f"bubbleId:{native_id}:{identity(header.get('bubbleId'))}"
            row = connection.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] is not None:
                yield key, as_object(stored(self.builder, key, row[0]))

    def add(self, bubble: _Fields, where: str, place: int) -> None:
        """Add one message, which holds at most one call."""
        time = time_of(first_of(bubble, "createdAt", "timestamp"))
        kind, text = integer(bubble.get("type")), text_of(bubble.get("text"))
        if bubble.get("summarizedComposers") or bubble.get("conversationSummary"):
            self.builder.compaction()
        if kind == _USER:
            self.builder.message("user", text, time=time, place=place)
        elif kind == _ASSISTANT:
            self.builder.thinking(text_of(bubble.get("thinking")))
            model = string(as_object(bubble.get("modelInfo")).get("modelName"))
            self.builder.message("assistant", text, time=time, place=place, model=model, usage=_usage(bubble))
            self.calls.turn()
            call = as_object(bubble.get("toolFormerData"))
            if call:
                self._add_call(call, time, where, place)
        else:
            self.builder.unreadable(where, f"a message whose type is {str(bubble.get('type'))[:40]!r}")

    def _add_call(self, call: _Fields, time: float | None, where: str, place: int) -> None:
        asked = arguments_of(first_of(call, "rawArgs", "params"))
        given = call.get("toolCallId")
        call_id = self.calls.make_named(where, given, string(call.get("name")), asked, time=time, place=place)
        status = call.get("status")
        if call_id is None or status not in ("completed", "error", "cancelled"):
            return
        result = first_of(call, "result", "error")
        shown = arguments_of(result) if isinstance(result, str) else as_object(result)
        text = text_of(first_of(shown, "output", "contents", "message", "error", "clientVisibleErrorMessage") or result)
        self.calls.answer(call_id, text, _marks(call, status, shown), time=time, place=place)


def _marks(call: _Fields, status: object, result: _Fields) -> Marks:
    if call.get("userDecision") == "rejected" or result.get("rejected") is True:
        return Marks(declined=True)
    if status == "cancelled":
        return Marks(interrupted=True)
    code = first_of(result, "exitCodeV2", "exitCode", "exit_code")
    if (number := integer(code)) is not None:
        return Marks(exit_code=number)
    return Marks(failed=status == "error")


def _usage(bubble: _Fields) -> Usage | None:
    tokens = as_object(bubble.get("tokenCount"))
    found = usage_from(tokens, input="inputTokens", output="outputTokens")
    # Cursor writes zeros where nothing was counted.
    return found if found is not None and found.total else None
