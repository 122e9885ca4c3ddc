"""PostgreSQL's own numbered migrations, append-only: the tables that several machines may share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seasoned.errors import StoreError
from seasoned.store.query import table_script

if TYPE_CHECKING:
    from psycopg import Connection

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("p001_assignment", ("assignment",)),
    ("p002_confirm", ("confirm", "confirm.postgres")),
    ("p003_schedule", ("schedule", "schedule.postgres")),
    ("p004_gateway", ("gateway",)),
    ("p005_foregone", ("foregone",)),
    ("p006_audit_head", ("audit_head.postgres",)),
)
VERSION = len(MIGRATIONS)
_LOCK = 0x5EA50EED
"""One number for all who migrate, whichever database they use."""


def migrate(connection: Connection[Any], place: str) -> None:
    """Bring the tables to this version. A database from the future is refused, not guessed at."""
    # A role that may use the tables need not be allowed to make any, so nothing is asked of it where nothing is to do.
    if _version(connection, place) == VERSION:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        # Another process may have migrated while this one waited for the lock.
        done = _version(connection, place)
        if not done:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS seasoned_migration "
                "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, done_at TIMESTAMPTZ NOT NULL DEFAULT now())"
            )
        for number, (name, files) in enumerate(MIGRATIONS[done:], start=done + 1):
            for file in files:
                # Without parameters, so that one call may hold many statements.
                connection.execute(table_script(file).encode())
            connection.execute("INSERT INTO seasoned_migration (number, name) VALUES (%s, %s)", [number, name])


def _version(connection: Connection[Any], place: str) -> int:
    found = connection.execute("SELECT to_regclass('seasoned_migration') IS NOT NULL AS is_there").fetchone()
    if found is None or not found["is_there"]:
        return 0
    row = connection.execute("SELECT coalesce(max(number), 0) AS version FROM seasoned_migration").fetchone()
    version = int(row["version"]) if row else 0
    if version > VERSION:
        raise StoreError(
            f"The database {place!r} was written by a newer Seasoned (version {version}, this one knows {VERSION}): "
            "upgrade Seasoned, or point SEASONED_DATABASE_URL at another one."
        )
    return version
