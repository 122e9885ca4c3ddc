"""Backups of the store, and forgetting: what was learned from a session goes with it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec

from seasoned.errors import NotFound, StoreError
from seasoned.store.database import Store, open_store
from seasoned.store.forget import EVERYTHING, OF_A_SESSION, unlearn, unlearn_everything
from seasoned.store.interface import Database, DatabaseRow

_OF_A_SESSION = (
    "review.forget_session",
    "review.forget_count",
    "forget.runs",
    "forget.begun",
    "forget.warm_root",
    *OF_A_SESSION,
)
_EVERYTHING = (
    "learned.forget_all",
    "review.forget_all",
    "review.forget_counts",
    "forget.trigrams",
    "forget.all_runs",
    "forget.all_begun",
    "forget.all_material",
    "forget.all_designs",
    "guard.forget_blocks",
    *EVERYTHING,
)


def forget_sessions(store: Store, session_ids: list[int], *, now: float) -> set[int]:
    """Remove sessions with all that hangs on them, for good. Returns the others that had copies of their calls."""
    with store.write():
        others: set[int] = set()
        for session_id in session_ids:
            others |= {row["session_id"] for row in store.rows("call.copied_sessions", {"session_id": session_id})}
        unlearn(store, session_ids)
        for session_id in session_ids:
            _forget_traces(store, session_id)
            store.run("session.remember_forgotten", {"id": session_id, "forgotten_at": now})
            store.run("session.delete", {"id": session_id})
        # Until the index is put together anew, it keeps what it no longer finds.
        store.run("forget.trigrams")
    _erase_freed_pages(store)
    return others - set(session_ids)


def forget_source(store: Store, source_id: int, *, now: float) -> set[int]:
    """Remove a source and every session that was read from it."""
    session_ids = [int(row["id"]) for row in store.rows("session.of_source", {"source_id": source_id})]
    others = forget_sessions(store, session_ids, now=now)
    with store.write():
        store.run("source.delete", {"id": source_id})
    return others


def forget_everything(store: Store) -> int:
    """Remove all that was ever read, and that anything was forgotten: the next scan begins anew."""
    session_ids = [int(row["id"]) for row in store.rows("session.all_ids")]
    with store.write():
        for session_id in session_ids:
            store.run("session.delete", {"id": session_id})
        for row in store.rows("source.all"):
            store.run("source.delete", {"id": row["id"]})
        store.run("session.unforget_all")
        unlearn_everything(store)
        for statement in _EVERYTHING:
            store.run(statement)
    _erase_freed_pages(store)
    return len(session_ids)


def _forget_traces(store: Store, session_id: int) -> None:
    """Remove what else names a session: its reviews, its part in experiments, and that others came from it."""
    row = store.row("forget.ref", {"id": session_id})
    if row is None:
        return
    ref = f"{row['agent']}:{row['native_id']}"
    for statement in _OF_A_SESSION:
        store.run(statement, {"session": ref})
    store.run("forget.material", {"written": msgspec.json.encode(ref).decode()[1:-1]})
    store.run("forget.parent", {"agent": row["agent"], "native_id": row["native_id"]})


def undo_forget(store: Store, native_id: str) -> bool:
    """Let a forgotten session be read again; its sources are read from their beginning by the next scan."""
    with store.write():
        lifted = store.run("session.unforget", {"native_id": native_id}) > 0
        if lifted:
            store.run("source.read_anew")
    return lifted


def back_up(store: Store, to: Path) -> None:
    """A whole copy of the store, also while others write to it."""
    if to.exists():
        raise StoreError(f"{str(to)!r} exists already: name a new file for the backup.")
    try:
        os.close(os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(to)) as copy:
            store.connection.backup(copy)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"The backup {str(to)!r} could not be written: {error}.") from error


def restore(backup: Path, store_path: Path) -> Path | None:
    """Put a backup in the store's place; the store that was there is kept beside it and its path returned."""
    if not backup.is_file():
        raise NotFound(f"There is no backup {str(backup)!r}.")
    beside = store_path.with_suffix(".restoring")
    shutil.copyfile(backup, beside)
    beside.chmod(0o600)
    try:
        open_store(beside).close()  # a damaged file, or one from the future, is refused before anything is replaced
    except StoreError as error:
        beside.unlink(missing_ok=True)
        raise StoreError(f"{str(backup)!r} is no backup that can be restored: {error}") from error
    kept: Path | None = None
    if store_path.exists():
        with open_store(store_path) as old:
            old.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        kept = _free_name(store_path)
        store_path.rename(kept)
    for rest in ("-wal", "-shm"):
        Path(f"{store_path}{rest}").unlink(missing_ok=True)
        Path(f"{beside}{rest}").unlink(missing_ok=True)
    beside.rename(store_path)
    return kept


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_suffix(f".replaced-{number}.db")).exists():
        number += 1
    return free


def _erase_freed_pages(store: Store) -> None:
    """What was forgotten must not be found in the file's free pages either."""
    if store.path:
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.connection.execute("VACUUM")
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


_TABLES = ("source", "unreadable", "session", "call")
_SHARED = {"request": "trace.requests", "job_run": "trace.runs"}


def export_lines(store: Store, database: Database | None = None) -> Iterator[str]:
    """One line a row, each marked with its schema and table; the database is what machines share, else the store."""
    for table in _TABLES:
        yield from _lines(table, store.each(f"export.{table}"))
    shared: Database = store if database is None else database
    for table, name in _SHARED.items():
        yield from _lines(table, shared.each(name))


def _lines(table: str, rows: Iterable[DatabaseRow]) -> Iterator[str]:
    for row in rows:
        record = {"schema": "seasoned/export/1", "table": table, **dict(row)}
        yield msgspec.json.encode(record).decode() + "\n"
