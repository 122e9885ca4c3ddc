"""The store as JSON lines, for people who want to take what is theirs elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from seasoned.store.database import Store
from seasoned.store.seam import Database, Row

_TABLES = ("source", "unreadable", "session", "call")
_SHARED = {"request": "trace.requests", "job_run": "trace.runs"}


def export_lines(store: Store, database: Database | None = None) -> Iterator[str]:
    """One line a row, each marked with its schema and table; the database is what machines share, else the store."""
    for table in _TABLES:
        yield from _lines(table, store.each(f"export.{table}"))
    shared: Database = store if database is None else database
    for table, name in _SHARED.items():
        yield from _lines(table, shared.each(name))


def _lines(table: str, rows: Iterable[Row]) -> Iterator[str]:
    for row in rows:
        record = {"schema": "seasoned/export/1", "table": table, **dict(row)}
        yield msgspec.json.encode(record).decode() + "\n"
