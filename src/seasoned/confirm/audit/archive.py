"""The audit of another confirmation service, kept as a read-only archive. It proves nothing here."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from seasoned.atomic_write import make_private_folder, write_atomic
from seasoned.errors import CannotDo, SourceError
from seasoned.history.readonly import columns_of, open_readonly
from seasoned.redact.redactor import Redactor

# Names of each column in audits of the first version; the first one that exists counts.
_COLUMNS = {
    "id": ("request_id", "confirmation_id", "id"),
    "action": ("action",),
    "status": ("status", "state", "event", "outcome", "decision"),
    "description": ("description", "message"),
    "details": ("details", "payload"),
    "requester": ("requester", "requested_by", "agent"),
    "session_key": ("session_key", "session_id"),
    "created_at": ("created_at", "timestamp", "requested_at", "time"),
    "resolved_at": ("resolved_at", "decided_at"),
    "resolved_by": ("resolved_by", "approver", "decided_by", "actor"),
    "reason": ("reason", "deny_reason", "denial_reason"),
}
_TIMES = ("created_at", "resolved_at")
_MOST_ROWS = 100_000
_MOST_CHARS = 4_000
_READ_ONLY = 0o400


class ArchivedRequest(msgspec.Struct, frozen=True):
    """A request of the first version, redacted; what it did not record is None."""

    id: str | None
    action: str | None
    status: str | None
    description: str | None = None
    details: str | None = None
    requester: str | None = None
    session_key: str | None = None
    created_at: float | None = None
    resolved_at: float | None = None
    resolved_by: str | None = None
    reason: str | None = None


def archive_folder(home: Path) -> Path:
    """Where archives are kept."""
    return home / "confirm-archive"


def read_audit(path: Path, *, redactor: Redactor) -> list[ArchivedRequest]:
    """The requests in a database of the first version, oldest first. The database is only read."""
    with open_readonly(path) as database:
        tables = _tables(database)
        found = [one for table in tables for one in _requests(database, table, redactor)]
    if not tables:
        raise SourceError(f"{str(path)!r} has no table of requests with their actions, so it is not such an audit.")
    return sorted(found, key=lambda one: one.created_at or 0.0)


def _tables(database: sqlite3.Connection) -> list[str]:
    names = [str(row[0]) for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    return [name for name in names if name.isidentifier() and "action" in columns_of(database, name)]


def _requests(database: sqlite3.Connection, table: str, redactor: Redactor) -> list[ArchivedRequest]:
    have = columns_of(database, table)
    columns = {field: next((name for name in names if name in have), None) for field, names in _COLUMNS.items()}
    wanted = [f'"{column}" AS {field}' for field, column in columns.items() if column is not None]
    rows = database.execute(f"SELECT {', '.join(wanted)} FROM {table} ORDER BY rowid LIMIT {_MOST_ROWS}")
    return [_request(dict(row), redactor) for row in rows]


def _request(row: dict[str, Any], redactor: Redactor) -> ArchivedRequest:
    values: dict[str, Any] = dict.fromkeys(("id", "action", "status"))
    for field, value in row.items():
        if field in _TIMES:
            values[field] = _time(value)
        elif value is not None:
            # What was asked for came from sessions: it is redacted before it is written here.
            values[field] = redactor.text(str(value))[:_MOST_CHARS]
    return ArchivedRequest(**values)


def _time(value: object) -> float | None:
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        # SQLite writes its own times in UTC, without a zone.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def write_archive(file: Path, requests: Sequence[ArchivedRequest], *, unfinished: Path) -> None:
    """Write an archive, in the place of an older one; it cannot be written to afterwards."""
    make_private_folder(file.parent)
    data = b"".join(msgspec.json.encode(one) + b"\n" for one in requests)
    write_atomic(file, data, unfinished=unfinished, mode=_READ_ONLY)


def read_archives(home: Path, *, limit: int) -> list[ArchivedRequest]:
    """The newest requests of all archives, newest first."""
    found: list[ArchivedRequest] = []
    for file in sorted(archive_folder(home).glob("*.jsonl")):
        try:
            lines = file.read_bytes().splitlines()
            found += [msgspec.json.decode(line, type=ArchivedRequest) for line in lines if line]
        except (OSError, msgspec.DecodeError) as error:
            raise CannotDo(f"{str(file)!r} cannot be read ({error}). Run `seasoned adopt` again.") from error
    return sorted(found, key=lambda one: one.created_at or 0.0, reverse=True)[:limit]
