"""The tables of the store: one schema, written once into a new file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from seasoned.errors import StoreError
from seasoned.store.query import table_script

# Raised with every change of the tables. Versions before the first release counted from 1.
VERSION = 107
# The tables of SQLite, and those of PostgreSQL: files of `table/`, in this order.
SQLITE = ("session.sqlite", "learned.sqlite", "shared", "guard.sqlite")
POSTGRES = ("shared", "guard.postgres")


class OlderStore(StoreError):
    """A store of a version whose tables this one does not read."""


def prepare(db: sqlite3.Connection, path: str) -> None:
    """Write the tables into a new store. One of another version is refused."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version == VERSION:
        return
    check(version, path)
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have written them while this one waited for the lock.
        if not db.execute("PRAGMA user_version").fetchone()[0]:
            for file in SQLITE:
                # One by one: executescript would end the transaction.
                for statement in statements(table_script(file)):
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def check(version: int, path: str) -> None:
    """Refuse a store of a newer or an older version."""
    if version > VERSION:
        raise StoreError(
            f"{path!r} was written by a newer Seasoned (store version {version}, this one knows {VERSION}): "
            "upgrade Seasoned, or point SEASONED_HOME at another folder."
        )
    if 0 < version < VERSION:
        raise OlderStore(
            f"{path!r} was written by an earlier Seasoned (store version {version}, this one has {VERSION}). "
            f"Run `seasoned restore {path}`: it puts a new store in its place, keeps the old one, and carries over "
            "confirmations, experiments, pins, jobs, keys of the gateway, and where memory and skills come from. Then "
            "`seasoned scan` reads the histories again."
        )


def statements(script: str) -> Iterator[str]:
    """The statements of a script; a semicolon inside a trigger, a text or a comment does not end one."""
    begun = ""
    for part in script.split(";")[:-1]:
        begun += part + ";"
        if sqlite3.complete_statement(begun):
            yield begun
            begun = ""
    rest = begun + script.rpartition(";")[2]
    if rest.strip():
        yield rest
