"""The store as JSON lines, for people who want to take what is theirs elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from seasoned.store.database import Store

_TABLES = ("source", "unreadable", "session", "call")


def export_lines(store: Store) -> Iterator[str]:
    """One line a row, each marked with its schema and table."""
    for table in _TABLES:
        for row in store.each(f"export.{table}"):
            record = {"schema": "seasoned/export/1", "table": table, **dict(row)}
            yield msgspec.json.encode(record).decode() + "\n"
