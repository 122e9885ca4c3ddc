"""SQL questions about a mined folder, with DuckDB, which can read its tables and nothing else."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds

from seasoned.errors import NotFound, UsageError
from seasoned.mine.folder import MinedFolder
from seasoned.mine.table import CALLS, SESSIONS, SOURCES

_PARTITIONS = ("project", "day")
_SCHEMAS = {"calls": CALLS, "sessions": SESSIONS, "sources": SOURCES}
# What several files hold counts once: of a session the row that knows most of its messages, of a call the one with a
# result. A call whose id is unique everywhere belongs to the session that began first, as in a store.
_VIEWS = (
    """
    CREATE VIEW sessions AS SELECT * FROM mined_sessions QUALIFY row_number() OVER (
        PARTITION BY agent, native_id ORDER BY messages DESC, source, "row" DESC) = 1
    """,
    """
    CREATE VIEW calls AS SELECT * FROM mined_calls QUALIFY row_number() OVER (
        PARTITION BY call_id, CASE WHEN unique_id = 1 THEN '' ELSE agent || ':' || native_id END
        ORDER BY day, native_id, result IS NULL, source, "row" DESC) = 1
    """,
    "CREATE VIEW sources AS SELECT * FROM mined_sources",
)
# Only the tables: no files, addresses, extensions or variables of this process; and the settings are locked.
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


def query(folder: MinedFolder, sql: str, *, limit: int | None = None) -> QueryAnswer:
    """The answer to one SELECT over the tables `calls`, `sessions` and `sources`."""
    import duckdb

    if not folder.names("sources"):
        raise NotFound(f"{folder.address!r} has not been mined into. Run `seasoned mine` first.")
    connection = duckdb.connect(":memory:")
    try:
        for name, schema in _SCHEMAS.items():
            connection.register(f"mined_{name}", _dataset(folder, name, schema))
        for statement in (*_VIEWS, *_LOCKS):
            connection.execute(statement)
        statements = connection.extract_statements(sql)
        allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
        if len(statements) != 1 or statements[0].type not in allowed:
            raise UsageError("Only a single SELECT is allowed. The tables are read-only.")
        answer = connection.execute(statements[0])
        rows = answer.fetchall() if limit is None else answer.fetchmany(limit + 1)
        names = tuple(column[0] for column in answer.description or ())
        return QueryAnswer(names, rows[:limit], limit is not None and len(rows) > limit)
    except duckdb.Error as error:
        raise UsageError(f"The query failed. {str(error).strip()}") from error
    finally:
        connection.close()


def _dataset(folder: MinedFolder, name: str, schema: pa.Schema) -> Any:
    """The files of a table, with the values that their folders name."""
    paths = [f"{folder.root}/{one}" for one in folder.names(name)]
    if not paths:
        return schema.empty_table()
    if name == "sources":
        return folder.read("sources/sources.parquet")
    return ds.dataset(
        paths,
        schema=schema,
        format="parquet",
        filesystem=folder.system,
        partitioning=ds.partitioning(pa.schema([schema.field(one) for one in _PARTITIONS]), flavor="hive"),
        partition_base_dir=f"{folder.root}/{name}",
    )
