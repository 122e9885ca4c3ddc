"""Mines files into a folder: reads those that are new or changed, each by itself, on any engine.

Nothing is lost if it stops: a file counts as mined once its rows are written, and the next run continues.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import date
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from seasoned.atomic_write import make_private_folder
from seasoned.digest import short_digest
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.mine.read import (
    CALLS,
    SESSIONS,
    SOURCES,
    MinedTables,
    SourceFile,
    file_system,
    manner_of,
    mined_tables,
    read_file,
)
from seasoned.redact.key import Secrecy
from seasoned.scan.rows import NOT_A_HISTORY

_SOURCES = "sources/sources.parquet"
# How Hive, Spark, DuckDB and Arrow write a missing value of a partition.
_NONE = "__HIVE_DEFAULT_PARTITION__"
_MOST_NAME = 200  # file systems end at 255 bytes
_UNFINISHED = ".unfinished"


def partition(name: str, value: str | date | None) -> str:
    """The folder of a value, as Hive names it."""
    quoted = _NONE if value is None else quote(str(value), safe="")
    if len(quoted) > _MOST_NAME:
        # Cut between characters, and made unique by a digest.
        quoted = quote(unquote(quoted[:_MOST_NAME], errors="ignore"), safe="") + "~" + short_digest(str(value))
    return f"{name}={quoted}"


class MinedFolder:
    """Reads and writes the files of a mined folder."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.system, root = file_system(address)
        self.root = root.rstrip("/")
        self._is_local = "file" in (self.system.protocol if isinstance(self.system.protocol, tuple) else ())

    def names(self, folder: str) -> list[str]:
        """The files below a folder, by their names inside the root, in order."""
        # Other machines write here too, and fsspec would remember what it saw.
        self.system.invalidate_cache()
        try:
            found = self.system.find(f"{self.root}/{folder}")
        except FileNotFoundError:
            return []
        names = [str(path)[len(self.root) + 1 :] for path in sorted(found)]
        return [name for name in names if not name.endswith(_UNFINISHED)]

    def remove(self, name: str) -> None:
        """Remove a file or folder, if it is there."""
        try:
            self.system.rm(f"{self.root}/{name}", recursive=True)
        except FileNotFoundError:
            return

    def read(self, name: str) -> pa.Table:
        """The table in a file, without the columns that its folders name."""
        try:
            return pq.ParquetFile(pa.BufferReader(self.system.cat_file(f"{self.root}/{name}"))).read()
        except pa.ArrowInvalid as error:
            place = f"{self.address}/{name}"
            raise CannotDo(f"{place!r} is not valid Parquet: {error}. Remove the folder and mine again.") from error

    def write(self, name: str, table: pa.Table) -> None:
        """Write a file atomically: others see the old content or the new one."""
        out = io.BytesIO()
        # Spelled out: a default that changes would change every byte.
        pq.write_table(table.combine_chunks(), out, version="2.6", compression="zstd", compression_level=3)
        path = f"{self.root}/{name}"
        if not self._is_local:
            self.system.pipe_file(path, out.getvalue())
            return
        make_private_folder(Path(path).parent)
        folder, _, last = path.rpartition("/")
        # Hidden, so that no reader of the folder meets it.
        unfinished = Path(folder) / f".{last}.{os.urandom(6).hex()}{_UNFINISHED}"
        unfinished.write_bytes(out.getvalue())
        unfinished.replace(path)

    def sources(self) -> list[dict[str, Any]]:
        """The files that were mined."""
        return [] if _SOURCES not in self.names("sources") else list(self.read(_SOURCES).to_pylist())

    def write_sources(self, rows: list[dict[str, Any]]) -> None:
        """Replace the list of files that were mined."""
        self.write(_SOURCES, pa.Table.from_pylist(sorted(rows, key=lambda row: str(row["address"])), schema=SOURCES))

    def write_tables(self, address: str, tables: MinedTables) -> list[str]:
        """Write the rows of one file of a history; returns the names of the files that hold them."""
        names = []
        for kind, table in tables._asdict().items():
            for project, day, rows in _partitions(table):
                folder = f"{kind}/{partition('project', project)}/{partition('day', day)}"
                names.append(f"{folder}/{short_digest(address, size=12)}.parquet")
                self.write(names[-1], rows.drop_columns(["project", "day"]))
        return names


def without_sessions(table: pa.Table, refs: Collection[tuple[str, str]]) -> pa.Table:
    """The rows of all other sessions."""
    found = zip(table["agent"].to_pylist(), table["native_id"].to_pylist(), strict=True)
    return table.filter(pa.array([ref not in refs for ref in found], pa.bool_()))


def _partitions(table: pa.Table) -> Iterator[tuple[str | None, date | None, pa.Table]]:
    pairs = set(zip(table["project"].to_pylist(), table["day"].to_pylist(), strict=True))
    for project, day in sorted(pairs, key=lambda pair: (pair[0] or "", str(pair[1]))):
        chosen = pc.and_(_equals(table["project"], project), _equals(table["day"], day))
        yield project, day, table.filter(chosen)


def _equals(column: pa.ChunkedArray, value: str | date | None) -> pa.ChunkedArray:
    return pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), False)


Progress = Callable[[int, int], None]


class MineTask(msgspec.Struct, frozen=True):
    """What is the same for every file of a run."""

    out: str
    secrecy: Secrecy
    forgotten: frozenset[tuple[str, str]]  # sessions that are left out, by agent and id


class MinedFile(msgspec.Struct, frozen=True):
    """A file of a history that was mined, or why it was not."""

    file: SourceFile
    format: str = NOT_A_HISTORY
    unreadable: int = 0
    sessions: int = 0
    calls: int = 0
    names: list[str] = []  # the files of the folder that hold its rows
    failure: str | None = None


class MineReport(msgspec.Struct, frozen=True):
    """What mining did."""

    files: int
    read: int
    unchanged: int
    no_history: int
    sessions: int
    calls: int
    unreadable: int
    failures: tuple[tuple[str, str], ...]  # files that could not be read, and why
    bytes: int
    seconds: float


def mine_into(task: MineTask, file: SourceFile) -> MinedFile:
    """Read a file and write its rows. Runs in workers."""
    try:
        found = read_file(file, task.secrecy)
        if found.failure is not None:
            return MinedFile(file, failure=found.failure)
        tables = mined_tables(file, found.rows)
        if task.forgotten:
            tables = MinedTables(*[without_sessions(one, task.forgotten) for one in tables])
        names = MinedFolder(task.out).write_tables(file.address, tables)
        return MinedFile(file, found.format, found.unreadable, len(tables.sessions), len(tables.calls), names)
    except Exception as error:  # noqa: BLE001 - one file: whatever breaks it, the others go on
        return MinedFile(file, failure=f"{type(error).__name__}: {error}")


def mine(
    files: Sequence[SourceFile],
    out: str,
    secrecy: Secrecy,
    engine: Engine,
    *,
    forgotten: Collection[tuple[str, str]] = (),
    progress: Progress = lambda done, total: None,
) -> MineReport:
    """Bring a folder up to date with the files. Files that are gone keep their rows."""
    begun = time.perf_counter()
    folder = MinedFolder(out)
    manner = manner_of(secrecy)
    known = {row["address"]: row for row in folder.sources()}
    fields = SourceFile.__struct_fields__
    current = {SourceFile(*[row[name] for name in fields]) for row in known.values() if row["manner"] == manner}
    new = [one for one in files if one not in current]
    total, done = sum(one.size for one in new), 0
    found: list[MinedFile] = []
    try:
        for one in engine.run(partial(mine_into, MineTask(out, secrecy, frozenset(forgotten))), new):
            found.append(one)
            done += one.file.size
            progress(done, total)
            if one.failure is None:
                earlier = known.get(one.file.address, {}).get("files", ())
                for name in set(earlier) - set(one.names):
                    folder.remove(name)
                about = {"format": one.format, "unreadable": one.unreadable, "manner": manner, "files": one.names}
                known[one.file.address] = {**msgspec.structs.asdict(one.file), **about}
    finally:
        # Also if it is interrupted: the next run goes on from here.
        if any(one.failure is None for one in found):
            folder.write_sources(list(known.values()))
    read = [one for one in found if one.failure is None]
    return MineReport(
        files=len(files),
        read=sum(one.format != NOT_A_HISTORY for one in read),
        unchanged=len(files) - len(new),
        no_history=sum(one.format == NOT_A_HISTORY for one in read),
        sessions=sum(one.sessions for one in read),
        calls=sum(one.calls for one in read),
        unreadable=sum(one.unreadable for one in read),
        failures=tuple(sorted((one.file.address, one.failure) for one in found if one.failure is not None)),
        bytes=total,
        seconds=time.perf_counter() - begun,
    )


EngineName = Literal["inline", "pool", "dask"]
_CONNECT_SECONDS = 30
_RETRIES = 2  # of a task whose worker was lost
_BATCHES_EACH = 16  # for each worker, so that none finishes much later than the others
# An engine takes up to 12 ms to hand out a task and take its value back, which is as long as reading a usual file.
_MOST_TOGETHER = 64
_CONTINUE = "What was mined is kept: run the same command again to continue."

T = TypeVar("T")
R = TypeVar("R")


class Engine(NamedTuple):
    """Where tasks run."""

    name: EngineName = "pool"
    workers: int = 1
    scheduler: str | None = None  # of Dask; None: a cluster on this machine

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """The value of each task, in the order in which they end. A task may run twice, with the same effect."""
        if self.name == "inline" or not tasks:
            return map(function, tasks)
        return self._on_dask(function, tasks) if self.name == "dask" else self._in_pool(function, tasks)

    def _in_pool(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        # A fork of this process would copy the threads of Arrow in an undefined state.
        context = get_context("spawn" if sys.platform == "win32" else "forkserver")
        with ProcessPoolExecutor(self.workers, mp_context=context) as pool:
            try:
                for values in pool.map(partial(_each, function), _batches(tasks, self.workers)):
                    yield from values
            except BrokenProcessPool as error:
                raise CannotDo(f"A worker process died. {_CONTINUE}") from error

    def _on_dask(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        from distributed import Client, KilledWorker, LocalCluster, as_completed

        cluster = None
        if self.scheduler is None:
            cluster = LocalCluster(n_workers=self.workers, threads_per_worker=1, dashboard_address="127.0.0.1:0")
        try:
            client = Client(cluster or self.scheduler, set_as_default=False, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise CannotDo(f"The Dask scheduler at {self.scheduler!r} does not answer: {error}.") from error
        try:
            workers = len(client.nthreads())
            if not workers:
                address = self.scheduler
                raise CannotDo(f"The Dask scheduler at {address!r} has no workers. Start one: `dask worker {address}`.")
            futures = client.map(partial(_each, function), _batches(tasks, workers), pure=False, retries=_RETRIES)
            for _, values in as_completed(futures, with_results=True, loop=client.loop):
                yield from values
        except KilledWorker as error:
            raise CannotDo(f"Dask lost the workers of a task again and again: {error}. {_CONTINUE}") from error
        finally:
            client.close()
            if cluster is not None:
                cluster.close()


def _batches(tasks: Sequence[T], workers: int) -> list[Sequence[T]]:
    """The tasks in parts that are handed out together."""
    size = min(max(1, len(tasks) // (workers * _BATCHES_EACH)), _MOST_TOGETHER)
    return [tasks[at : at + size] for at in range(0, len(tasks), size)]


def _each(function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
    return [function(one) for one in tasks]


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
