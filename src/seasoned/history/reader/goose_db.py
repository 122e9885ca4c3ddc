"""Goose's database: `sessions.db`, which holds the content of each message as JSON."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import as_object, string, time_of
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.reader.goose import NAME, GooseReader
from seasoned.history.readonly import SessionDatabase

__all__ = ["NAME", "read", "recognises", "stamps"]


def _session(connection: sqlite3.Connection, path: Path, row: dict[str, Any]) -> SessionBuilder:
    reader = GooseReader(path, str(row["id"]), row)
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
