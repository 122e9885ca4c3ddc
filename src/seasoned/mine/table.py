"""Arrow tables of mined sessions. The columns have the names of the fields that a scan writes."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from seasoned.project import project_from
from seasoned.scan.rows import CallRow, SessionRows

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}


class FileFacts(msgspec.Struct, frozen=True):
    """What is known about a file that was read; a scan keeps the same with its sources."""

    address: str
    size: int
    mtime_ns: int
    version: str
    format: str
    judge: str
    resume: str | None = None
    check_digest: str | None = None
    stamps: str | None = None
    unreadable: list[tuple[str, str]] = []  # places, and why
    failure: str | None = None  # why the file could not be read at all


class MinedFile(msgspec.Struct, frozen=True):
    """A file and its sessions, in the order in which they were read; a long session has several rows."""

    facts: FileFacts
    rows: list[SessionRows]


def _arrow_type(annotation: Any) -> pa.DataType:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    arguments = [one for one in get_args(annotation) if one is not type(None)]
    if get_origin(annotation) in (Union, types.UnionType):
        return _arrow_type(arguments[0])
    if get_origin(annotation) is tuple:
        return pa.struct([(str(number), _arrow_type(one)) for number, one in enumerate(arguments)])
    assert get_origin(annotation) is list, annotation
    if isinstance(arguments[0], type) and issubclass(arguments[0], msgspec.Struct):
        return pa.list_(pa.struct(_fields(arguments[0])))
    return pa.list_(_arrow_type(arguments[0]))


def _fields(row: type[msgspec.Struct]) -> list[pa.Field]:
    hints = get_type_hints(row)
    return [pa.field(name, _arrow_type(hints[name])) for name in row.__struct_fields__]


_PLACE = [
    pa.field("project", pa.string()),
    pa.field("day", pa.date32()),  # on which the session began, in UTC
    pa.field("source", pa.string()),
    pa.field("row", pa.int64()),  # its place among the rows of its source
]
_SESSION = [one for one in _fields(SessionRows) if one.name != "calls"]
_CALL = _fields(CallRow)
_NESTED = pa.struct(_CALL)
# What `mine_files` returns: a row for each session, with its calls inside; and a row for each file, with `file` alone.
MINED = pa.schema(
    [*_PLACE, *_SESSION, pa.field("calls", pa.list_(_NESTED)), pa.field("file", pa.struct(_fields(FileFacts)))]
)
# The list of files that were mined, with the projects that they have rows in.
FILES = pa.schema(
    [
        *_fields(FileFacts),
        pa.field("rules", pa.string()),  # by which it was read
        pa.field("redaction", pa.string()),  # a digest of the key and the words of the user
        pa.field("projects", pa.list_(pa.string())),
    ]
)
_COPY = pa.field("is_copy", pa.bool_())
SESSIONS = pa.schema([*_PLACE, *_SESSION, pa.field("calls", pa.int64()), _COPY])
CALLS = pa.schema(
    [*_PLACE, pa.field("number", pa.int64()), *[SESSIONS.field(name) for name in ("agent", "native_id")], *_CALL, _COPY]
)
_call_values = msgspec.structs.astuple


def mined_table(files: Iterable[MinedFile]) -> pa.Table:
    """The table of some files."""
    columns: dict[str, list[Any]] = {field.name: [] for field in MINED if field.name not in ("calls", "file")}
    calls: list[CallRow] = []
    ends = [0]
    facts: list[dict[str, Any] | None] = []
    for mined in files:
        places = _places(mined.rows)
        for number, (row, place) in enumerate(zip(mined.rows, places, strict=True)):
            values = (*place, mined.facts.address, number, *[getattr(row, field.name) for field in _SESSION])
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
            calls += row.calls
            ends.append(len(calls))
            facts.append(None)
        for name, column in columns.items():
            column.append(mined.facts.address if name == "source" else None)
        ends.append(len(calls))
        facts.append(_plain_facts(mined.facts))
    nested = pa.StructArray.from_arrays(_call_arrays(calls), fields=_CALL)
    arrays = [_array(column, MINED.field(name).type) for name, column in columns.items()]
    arrays += [pa.ListArray.from_arrays(pa.array(ends, pa.int32()), nested), pa.array(facts, MINED.field("file").type)]
    return pa.Table.from_arrays(arrays, schema=MINED)


def _plain_facts(facts: FileFacts) -> dict[str, Any]:
    return {**msgspec.structs.asdict(facts), "unreadable": [{"0": one, "1": two} for one, two in facts.unreadable]}


def _call_arrays(calls: Sequence[CallRow]) -> list[pa.Array]:
    if not calls:
        return [pa.array([], field.type) for field in _CALL]
    by_column = zip(*map(_call_values, calls), strict=True)
    return [_array(column, field.type) for column, field in zip(by_column, _CALL, strict=True)]


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, kind)
    except UnicodeEncodeError:
        # Half of a surrogate pair, cut by an agent: Arrow keeps valid text only.
        return pa.array([_valid(one) for one in values], kind)


def _valid(value: Any) -> Any:
    if isinstance(value, list):
        return [_valid(one) for one in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


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


def sorted_rows(mined: pa.Table) -> pa.Table:
    """The sessions of a mined table without the rows of files, ordered by source and place in it."""
    sessions = mined.filter(pc.is_valid(mined["native_id"]))
    return sessions.sort_by([("source", "ascending"), ("row", "ascending")]).combine_chunks()


def flat_calls(sessions: pa.Table) -> pa.Table:
    """The calls of sessions, a row for each, in the same order."""
    nested = sessions["calls"].combine_chunks()
    parents = pc.list_parent_indices(nested)
    flat = nested.flatten()
    owner = sessions.select([*[field.name for field in _PLACE], "agent", "native_id"]).take(parents)
    first = pc.cast(pc.take(nested.offsets, parents), pa.int64())
    columns = {field.name: flat.field(at) for at, field in enumerate(_CALL)}
    columns |= {name: owner[name].combine_chunks() for name in owner.column_names}
    names = [name for name in CALLS.names if name != "is_copy"]
    columns["number"] = pc.subtract(pa.array(range(len(parents)), pa.int64()), first)
    return pa.Table.from_arrays([columns[name] for name in names], names=names)


def nested_table(sessions: pa.Table, calls: pa.Table) -> pa.Table:
    """A mined table made again from its sessions and calls; the opposite of `sorted_rows` and `flat_calls`."""
    order = [("source", "ascending"), ("row", "ascending")]
    sessions = sessions.sort_by(order).combine_chunks()
    calls = calls.sort_by([*order, ("number", "ascending")]).combine_chunks()
    ends = pc.cumulative_sum(sessions["calls"].combine_chunks())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cast(ends, pa.int32())])
    arrays = [calls[field.name].combine_chunks() for field in _CALL]
    struct = pa.StructArray.from_arrays(arrays, fields=_CALL)
    columns = [sessions[field.name].combine_chunks() for field in (*_PLACE, *_SESSION)]
    columns += [pa.ListArray.from_arrays(offsets, struct), pa.nulls(len(sessions), MINED.field("file").type)]
    return pa.Table.from_arrays(columns, schema=MINED)


def session_rows(mined: pa.Table) -> Iterator[tuple[str, SessionRows]]:
    """The rows of a mined table as a scan has them, each with its source."""
    names = [name for name in SessionRows.__struct_fields__ if name != "calls"]
    for batch in mined.to_batches(max_chunksize=256):
        for row in batch.to_pylist():
            if row["native_id"] is not None:
                calls = [CallRow(**call) for call in row["calls"]]
                yield row["source"], SessionRows(calls=calls, **{name: row[name] for name in names})
