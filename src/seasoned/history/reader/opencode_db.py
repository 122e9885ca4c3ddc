"""OpenCode's database: `opencode.db`, which holds messages and their parts as JSON."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import as_object
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.reader.opencode import NAME, OpenCodeReader
from seasoned.history.readonly import SessionDatabase

__all__ = ["NAME", "read", "recognises", "stamps"]


def _session(connection: sqlite3.Connection, path: Path, row: dict[str, Any]) -> SessionBuilder:
    time = {"created": row.get("time_created"), "updated": row.get("time_updated")}
    reader = OpenCodeReader(path, {**row, "parentID": row.get("parent_id"), "time": time})
    parts: dict[str, list[dict[str, Any]]] = {}
    for part_id, message_id, data in connection.execute(
        "SELECT p.id, p.message_id, p.data FROM message m JOIN part p ON p.message_id = m.id "
        "WHERE m.session_id = ? ORDER BY p.id",
        (row["id"],),
    ):
        parts.setdefault(str(message_id), []).append(as_object(stored(reader.builder, f"part {part_id}", data)))
    messages = connection.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY id", (row["id"],))
    for position, (message_id, data) in enumerate(messages):
        where = f"message {message_id}"
        with noting_unreadable(reader.builder, where):
            about = as_object(stored(reader.builder, where, data))
            reader.add(about, parts.get(str(message_id), []), where, position)
    return reader.builder


_DATABASE = SessionDatabase(
    "OpenCode",
    {
        "session": {"id", "directory", "time_updated"},
        "message": {"id", "session_id", "data"},
        "part": {"id", "message_id", "time_updated", "data"},
    },
    "SELECT s.id, s.time_updated, count(p.id), coalesce(max(p.time_updated), 0) FROM session s "
    "LEFT JOIN message m ON m.session_id = s.id LEFT JOIN part p ON p.message_id = m.id GROUP BY s.id",
    "SELECT * FROM session ORDER BY time_updated, id",
    _session,
)
recognises, stamps, read = _DATABASE.recognises, _DATABASE.stamps, _DATABASE.read
