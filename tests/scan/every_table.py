"""All that a store holds, by what its ids stand for: two stores that say the same are equal."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from seasoned.store import open_store

# Times at which something was written.
_CLOCKS = {("source", "scanned_at"), ("session", "learned_at")}
_INDEXES = ("sqlite_", "search_index")
Rows = list[tuple[str, ...]]


def every_table(path: Path) -> dict[str, Rows]:
    """The rows of every table, in an order of their own."""
    with open_store(path) as store, closing(store.connection.cursor()) as cursor:
        names = _Names(cursor)
        tables = [row[0] for row in cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
        found = {}
        for table in tables:
            if not table.startswith(_INDEXES):
                rows = cursor.execute(f'SELECT * FROM "{table}"').fetchall()
                found[table] = sorted(
                    tuple(repr(names.of(table, column, row[column])) for column in row.keys())  # noqa: SIM118
                    for row in rows
                )
        return found


class _Names:
    """What the number in a column stands for."""

    def __init__(self, cursor: Any) -> None:
        self.sessions = {
            row[0]: f"{row[1]}:{row[2]}" for row in cursor.execute("SELECT id, agent, native_id FROM session")
        }
        self.sources = dict(map(tuple, cursor.execute("SELECT id, path FROM source").fetchall()))
        self.calls = {
            row[0]: (self.sessions[row[1]], row[2])
            for row in cursor.execute("SELECT id, session_id, call_id FROM call")
        }
        self.tables: dict[str, dict[int, Any]] = {
            "session": self.sessions,
            "source": self.sources,
            "call": self.calls,
        }
        self.columns: dict[str, dict[int, Any]] = {
            "session_id": self.sessions,
            "root_id": self.sessions,
            "source_id": self.sources,
            "copy_of": self.calls,
            "repaired_by": self.calls,
        }

    def of(self, table: str, column: str, value: Any) -> Any:
        if value is None or (table, column) in _CLOCKS:
            return None
        if column == "id" and table in self.tables:
            return self.tables[table][value]
        return self.columns[column][value] if column in self.columns else value
