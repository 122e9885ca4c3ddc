"""Arrow tables of mined sessions and calls. The columns have the names of the fields that a scan writes."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa

from seasoned.project import project_from
from seasoned.scan.rows import CallRow, SessionRows

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}
# For a store and its search: not for questions about many sessions.
_LEFT_OUT = ("calls", "corrections", "marks", "first_message", "said", "learned")


class SourceFile(msgspec.Struct, frozen=True):
    """A file to mine, and what tells its versions apart."""

    address: str  # an absolute path, or an address such as s3://bucket/file.jsonl
    size: int
    mtime_ns: int = 0
    version: str = ""  # of an object, which has no such time


class MinedTables(NamedTuple):
    """What some files hold."""

    sessions: pa.Table
    calls: pa.Table


def _arrow_type(annotation: Any) -> pa.DataType:
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = [one for one in get_args(annotation) if one is not type(None)]
    return _PLAIN[annotation]


def _fields(row: type[msgspec.Struct]) -> list[pa.Field]:
    hints = get_type_hints(row)
    return [pa.field(name, _arrow_type(hints[name])) for name in row.__struct_fields__ if name not in _LEFT_OUT]


_PLACE = [
    pa.field("project", pa.string()),
    pa.field("day", pa.date32()),  # on which the session began, in UTC
    pa.field("source", pa.string()),
    pa.field("row", pa.int64()),  # its place among the rows of its source; a long session has several
]
_SESSION, _CALL = _fields(SessionRows), _fields(CallRow)
SESSIONS = pa.schema([*_PLACE, *_SESSION, pa.field("calls", pa.int64())])
CALLS = pa.schema([*_PLACE, pa.field("agent", pa.string()), pa.field("native_id", pa.string()), *_CALL])
SOURCES = pa.schema(
    [
        *_fields(SourceFile),
        pa.field("format", pa.string()),
        pa.field("unreadable", pa.int64()),  # records
        pa.field("manner", pa.string()),  # a digest of the rules and the redaction by which it was read
        pa.field("files", pa.list_(pa.string())),  # of the folder, that hold its rows
    ]
)


def mined_tables(found: Sequence[tuple[SourceFile, Sequence[SessionRows]]]) -> MinedTables:
    """The tables of some files, from their rows."""
    sessions: list[tuple[Any, ...]] = []
    calls: list[tuple[Any, ...]] = []
    for file, rows in found:
        for number, (row, (project, day)) in enumerate(zip(rows, _places(rows), strict=True)):
            place = (project, day, file.address, number)
            sessions.append((*place, *[getattr(row, field.name) for field in _SESSION], len(row.calls)))
            calls += [(*place, row.agent, row.native_id, *msgspec.structs.astuple(call)) for call in row.calls]
    return MinedTables(_table(sessions, SESSIONS), _table(calls, CALLS))


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    if not rows:
        return schema.empty_table()
    columns = zip(*rows, strict=True)
    return pa.table([_array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # Half of a surrogate pair, cut by an agent: Arrow keeps valid text only.
        return pa.array([None if one is None else one.encode("utf-8", "replace").decode() for one in values], kind)


def _places(rows: Sequence[SessionRows]) -> Iterator[tuple[str | None, date | None]]:
    """The project and the day of each row; all rows of a session are where its first one is."""
    known: dict[tuple[str, str], tuple[str | None, date | None]] = {}
    for row in rows:
        ref = row.agent, row.native_id
        if ref not in known:
            # By what the history recorded, not by what this machine has in that folder: all workers must agree.
            project = project_from(row.cwd, None, remote=row.remote, application=row.application)
            known[ref] = None if project is None else project.key, _day(row.started or row.ended)
        yield known[ref]


def _day(time: float | None) -> date | None:
    try:
        return None if time is None else datetime.fromtimestamp(time, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None  # a time that no calendar has
