"""The folder that is mined into: Parquet by project and day, on this machine or at an fsspec address.

Equal rows give equal bytes: rows are sorted, the writer's settings are fixed, and names come from the content.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from datetime import date
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seasoned.atomic_write import make_private_folder
from seasoned.digest import short_digest
from seasoned.errors import CannotDo
from seasoned.mine.merge import ProjectTables
from seasoned.mine.read import file_system
from seasoned.mine.table import CALLS, FILES, SESSIONS, nested_table

PARTS = "_parts"  # what was read and not merged yet; Parquet readers ignore names that begin with an underscore
_SOURCES = "sources/sources.parquet"
_FORGOTTEN = "_forgotten.json"
# How Hive, Spark, DuckDB and Arrow write a missing value of a partition.
_NONE = "__HIVE_DEFAULT_PARTITION__"
_MOST_NAME = 200  # file systems end at 255 bytes
_ROW_GROUP = 65_536
_UNFINISHED = ".unfinished"


def partition(name: str, value: str | None) -> str:
    """The folder of a value, as Hive names it."""
    quoted = _NONE if value is None else quote(value, safe="")
    if len(quoted) > _MOST_NAME:
        # Cut between characters, and made unique by a digest.
        quoted = quote(unquote(quoted[:_MOST_NAME], errors="ignore"), safe="") + "~" + short_digest(value or "")
    return f"{name}={quoted}"


class MinedFolder:
    """Reads and writes the files of a mined folder."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.system, root = file_system(address)
        self.root = root.rstrip("/")
        self._is_local = "file" in (self.system.protocol if isinstance(self.system.protocol, tuple) else ())

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it does not exist."""
        try:
            content: bytes = self.system.cat_file(f"{self.root}/{name}")
        except FileNotFoundError:
            return None
        return content

    def clear(self) -> None:
        """Remove everything that was mined."""
        for name in ("sources", *ProjectTables._fields, PARTS, _FORGOTTEN):
            self.remove(name)

    def write(self, name: str, content: bytes) -> None:
        """Write a file atomically: others see the old content or the new one."""
        path = f"{self.root}/{name}"
        if not self._is_local:
            self.system.pipe_file(path, content)
            return
        make_private_folder(Path(path).parent)
        # Two workers may write the same file if one of them was slow; they write the same bytes.
        folder, _, last = path.rpartition("/")
        # Hidden, so that no reader of the folder meets it.
        unfinished = Path(folder) / f".{last}.{os.urandom(6).hex()}{_UNFINISHED}"
        unfinished.write_bytes(content)
        unfinished.replace(path)

    def names(self, folder: str, *, unfinished: bool = False) -> list[str]:
        """The files below a folder, by their names inside the root, in order; `unfinished` ones if asked for."""
        # Other machines write here too, and fsspec would remember what it saw.
        self.system.invalidate_cache()
        try:
            found = self.system.find(f"{self.root}/{folder}")
        except FileNotFoundError:
            return []
        start = len(self.root) + 1
        names = [str(path)[start:] for path in sorted(found)]
        return [name for name in names if unfinished or not name.endswith(_UNFINISHED)]

    def remove(self, name: str) -> None:
        """Remove a file or folder, if it is there."""
        try:
            self.system.rm(f"{self.root}/{name}", recursive=True)
        except FileNotFoundError:
            return

    def sync(self) -> None:
        """Have everything on disk before what counts on it is written. Once is much quicker than for each file."""
        if self._is_local and hasattr(os, "sync"):
            os.sync()

    # -- tables -------------------------------------------------------------------------------------------------------

    def sources(self) -> pa.Table:
        """The files that were mined."""
        return self._table(_SOURCES, FILES)

    def write_sources(self, sources: pa.Table) -> None:
        """Replace the list of files that were mined."""
        self.write(_SOURCES, _parquet(sources.sort_by("address")))

    def forgotten(self) -> frozenset[str]:
        """Digests of the sessions that were forgotten."""
        content = self.read(_FORGOTTEN)
        return frozenset() if content is None else msgspec.json.decode(content, type=frozenset[str])

    def write_forgotten(self, digests: Iterable[str]) -> None:
        """Replace the list of forgotten sessions."""
        self.write(_FORGOTTEN, msgspec.json.encode(sorted(digests)))

    def project(self, project: str | None) -> pa.Table:
        """What is known of a project, as a mined table."""
        place = partition("project", project)
        sessions = self.sessions(project)
        days = [self._table(name, CALLS, project=project, day=_day(name)) for name in self.names(f"calls/{place}")]
        return nested_table(sessions, pa.concat_tables([CALLS.empty_table(), *days]))

    def sessions(self, project: str | None) -> pa.Table:
        """The sessions of a project."""
        return self._table(f"sessions/{partition('project', project)}/sessions.parquet", SESSIONS, project=project)

    def sessions_digest(self, project: str | None) -> str:
        """Changes whenever a session of the project does."""
        content = self.read(f"sessions/{partition('project', project)}/sessions.parquet")
        return "" if content is None else blake2b(content, digest_size=16).hexdigest()

    def write_project(self, project: str | None, tables: ProjectTables) -> int:
        """Write the files of a project that changed, and remove those that have no rows; returns how many changed."""
        place = partition("project", project)
        wanted = {
            f"{name}/{place}/{name}.parquet": table.drop_columns(["project"])
            for name, table in tables._asdict().items()
            if name != "calls" and len(table)
        }
        for day, rows in _by_day(tables.calls):
            wanted[f"calls/{place}/{partition('day', day)}/calls.parquet"] = rows.drop_columns(["project", "day"])
        changed = 0
        for name, table in wanted.items():
            content = _parquet(table)
            if self.read(name) != content:
                self.write(name, content)
                changed += 1
        for kind in tables._fields:
            for name in self.names(f"{kind}/{place}", unfinished=True):
                if name not in wanted:
                    self.remove(name)
                    changed += 1
        return changed

    def _table(self, name: str, schema: pa.Schema, **constants: str | date | None) -> pa.Table:
        content = self.read(name)
        if content is None:
            return schema.empty_table()
        try:
            table = pq.ParquetFile(pa.BufferReader(content)).read()
        except pa.ArrowInvalid as error:
            place = f"{self.address}/{name}"
            raise CannotDo(f"{place!r} is not valid Parquet: {error}. Remove the folder and mine again.") from error
        for field in schema:
            if field.name not in table.column_names:
                value = pa.scalar(constants.get(field.name), field.type)
                table = table.append_column(field, pa.repeat(value, len(table)))
        return table.select(schema.names).cast(schema)


def _day(name: str) -> date | None:
    """The day in the name of a file of calls."""
    value = name.split("/")[2].partition("=")[2]
    return None if value == _NONE else date.fromisoformat(value)


def _by_day(calls: pa.Table) -> Iterator[tuple[str | None, pa.Table]]:
    """The calls of each day, in their order."""
    for day in pc.unique(calls["day"]).to_pylist():
        is_day = pc.is_null(calls["day"]) if day is None else pc.equal(calls["day"], day)
        yield None if day is None else day.isoformat(), calls.filter(is_day)


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    # Spelled out: a default that changes would change every byte.
    pq.write_table(
        table.combine_chunks(),
        out,
        row_group_size=_ROW_GROUP,
        version="2.6",
        compression="zstd",
        compression_level=3,
        use_dictionary=True,
        write_statistics=True,
        data_page_version="1.0",
        store_schema=True,
    )
    return out.getvalue()


def encode_part(table: pa.Table) -> bytes:
    """A table as bytes, quick to write and to read again."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    return out.getvalue()


def decode_part(content: bytes) -> pa.Table:
    """The table that `encode_part` wrote."""
    return pa.ipc.open_stream(pa.BufferReader(content)).read_all()
