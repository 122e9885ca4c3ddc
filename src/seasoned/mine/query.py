"""Answers SQL questions about a mined folder with DuckDB, which can read these tables and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds

from seasoned.errors import NotFound, UsageError
from seasoned.mine.folder import MinedFolder
from seasoned.mine.merge import EXAMPLES, MISTAKES
from seasoned.mine.table import CALLS, FILES, SESSIONS

_PARTITIONS = {
    "calls": ("project", "day"),
    "sessions": ("project",),
    "mistakes": ("project",),
    "examples": ("project",),
}
_SCHEMAS = {"calls": CALLS, "sessions": SESSIONS, "mistakes": MISTAKES, "examples": EXAMPLES, "sources": FILES}
# For a store, not for people: what was said and learned in a session, and how to continue reading a file.
_LEFT_OUT = {"sessions": ("said", "learned"), "sources": ("resume", "check_digest", "stamps")}
# Nothing but the tables: no file, no address, no extension, no variable of this process; and that stays so.
_LOCKS = (
    "SET enable_external_access = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)


class QueryAnswer(NamedTuple):
    """The columns of an answer, and its rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool  # there are more rows


@contextmanager
def mined_tables(folder: MinedFolder) -> Iterator[Any]:
    """A connection of DuckDB with the tables of a folder as views; it can write to none of them."""
    import duckdb

    if not folder.names("sources"):
        raise NotFound(f"{folder.address!r} has not been mined into. Run `seasoned mine` first.")
    connection = duckdb.connect(":memory:")
    try:
        for name, schema in _SCHEMAS.items():
            connection.register(f"mined_{name}", _dataset(folder, name, schema))
            left_out = _LEFT_OUT.get(name)
            columns = "*" if left_out is None else f"* EXCLUDE ({', '.join(left_out)})"
            connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM mined_{name}")
        yield connection
    finally:
        connection.close()


def query(folder: MinedFolder, sql: str, *, limit: int | None = None) -> QueryAnswer:
    """The answer to one SELECT over the tables `calls`, `sessions`, `mistakes`, `examples` and `sources`."""
    import duckdb

    with mined_tables(folder) as connection:
        try:
            for lock in _LOCKS:
                connection.execute(lock)
            statements = connection.extract_statements(sql)
            allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
            if len(statements) != 1 or statements[0].type not in allowed:
                raise UsageError("Only one SELECT is answered: the tables cannot be changed.")
            answer = connection.execute(statements[0])
            rows = answer.fetchall() if limit is None else answer.fetchmany(limit + 1)
            names = tuple(column[0] for column in answer.description or ())
            return QueryAnswer(names, rows[:limit], limit is not None and len(rows) > limit)
        except duckdb.Error as error:
            raise UsageError(f"The query failed. {str(error).strip()}") from error


def _dataset(folder: MinedFolder, name: str, schema: pa.Schema) -> Any:
    """The files of a table, with the values that their folders name."""
    partitions = pa.schema([schema.field(one) for one in _PARTITIONS.get(name, ())])
    paths = [f"{folder.root}/{one}" for one in folder.names(name)]
    if not paths:
        return schema.empty_table()
    return ds.dataset(
        paths,
        schema=schema,
        format="parquet",
        filesystem=folder.system,
        partitioning=ds.partitioning(partitions, flavor="hive") if len(partitions) else None,
        partition_base_dir=f"{folder.root}/{name}",
    )
