"""Reads the files to mine into Arrow tables: from this machine, or from any fsspec address (S3, GCS, HDFS, …)."""

from __future__ import annotations

import tempfile
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa

from seasoned.digest import short_digest
from seasoned.errors import CannotDo, NotFound, SeasonedError, SourceError
from seasoned.history.discover import candidates, may_be_history
from seasoned.outcome.verdict import JUDGE
from seasoned.project import project_from
from seasoned.redact.key import Secrecy
from seasoned.scan.file_reader import FileReader
from seasoned.scan.rows import NOT_A_HISTORY, CallRow, FileJob, SessionRows

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.binary()}
# For a store and its search: not for questions about many sessions.
_LEFT_OUT = ("usage_events", "calls", "corrections", "first_message", "said", "rules", "learned")


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


def mined_tables(file: SourceFile, rows: Sequence[SessionRows]) -> MinedTables:
    """The tables of a file, from its rows. The same file gives the same tables on every machine."""
    sessions: list[tuple[Any, ...]] = []
    calls: list[tuple[Any, ...]] = []
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


# Some formats are recognised by the names of the folders around a file, so a local copy keeps the last ones.
_KEPT_FOLDERS = 3


def is_remote(address: str) -> bool:
    """Whether an address is for fsspec, rather than a path of this machine."""
    return "://" in address


def file_system(address: str) -> tuple[Any, str]:
    """The fsspec file system of an address, and the path in it."""
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        # fsspec names the package that a protocol needs, such as s3fs.
        raise CannotDo(f"{address!r} cannot be opened: {error}") from error
    return system, str(path)


def list_files(
    addresses: Iterable[str], pass_over: Callable[[str, SeasonedError], None] | None = None
) -> list[SourceFile]:
    """Every file under the addresses that could be a history, each once, in the order of their addresses."""
    found: dict[str, SourceFile] = {}
    local = []
    for address in addresses:
        if is_remote(address) and not address.startswith(("file://", "local://")):
            found |= {one.address: one for one in _remote(address)}
        else:
            local.append(Path(file_system(address)[1] if is_remote(address) else address))
    for one in candidates(local, pass_over=pass_over):
        found[one.path] = SourceFile(one.path, one.size, one.mtime_ns)
    return [found[address] for address in sorted(found)]


def _remote(address: str) -> Iterator[SourceFile]:
    system, root = file_system(address)
    try:
        info = system.info(root)
        is_folder = info["type"] == "directory"
        entries = system.find(root, detail=True) if is_folder else {root: info}
    except FileNotFoundError:
        raise NotFound(f"{address!r} does not exist: check the address.") from None
    except OSError as error:
        raise SourceError(f"{address!r} cannot be read: {error}.") from error
    for path, entry in entries.items():
        if not is_folder or may_be_history(path[len(root) :]):
            yield SourceFile(system.unstrip_protocol(path), entry["size"], version=_version(entry))


def _version(entry: dict[str, Any]) -> str:
    """The version of an object; each store names it differently."""
    for name in ("ETag", "etag", "md5Hash", "checksum", "LastModified", "last_modified", "mtime", "updated", "created"):
        if entry.get(name):
            return str(entry[name])
    return ""


@contextmanager
def local_copy(source: SourceFile) -> Iterator[Path]:
    """A local path with the content of a file: the file itself, or a copy that is deleted afterwards."""
    if not is_remote(source.address):
        yield Path(source.address)
        return
    system, path = file_system(source.address)
    with tempfile.TemporaryDirectory(prefix="seasoned-mine-") as folder:
        # Names from a bucket may be anything: `..` must not lead out of the folder.
        parts = [part for part in path.split("/") if part not in ("", ".", "..")]
        copy = Path(folder, *parts[-_KEPT_FOLDERS - 1 :])
        copy.parent.mkdir(parents=True, exist_ok=True)
        system.get_file(path, str(copy))
        yield copy


# A reader caches what it redacted last, so each thread of a worker has its own.
_own = threading.local()


class ReadFile(NamedTuple):
    """The sessions of a file, in the order in which they were read."""

    format: str
    rows: list[SessionRows]
    unreadable: int  # records
    failure: str | None  # why the file could not be read at all


def read_file(file: SourceFile, secrecy: Secrecy) -> ReadFile:
    """The sessions of one file."""
    rows: list[SessionRows] = []
    form, unreadable, failure = NOT_A_HISTORY, 0, None
    with local_copy(file) as path:
        for batch in _reader(secrecy).read(FileJob(str(path), file.size, file.mtime_ns, named=False)):
            rows += [one for one in batch.sessions if one.messages or one.calls]
            form, unreadable, failure = batch.format, unreadable + len(batch.unreadable), batch.failure
        # A reason names the address of the file, and not that of its copy.
        return ReadFile(form, rows, unreadable, failure and failure.replace(str(path), file.address))


def manner_of(secrecy: Secrecy) -> str:
    """A digest of what decides how a file is read, apart from the file: rules, columns, and the redaction."""
    return short_digest(JUDGE, SESSIONS.to_string(), CALLS.to_string(), secrecy.key.hex(), *secrecy.own)


def _reader(secrecy: Secrecy) -> FileReader:
    """The reader of a scan; it is reused, because making one compiles the redaction rules."""
    known: dict[Secrecy, FileReader] = _own.__dict__.setdefault("readers", {})
    if secrecy not in known:
        known.clear()
        known[secrecy] = FileReader(secrecy.redactor())
    return known[secrecy]
