"""Backs up, restores and exports the store."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import msgspec

from seasoned.errors import NotFound, StoreError
from seasoned.store.database import Store, open_store
from seasoned.store.interface import Database, DatabaseRow
from seasoned.store.schema import VERSION, OlderStore

_TABLES = ("source", "unreadable", "session", "call")
# In the order in which rows refer to each other.
_CONFIRM_TABLES = (
    "credential",
    "request",
    "vote",
    "audit",
    "audit_head",
    "outbox",
)
# What a person decided, and what no history tells: it is taken over from a store of an earlier version. The rest is
# read again. Memory and skills are files; `learned` says where they come from.
_CARRIED = (
    *_CONFIRM_TABLES,
    *("learned", "review", "choice", "forgotten"),
    *("split", "assignment", "exposure", "material", "run"),
    *("job", "job_run", "gateway_key", "gateway_request"),
)
_SHARED = {"request": "trace.requests", "job_run": "trace.runs"}


def back_up(store: Store, to: Path) -> None:
    """Copy the store, also while other processes write to it."""
    if to.exists():
        raise StoreError(f"{str(to)!r} already exists: choose another file for the backup.")
    # Under the final name only when it is whole: a backup that was cut off would be taken for one.
    unfinished = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        os.close(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(unfinished)) as copy:
            store.connection.backup(copy)
        unfinished.rename(to)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise StoreError(f"The backup {str(to)!r} could not be written: {why}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def restore(
    backup: Path, store_path: Path, *, settle: Callable[[Store | None, Store], None] | None = None
) -> Path | None:
    """Replace the store by a backup. The old store is kept beside it; returns its path.

    Of a store of an earlier version only what no history tells is taken over, into a new one.

    `settle` is called with the present store, if there is one, and the restored copy, before anything is replaced.
    """
    if not backup.is_file():
        raise NotFound(f"Backup {str(backup)!r} does not exist.")
    beside = store_path.with_suffix(".restoring")
    try:
        _copy(backup, beside)
    except (sqlite3.Error, StoreError) as error:
        _remove(beside)
        raise StoreError(f"{str(backup)!r} cannot be restored: {error}") from error
    if settle is not None:
        try:
            _settle(settle, store_path, beside)
        except BaseException:
            _remove(beside)
            raise
    kept: Path | None = None
    if store_path.exists():
        with closing(sqlite3.connect(store_path)) as old:
            old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kept = _free_name(store_path)
        store_path.rename(kept)
    for rest in ("-wal", "-shm"):
        Path(f"{store_path}{rest}").unlink(missing_ok=True)
        Path(f"{beside}{rest}").unlink(missing_ok=True)
    beside.rename(store_path)
    return kept


def _copy(backup: Path, beside: Path) -> None:
    """A copy that this version opens. A damaged file or one of a newer version is refused."""
    with closing(sqlite3.connect(backup)) as found:
        found.row_factory = sqlite3.Row
        version = int(found.execute("PRAGMA user_version").fetchone()[0])
        if version == 0:
            raise StoreError("it is empty, or not a backup of Seasoned.")
        if version < VERSION:
            with open_store(beside) as store:
                _copy_tables(found, store, _CARRIED)
                store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return
    shutil.copyfile(backup, beside)
    beside.chmod(0o600)
    with closing(sqlite3.connect(beside)) as copy:
        # What someone added would run at every write, and what guards the confirmations must be there.
        for kind, name in copy.execute(_ADDED).fetchall():
            copy.execute(f'DROP {kind} "{name.replace(chr(34), chr(34) * 2)}"')
        for sql in _own_guards(beside.with_suffix(".fresh")):
            copy.execute(sql)
        copy.commit()
    open_store(beside).close()


_ADDED = "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"


def _own_guards(fresh: Path) -> list[str]:
    """How a new store makes its triggers and views."""
    with open_store(fresh) as store:
        rows = store.connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
        found = [str(row["sql"]) for row in rows]
    _remove(fresh)
    return found


def _remove(file: Path) -> None:
    for rest in ("", "-wal", "-shm"):
        Path(f"{file}{rest}").unlink(missing_ok=True)


def _settle(settle: Callable[[Store | None, Store], None], store_path: Path, beside: Path) -> None:
    with open_store(beside, durable=True) as restored:
        try:
            present = open_store(store_path, create=False) if store_path.exists() else None
        except OlderStore:
            present = None  # what it holds is in the restored one, or was not asked for
        with present or nullcontext():
            settle(present, restored)
        restored.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def carry_confirmations(present: Store, restored: Store) -> None:
    """Replace the confirmations in a restored copy by those of the present store: what happened since stays so."""
    _copy_tables(present.connection, restored, _CONFIRM_TABLES)


def _copy_tables(source: sqlite3.Connection, to: Store, names: Iterable[str]) -> None:
    """Replace the rows of these tables by those of another store, as far as their columns are the same."""
    copy = to.connection
    known = {row["name"] for row in source.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    guards = copy.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    copy.execute("PRAGMA foreign_keys = OFF")
    try:
        with to.write():
            # The guards forbid to delete and to replace, so they are taken off and put back as they were.
            for guard in guards:
                copy.execute(f"DROP TRIGGER {guard['name']}")
            for name in [name for name in names if name in known]:
                rows = source.execute(f"SELECT * FROM {name}")
                has = {column[0] for column in rows.description}
                found = copy.execute(f"SELECT name FROM pragma_table_info('{name}')")
                columns = [row["name"] for row in found if row["name"] in has]
                copy.execute(f"DELETE FROM {name}")
                copy.executemany(
                    f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                    ([row[column] for column in columns] for row in rows),
                )
            for guard in guards:
                copy.execute(guard["sql"])
    finally:
        copy.execute("PRAGMA foreign_keys = ON")


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_suffix(f".replaced-{number}.db")).exists():
        number += 1
    return free


def export_lines(store: Store, database: Database | None = None) -> Iterator[str]:
    """All rows as JSON lines with schema and table; `database` is the shared one, if there is one."""
    for table in _TABLES:
        yield from _lines(table, store.each(f"export.{table}"))
    shared: Database = store if database is None else database
    for table, name in _SHARED.items():
        yield from _lines(table, shared.each(name))


def _lines(table: str, rows: Iterable[DatabaseRow]) -> Iterator[str]:
    for row in rows:
        record = {"schema": "seasoned/export/1", "table": table, **dict(row)}
        yield msgspec.json.encode(record).decode() + "\n"
