"""PostgreSQL: one connection that reconnects after a loss, but never inside a transaction."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Literal
from weakref import finalize

from seasoned.errors import RuleBroken, StoreError, Unsure
from seasoned.store.interface import Params
from seasoned.store.query import postgres_query, table_script
from seasoned.store.schema import POSTGRES, VERSION, OlderStore

if TYPE_CHECKING:
    from psycopg import Connection, Cursor
    from psycopg.abc import Buffer
    from psycopg.adapt import Loader

_LOCK = 0x5EA50EED  # the advisory lock that all processes take before they write the tables


def prepare(connection: Connection[Any], place: str) -> None:
    """Write the tables into a new database. One of another version is refused."""
    # The role may lack the right to create tables, so do nothing if they are there.
    if _version(connection, place) == VERSION:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        # Another process may have written them while this one waited for the lock. Only making a table looks again: the
        # first look is remembered until the end of this transaction.
        connection.execute(
            "CREATE TABLE IF NOT EXISTS seasoned_migration "
            "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, done_at TIMESTAMPTZ NOT NULL DEFAULT now())"
        )
        if connection.execute("SELECT 1 FROM seasoned_migration").fetchone() is not None:
            return
        for file in POSTGRES:
            # Without parameters one call may hold many statements.
            connection.execute(table_script(file).encode())
        connection.execute("INSERT INTO seasoned_migration (number, name) VALUES (%s, 'schema')", [VERSION])


def _version(connection: Connection[Any], place: str) -> int:
    """The version of the tables; 0 if there are none."""
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
    if version < VERSION:
        raise OlderStore(
            f"The database {place!r} was written by an earlier Seasoned (version {version}, this one has {VERSION}): "
            "point SEASONED_DATABASE_URL at a new, empty one. Nothing is carried over: the old one keeps its audit, "
            "which is proven by the rows as they are."
        )
    return version


_DEFAULTS = {
    "application_name": "seasoned",
    "connect_timeout": "10",
    # Notices a machine that disappeared within about a minute instead of hours.
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
# Give up waiting for a lock as with SQLite, and end transactions that sleep and block others.
_SESSION = "SET client_encoding = 'UTF8'; SET lock_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'"
_SECRETS = ("password", "sslpassword")
_NO_ADDRESS = "SEASONED_DATABASE_URL is not a valid database address. Write postgresql://user:password@host:5432/name."
_UNKNOWN = "it is unknown whether the change was saved, so check before you repeat it"


class PostgresStore:
    """A connection to PostgreSQL. Like one to SQLite it belongs to the thread that opened it."""

    kind: Literal["postgres"] = "postgres"

    def __init__(self, url: str, *, durable: bool = False) -> None:
        self.place, self._options = _read_url(url)
        self._is_durable = durable
        self._is_writing = False
        self._owner = _caller()
        self._cursors = count(1)
        self._connection: Connection[dict[str, Any]] = self._connect()
        self._end = finalize(self, _close, self._connection, self._owner)
        try:
            with self._errors():
                prepare(self._connection, self.place)
        except BaseException:
            self._end()
            raise

    def rows(self, name: str, params: Params = ()) -> list[dict[str, Any]]:
        """All rows of a named query."""
        with self._errors():
            return self._execute(name, params).fetchall()

    def row(self, name: str, params: Params = ()) -> dict[str, Any] | None:
        """The first row of a named query."""
        with self._errors():
            return self._execute(name, params).fetchone()

    def each(self, name: str, params: Params = ()) -> Iterator[dict[str, Any]]:
        """The rows of a named query one by one, through a cursor on the server."""
        with self._errors():
            connection = self._connected()
            # WITH HOLD: the caller may write between two rows.
            cursor = connection.cursor(f"each_{next(self._cursors)}", withhold=not self._is_writing)
            cursor.execute(postgres_query(name), _values(params))
        try:
            while True:
                with self._errors():
                    found = cursor.fetchmany(500)
                if not found:
                    return
                yield from found
        finally:
            with self._errors():
                cursor.close()

    def run(self, name: str, params: Params = ()) -> int:
        """Run a named statement; returns the number of changed rows."""
        with self._errors():
            return self._execute(name, params).rowcount

    def run_many(self, name: str, params: Iterable[Params]) -> None:
        """Run a named statement once for each set of parameters."""
        with self._errors():
            cursor = self._connected().cursor()
            cursor.executemany(postgres_query(name), [_values(one) for one in params])

    @contextmanager
    def write(self) -> Iterator[None]:
        """A short write transaction: all or nothing."""
        if self._is_writing:
            raise StoreError("A write transaction cannot begin inside another one: end the first one before.")
        with self._errors():
            self._connected().execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        self._is_writing = True
        try:
            try:
                yield
            except BaseException:
                self._roll_back()
                raise
            self._commit()
        finally:
            self._is_writing = False

    def close(self) -> None:
        self._end()

    def __enter__(self) -> PostgresStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _execute(self, name: str, params: Params) -> Cursor[dict[str, Any]]:
        return self._connected().execute(postgres_query(name), _values(params))

    def _commit(self) -> None:
        from psycopg import Error
        from psycopg.pq import TransactionStatus

        if self._connection.info.transaction_status != TransactionStatus.INTRANS:
            # The server would silently turn this COMMIT into a rollback.
            self._roll_back()
            raise StoreError("An error inside the write transaction was ignored: nothing was saved.")
        try:
            self._connection.execute("COMMIT")
        except Error as error:
            if self._connection.closed:
                sentence = f"The connection to {self.place!r} was lost while a change was being saved: {_UNKNOWN}."
                raise Unsure(sentence) from None
            raise StoreError(_sentence(self.place, error)) from None

    def _roll_back(self) -> None:
        from psycopg import Error

        try:
            self._connection.execute("ROLLBACK")
        except Error:
            # The server rolls back when the connection is lost.
            self._connection.close()

    def _connected(self) -> Connection[dict[str, Any]]:
        if _caller() != self._owner:
            raise StoreError("A connection belongs to the thread that opened it: open another one with open_database.")
        if not self._end.alive:
            raise StoreError("This connection was closed: open another one with open_database.")
        if self._connection.closed:
            if self._is_writing:
                raise StoreError(f"The connection to {self.place!r} was lost in this transaction: nothing was saved.")
            connection = self._connect()
            self._end.detach()
            self._connection = connection
            self._end = finalize(self, _close, connection, self._owner)
        return self._connection

    def _connect(self) -> Connection[dict[str, Any]]:
        import psycopg
        from psycopg.rows import dict_row

        try:
            connection = psycopg.connect(**self._options, autocommit=True, row_factory=dict_row)  # type: ignore[arg-type]
        except psycopg.Error as error:
            reason = _masked(_first_line(error), self._options)
            raise StoreError(
                f"The database {self.place!r} cannot be reached ({reason}): "
                "start it, or correct or unset SEASONED_DATABASE_URL."
            ) from None
        connection.adapters.register_loader("numeric", _number_loader())
        try:
            with self._errors():
                connection.execute(_SESSION)
                if self._is_durable:
                    _make_durable(connection)
        except StoreError:
            connection.close()
            raise
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert an error of PostgreSQL; without its details, which may quote a row."""
        import psycopg

        try:
            yield
        except (psycopg.IntegrityError, psycopg.errors.RaiseException) as error:
            raise RuleBroken(f"The database {self.place!r} refused a row: {_first_line(error)}.") from None
        except (psycopg.Error, UnicodeEncodeError) as error:
            raise StoreError(_sentence(self.place, error)) from None


def _caller() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


def _close(connection: Connection[Any], owner: tuple[int, int]) -> None:
    # A forked process shares the socket with its parent and must not close the session.
    if os.getpid() == owner[0]:
        connection.close()


def _read_url(url: str) -> tuple[str, dict[str, str]]:
    """The name of the database for messages, and its connection options."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise StoreError(
            "SEASONED_DATABASE_URL needs psycopg, which is not installed. Run: pip install 'seasoned[postgres]'"
        ) from error
    try:
        options = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except ProgrammingError:
        # The message of the parser would quote the address with its password.
        raise StoreError(_NO_ADDRESS) from None
    if any("@" in options.get(name, "") for name in ("host", "port", "dbname")):
        # An unencoded @ in the password: its end would be taken for the host name.
        raise StoreError(f"{_NO_ADDRESS} Write a character like @ or / in the password as %40 or %2F.")
    host = options.get("host") or options.get("hostaddr") or "localhost"
    name = options.get("dbname") or options.get("user") or ""
    return f"{host}/{name}", {**_DEFAULTS, **options}


def _make_durable(connection: Connection[dict[str, Any]]) -> None:
    """Make sure that a committed change survives a crash of the server."""
    row = connection.execute("SHOW synchronous_commit").fetchone()
    if row is None or row["synchronous_commit"] == "off":
        connection.execute("SET synchronous_commit = on")


def _values(params: Params) -> Mapping[str, Any]:
    """Booleans as numbers, as SQLite stores them."""
    if not params:
        return {}
    if not isinstance(params, Mapping):
        raise StoreError("A query that runs on PostgreSQL takes named parameters: pass a mapping.")
    return {name: int(value) if isinstance(value, bool) else value for name, value in params.items()}


def _number_loader() -> type[Loader]:
    """Loads numerics as SQLite does: whole numbers as int, others as float."""
    from psycopg.adapt import Loader

    class NumberLoader(Loader):
        def load(self, data: Buffer) -> int | float:
            text = bytes(data)
            return int(text) if text.lstrip(b"-").isdigit() else float(text)

    return NumberLoader


def _sentence(place: str, error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return f"The database {place!r} cannot store text that is not valid Unicode: remove the broken characters."
    state = getattr(error, "sqlstate", None) or ""
    reason = _first_line(error)
    if state.startswith(("57P", "08", "25P03")) or (not state and _is_lost(error)):
        return f"The connection to the database {place!r} was lost ({reason}): try again, or check that it is running."
    if state in ("55P03", "40P01", "57014"):
        return f"The database {place!r} is locked by another program. Try again later."
    if state in ("42501", "25006"):
        return f"The database {place!r} cannot be written ({reason}): check the permissions of its user."
    if state.startswith("53"):
        return f"The database {place!r} cannot be written ({reason}): free some disk space on its server."
    return f"The database {place!r} cannot be used: {reason}."


def _is_lost(error: Exception) -> bool:
    from psycopg import OperationalError

    return isinstance(error, OperationalError)


def _first_line(error: Exception) -> str:
    """The message alone: details quote rows, and hints are for administrators."""
    diagnosis = getattr(error, "diag", None)
    text = (diagnosis.message_primary if diagnosis else None) or str(error).strip().partition("\n")[0]
    return text.strip().rstrip(".")


def _masked(text: str, options: Mapping[str, str]) -> str:
    for name in _SECRETS:
        if secret := options.get(name):
            text = text.replace(secret, "***")
    return text
