"""Opens another program's SQLite database without changing it or creating files beside it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from seasoned.database_file import connecting, disconnected, read_head
from seasoned.errors import SourceError

if TYPE_CHECKING:
    from seasoned.history.builder import SessionBuilder
    from seasoned.history.formats import Sample
    from seasoned.session import Session

# Agents write briefly; a longer wait would only delay the report that it is locked.
_BUSY_SECONDS = 2.0
# Parts of SQLite's messages about damaged files.
_DAMAGE = ("malformed", "not a database", "disk image", "unrecognized token")


@contextmanager
def open_readonly(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection. SourceError says why it cannot be opened."""
    file = connecting(path)
    try:
        with _at_rest(path) as (where, options), closing(_connect(where, options)) as connection:
            # SQLite reads the file only now, so a damaged or locked one fails here and not within a reader.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            yield connection
    except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:
        raise SourceError(_sentence(path, error)) from error
    except OSError as error:
        raise SourceError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    finally:
        disconnected(file)


def columns_of(connection: sqlite3.Connection, table: str) -> set[str]:
    """The names of a table's columns; empty if there is no such table."""
    return {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}


def tables_of(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """The tables of a database, each with the names of its columns."""
    rows = connection.execute(
        "SELECT m.name, p.name FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table'"
    )
    found: dict[str, set[str]] = {}
    for table, column in rows:
        found.setdefault(str(table), set()).add(str(column))
    return {table: frozenset(columns) for table, columns in found.items()}


def require_tables(connection: sqlite3.Connection, path: Path, agent: str, needed: Mapping[str, Set[str]]) -> None:
    """Raise SourceError if it is not a database of this agent: the file may have changed since it was recognised."""
    known = tables_of(connection)
    if not all(columns <= known.get(table, set()) for table, columns in needed.items()):
        raise SourceError(f"{str(path)!r} is not a database of {agent}: its tables are missing.")


class SessionDatabase(NamedTuple):
    """A database in which an agent keeps many sessions: how it is recognised and read."""

    agent: str  # its name in messages
    tables: Mapping[str, Set[str]]  # the tables and columns that it must have
    stamp_query: str  # the id of each session and the values that change with it
    session_query: str  # a row for each session, with its `id`, oldest first
    build: Callable[[sqlite3.Connection, Path, dict[str, Any]], SessionBuilder | None]  # None: leave the session out

    def recognises(self, sample: Sample) -> bool:
        """Whether a file is such a database."""
        return sample.has_tables(self.tables)

    def stamps(self, path: Path) -> dict[str, str]:
        """A stamp for each session that changes with it, so that a rescan reads only what is new."""
        with open_readonly(path) as connection:
            return {str(row[0]): ".".join(map(str, row[1:])) for row in connection.execute(self.stamp_query)}

    def read(self, path: Path, only: Collection[str] | None = None) -> Iterator[Session]:
        """Every session of the database, oldest first; `only` selects sessions by id."""
        with open_readonly(path) as connection:
            require_tables(connection, path, self.agent, self.tables)
            for row in connection.execute(self.session_query):
                if only is None or str(row["id"]) in only:
                    builder = self.build(connection, path, dict(row))
                    if builder is not None:
                        yield builder.take()


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    # Histories contain anything an agent read: broken characters are replaced.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


@contextmanager
def _at_rest(path: Path) -> Iterator[tuple[Path, str]]:
    """Where to open it and how: with a write-ahead log but no index SQLite would create files, so a copy is used."""
    header = read_head(path, 20)
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    # Bytes 18 and 19 of the header are 2 when the database uses a write-ahead log.
    if header[18:20] != b"\x02\x02":
        yield path, "mode=ro"
    elif not log.exists() or log.stat().st_size == 0:
        yield path, "mode=ro&immutable=1"
    elif index.exists():
        yield path, "mode=ro"
    else:
        with tempfile.TemporaryDirectory(prefix="seasoned-") as folder:
            copy = Path(folder) / "copy.db"
            shutil.copyfile(path, copy)
            shutil.copyfile(log, f"{copy}-wal")
            yield copy, "mode=rw"


def _sentence(path: Path, error: Exception) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return f"{str(path)!r} is locked by another program: close it, or try again when it has finished writing."
    if not isinstance(error, sqlite3.DatabaseError) or any(sign in text for sign in _DAMAGE):
        return f"{str(path)!r} is damaged ({text}): restore it from a backup, or run its own program's repair."
    return f"{str(path)!r} cannot be read: {text}."
