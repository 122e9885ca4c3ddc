"""Cursor's database: `globalStorage/state.vscdb`, with a row for each message."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
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
    integer,
    known_usage,
    string,
    text_of,
    time_of,
)
from seasoned.history.formats import Sample
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.reader.amp import file_path
from seasoned.history.readonly import open_readonly, require_tables
from seasoned.session import Marks, Session, SessionRef, Usage

NAME = "cursor"
AGENT = "cursor"
_NEEDED = {"cursorDiskKV": {"key", "value"}}
_CONVERSATION = "composerData:"
_USER, _ASSISTANT = 1, 2
_Fields = dict[str, Any]


def recognises(sample: Sample) -> bool:
    """A database with the table that only Cursor adds to its editor's."""
    return sample.has_tables(_NEEDED)


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each conversation that changes with it, so that a rescan reads only what is new."""
    with open_readonly(path) as connection:
        return {
            str(row[0])[len(_CONVERSATION) :]: f"{row[1]}.{row[2]}"
            for row in connection.execute(
                "SELECT c.key, length(c.value), (SELECT coalesce(sum(length(b.value)), 0) FROM cursorDiskKV b "
                "WHERE b.key >= 'bubbleId:' || substr(c.key, 14) || ':' "
                "AND b.key < 'bubbleId:' || substr(c.key, 14) || ';') FROM cursorDiskKV c "
                "WHERE c.key >= 'composerData:' AND c.key < 'composerData;'"
            )
        }


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every conversation of the database that has messages; `only` selects them by id."""
    with open_readonly(path) as connection:
        require_tables(connection, path, "Cursor", _NEEDED)
        rows = connection.execute(
            "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;' ORDER BY key"
        ).fetchall()
        for key, value in rows:
            native_id = str(key)[len(_CONVERSATION) :]
            if value is None or (only is not None and native_id not in only):
                continue
            builder = SessionBuilder(SessionRef(AGENT, native_id), format=NAME, path=str(path))
            reader = _CursorReader(builder, as_object(stored(builder, "the conversation", value)))
            for place, (where, bubble) in enumerate(reader.bubbles(connection, native_id)):
                with noting_unreadable(builder, where):
                    reader.add(bubble, where, place)
            # One that was opened and never used has nothing to tell.
            if builder.has_news:
                yield builder.take()


class _CursorReader:
    """Reads the messages of one conversation."""

    def __init__(self, builder: SessionBuilder, about: _Fields) -> None:
        self._builder = builder
        self._calls = CallPairing(builder)
        self._about = about
        builder.title = string(about.get("name"))
        builder.model = string(as_object(about.get("modelConfig")).get("modelName"))
        folder = as_object(first_of(about, "workspaceIdentifier", "workspace"))
        builder.cwd = string(as_object(folder.get("uri")).get("fsPath")) or file_path(folder.get("uri"))
        parent = identity(as_object(about.get("subagentInfo")).get("parentComposerId"))
        if parent is not None:
            builder.parent, builder.relation = SessionRef(AGENT, parent), "subagent"

    def bubbles(self, connection: sqlite3.Connection, native_id: str) -> Iterator[tuple[str, _Fields]]:
        """The messages in order: rows of their own, or in older versions part of the conversation."""
        for position, one in enumerate(as_list(self._about.get("conversation"))):
            yield f"message {position}", as_object(one)
        for header in map(as_object, as_list(self._about.get("fullConversationHeadersOnly"))):
            key = f"bubbleId:{native_id}:{identity(header.get('bubbleId'))}"
            row = connection.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
            if row is not None and row[0] is not None:
                yield key, as_object(stored(self._builder, key, row[0]))

    def add(self, bubble: _Fields, where: str, place: int) -> None:
        """Add one message, which holds at most one call."""
        time = time_of(first_of(bubble, "createdAt", "timestamp"))
        kind, text = integer(bubble.get("type")), text_of(bubble.get("text"))
        if bubble.get("summarizedComposers") or bubble.get("conversationSummary"):
            self._builder.compaction()
        if kind == _USER:
            self._builder.message("user", text, time=time, place=place)
        elif kind == _ASSISTANT:
            self._builder.thinking(text_of(bubble.get("thinking")))
            model = string(as_object(bubble.get("modelInfo")).get("modelName"))
            self._builder.message("assistant", text, time=time, place=place, model=model, usage=_usage(bubble))
            self._calls.turn()
            call = as_object(bubble.get("toolFormerData"))
            if call:
                self._add_call(call, time, where, place)
        else:
            self._builder.unreadable(where, f"a message whose type is {str(bubble.get('type'))[:40]!r}")

    def _add_call(self, call: _Fields, time: float | None, where: str, place: int) -> None:
        asked = arguments_of(first_of(call, "rawArgs", "params"))
        given = call.get("toolCallId")
        call_id = self._calls.make_named(where, given, string(call.get("name")), asked, time=time, place=place)
        status = call.get("status")
        if call_id is None or status not in ("completed", "error", "cancelled"):
            return
        result = first_of(call, "result", "error")
        shown = arguments_of(result) if isinstance(result, str) else as_object(result)
        text = text_of(first_of(shown, "output", "contents", "message", "error", "clientVisibleErrorMessage") or result)
        self._calls.answer(call_id, text, _marks(call, status, shown), time=time, place=place)


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
    found = Usage(input=count(tokens.get("inputTokens")), output=count(tokens.get("outputTokens")))
    # Zeros stand where nothing was counted.
    return known_usage(found) if found.total else None
