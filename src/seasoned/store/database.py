"""Opens the store: one file that only its owner can read, write-ahead log, short write transactions."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import Literal
from weakref import finalize

from seasoned.atomic_write import make_private_folder
from seasoned.config import Config
from seasoned.database_file import FileId, connecting, create_private, disconnected
from seasoned.errors import RuleBroken, StoreError
from seasoned.store.interface import Database, Params
from seasoned.store.packed import unpack_text
from seasoned.store.query import positional, query
from seasoned.store.schema import prepare

_BUSY_SECONDS = 30.0
_AGAIN_SECONDS = 0.02
_FAILS = (sqlite3.Error, UnicodeEncodeError)


class Store:
    """A connection to the store. Statements go by name: `store.rows("session.list", {...})`."""

    kind: Literal["sqlite"] = "sqlite"

    def __init__(self, connection: sqlite3.Connection, path: str, file: FileId | None = None) -> None:
        self.connection = connection
        self.path = path
        self._is_together = False
        # Closes a forgotten connection together with the store, and never twice.
        self._end = finalize(self, _close_quietly, connection, file)

    def rows(self, name: str, params: Params = ()) -> list[sqlite3.Row]:
        """All rows of a named query."""
        try:
            return self.connection.execute(query(name), params).fetchall()
        except _FAILS as error:
            raise _error(self.path, error) from error

    def row(self, name: str, params: Params = ()) -> sqlite3.Row | None:
        """The first row of a named query."""
        try:
            found: sqlite3.Row | None = self.connection.execute(query(name), params).fetchone()
        except _FAILS as error:
            raise _error(self.path, error) from error
        return found

    def each(self, name: str, params: Params = ()) -> Generator[sqlite3.Row, None, None]:
        """The rows of a named query one by one, for results of any length."""
        try:
            yield from self.connection.execute(query(name), params)
        except _FAILS as error:
            raise _error(self.path, error) from error

    def run(self, name: str, params: Params = ()) -> int:
        """Run a named statement; returns the number of changed rows."""
        try:
            cursor = self.connection.execute(query(name), params)
            if cursor.description is not None:
                # The count is known only after the last row was fetched.
                cursor.fetchall()
        except _FAILS as error:
            raise _error(self.path, error) from error
        return cursor.rowcount

    def run_many(self, name: str, params: Iterable[Params]) -> None:
        """Run a named statement once for each set of parameters."""
        try:
            self.connection.executemany(query(name), params)
        except _FAILS as error:
            raise _error(self.path, error) from error

    def run_records(self, name: str, owned: Iterable[tuple[int, Iterable[object]]]) -> None:
        """Run a named statement for each record of each owner: its parameters are the owner, then the attributes."""
        names, statement = positional(name)
        # Bound by position, since looking up names for each row takes twice as long.
        values = attrgetter(*names[1:])
        try:
            self.connection.executemany(
                statement, [(owner, *values(record)) for owner, records in owned for record in records]
            )
        except _FAILS as error:
            raise _error(self.path, error) from error

    @contextmanager
    def write(self) -> Iterator[None]:
        """A short write transaction: all or nothing."""
        if self._is_together:
            if not self.connection.in_transaction:
                self._step("BEGIN IMMEDIATE")
            yield
            return
        self._step("BEGIN IMMEDIATE")
        with self._ending():
            yield

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several write transactions as one: every `write` inside joins this one."""
        with self.write(), self._joined():
            yield

    @contextmanager
    def _joined(self) -> Iterator[None]:
        self._is_together = True
        try:
            yield
        finally:
            self._is_together = False

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Keep what was changed inside, or nothing of it after an error."""
        try:
            yield
        except BaseException:
            self._roll_back()
            raise
        try:
            if self.connection.in_transaction:
                self._step("COMMIT")
        except StoreError:
            self._roll_back()
            raise

    def _step(self, statement: str) -> None:
        try:
            self.connection.execute(statement)
        except sqlite3.Error as error:
            raise _error(self.path, error) from error

    def _roll_back(self) -> None:
        # SQLite rolls back by itself after a full disk and similar errors.
        if self.connection.in_transaction:
            self._step("ROLLBACK")

    def close(self) -> None:
        if (open_still := self._end.detach()) is not None:
            _, _, (_, file), _ = open_still
            self.connection.close()
            disconnected(file)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _close_quietly(connection: sqlite3.Connection, file: FileId | None) -> None:
    """Close a connection from any thread; in a foreign thread close() raises, but the connection ends anyway."""
    with suppress(sqlite3.ProgrammingError):
        connection.close()
        disconnected(file)


def open_database(
    config: Config, *, durable: bool = False, by_turns: bool = False, file: Path | None = None
) -> Database:
    """PostgreSQL if configured, else the store in the home folder; a `file` is used instead of both.

    `durable`: a committed change survives a crash of the machine.
    `by_turns`: several threads use it one after the other; otherwise only the thread that opened it may.
    """
    if config.database_url and file is None:
        # Few people use PostgreSQL, and the store must open without psycopg.
        from seasoned.store.postgres import PostgresStore

        return PostgresStore(config.database_url, durable=durable)
    return open_store(file or config.store_path, durable=durable, by_turns=by_turns)


def open_store(path: Path, *, create: bool = True, durable: bool = False, by_turns: bool = False) -> Store:
    """Open the store at this path; created if it does not exist."""
    if not create and not path.exists():
        raise StoreError(f"There is no store at {str(path)!r} yet. Run `seasoned scan` first.")
    try:
        if create:
            make_private_folder(path.parent)
            # Created with its final permissions, so that it is never readable by others.
            create_private(path)
        file = connecting(path)
        connection = _connect(str(path), by_turns=by_turns)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(_sentence(str(path), error)) from error
    try:
        _write_ahead(connection)
        # NORMAL may lose the last changes in a crash of the machine; FULL writes each to disk first.
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute(f"PRAGMA fullfsync = {'ON' if durable else 'OFF'}")
        connection.execute("PRAGMA wal_autocheckpoint = 8000")
        connection.execute("PRAGMA cache_size = -16000")
        prepare(connection, str(path))
    except sqlite3.Error as error:
        connection.close()
        disconnected(file)
        raise StoreError(_sentence(str(path), error)) from error
    except StoreError:
        connection.close()
        disconnected(file)
        raise
    return Store(connection, str(path), file)


def open_temporary() -> Store:
    """A store that disappears when it is closed, for reading a path without keeping anything."""
    connection = _connect("")
    connection.execute("PRAGMA journal_mode = OFF")
    prepare(connection, "temporary store")
    return Store(connection, "")


def _connect(path: str, *, by_turns: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=not by_turns)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    # The schema uses this function; some builds of SQLite let it use none that the program brought.
    connection.execute("PRAGMA trusted_schema = ON")
    connection.create_function("unpacked", 1, unpack_text, deterministic=True)
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. SQLite does not wait for another process that does the same, so retry here."""
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(_AGAIN_SECONDS)
        else:
            return


def _error(path: str, error: Exception) -> StoreError:
    if isinstance(error, sqlite3.IntegrityError):
        return RuleBroken(f"The store {path!r} refused a row: {error}.")
    if isinstance(error, UnicodeEncodeError):
        return StoreError(
            f"The store {path!r} cannot store text that is not valid Unicode: remove the broken characters."
        )
    return StoreError(_sentence(path, error))


def _sentence(path: str, error: Exception) -> str:
    text = str(error).rstrip(".")
    if isinstance(error, OSError):
        text = error.strerror or text
        return (
            f"The store {path!r} cannot be opened ({text}): check the permissions of the folder, or set SEASONED_HOME."
        )
    if "created in a thread" in text:
        return "A connection belongs to the thread that opened it: open another one."
    if "locked" in text or "busy" in text:
        return f"The store {path!r} is locked by another program. Try again later."
    if "malformed" in text or "not a database" in text:
        return f"The store {path!r} is damaged ({text}): restore a backup with `seasoned restore`, or move it away."
    if "no such module" in text:
        return f"This SQLite cannot use the store {path!r} ({text}): run Seasoned with a Python whose SQLite has FTS5."
    if "readonly" in text or "unable to open" in text:
        return f"The store {path!r} cannot be written ({text}): check its permissions, or set SEASONED_HOME."
    if "full" in text:
        return f"The store {path!r} cannot be written ({text}): free some disk space."
    return f"The store {path!r} cannot be used: {text}."


_HIDDEN = "***"
_NAMES = r"(?:ssl)?password"
# Up to the last @ before the end of the path: an unencoded password may contain one.
_IN_ADDRESS = re.compile(r"(?is)(?<=://)([^:@/]*):(.*)@")
_IN_QUERY = re.compile(rf"(?i)([?&]{_NAMES}=)[^&#]*")
_IN_WORDS = re.compile(rf"(?is)(\b{_NAMES}\s*=\s*)(?:'(?:\\.|[^'\\])*'?|(?:\\.|\S)+)")


def without_password(address: str) -> str:
    """Hide the password of `postgresql://u:secret@host/x` or `host=h password=secret`; in doubt hide more."""
    if "://" not in address:
        return _IN_WORDS.sub(rf"\1{_HIDDEN}", address)
    return _IN_QUERY.sub(rf"\1{_HIDDEN}", _IN_ADDRESS.sub(rf"\1:{_HIDDEN}@", address))
