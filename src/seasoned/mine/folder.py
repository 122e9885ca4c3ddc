"""The folder that is mined into: Parquet by project and day, on this machine or at an fsspec address.

Each file of a history has its own files there, named by a digest of its address. Equal rows give equal bytes.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from seasoned.atomic_write import make_private_folder
from seasoned.digest import short_digest
from seasoned.errors import CannotDo
from seasoned.mine.read import file_system
from seasoned.mine.table import SOURCES, MinedTables

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

    def clear(self) -> None:
        """Remove everything that was mined."""
        for name in ("sources", *MinedTables._fields):
            self.remove(name)

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

    def refs(self) -> Iterator[tuple[str, str]]:
        """The agent and id of every session."""
        for name in self.names("sessions"):
            table = self.read(name)
            yield from zip(table["agent"].to_pylist(), table["native_id"].to_pylist(), strict=True)

    def forget(self, refs: Collection[tuple[str, str]]) -> None:
        """Remove the rows of these sessions."""
        for kind in MinedTables._fields:
            for name in self.names(kind):
                table = self.read(name)
                left = without_sessions(table, refs)
                if not len(left):
                    self.remove(name)
                elif len(left) < len(table):
                    self.write(name, left)


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
