"""Goose's database: `sessions.db`, which holds the content of each message as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from seasoned.history.coerce import as_object, string, time_of
from seasoned.history.formats import Sample
from seasoned.history.json_file import noting_unreadable, stored
from seasoned.history.reader.goose import NAME, GooseReader
from seasoned.history.readonly import open_readonly, require_tables
from seasoned.session import Session

__all__ = ["NAME", "read", "recognises", "stamps"]

_NEEDED = {"sessions": {"id", "working_dir", "updated_at"}, "messages": {"id", "session_id", "role", "content_json"}}


def recognises(sample: Sample) -> bool:
    """A database that has Goose's two tables."""
    return sample.has_tables(_NEEDED)


def stamps(path: Path) -> dict[str, str]:
    """A stamp for each session that changes with it, so that a rescan reads only what is new."""
    with open_readonly(path) as connection:
        rows = connection.execute(
            "SELECT s.id, s.updated_at, count(m.id), coalesce(max(m.id), 0) FROM sessions s "
            "LEFT JOIN messages m ON m.session_id = s.id GROUP BY s.id"
        )
        return {str(row[0]): ".".join(map(str, row[1:])) for row in rows}


def read(path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
    """Every session of the database, oldest first; `only` selects sessions by id."""
    with open_readonly(path) as connection:
        require_tables(connection, path, "Goose", _NEEDED)
        for row in [dict(row) for row in connection.execute("SELECT * FROM sessions ORDER BY updated_at, id")]:
            if only is not None and str(row["id"]) not in only:
                continue
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
            yield builder.take()
