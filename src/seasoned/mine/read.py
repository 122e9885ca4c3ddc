"""Reads the files to mine into Arrow tables: from this machine, or from any fsspec address (S3, GCS, HDFS, …)."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from seasoned.digest import short_digest
from seasoned.errors import CannotDo, NotFound, SeasonedError, SourceError
from seasoned.history.discover import candidates, may_be_history
from seasoned.mine.table import CALLS, SESSIONS, MinedTables, SourceFile, mined_tables
from seasoned.outcome.verdict import JUDGE
from seasoned.redact.key import Secrecy
from seasoned.scan.file_reader import FileReader
from seasoned.scan.rows import NOT_A_HISTORY, FileJob, SessionRows

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


class ReadFile(msgspec.Struct, frozen=True):
    """A file that was read, and its sessions in the order in which they were read."""

    file: SourceFile
    format: str
    rows: list[SessionRows]
    unreadable: int  # records
    failure: str | None = None  # why the file could not be read at all


def mine_files(files: Iterable[SourceFile], secrecy: Secrecy) -> MinedTables:
    """The sessions of some files and their calls: judged, truncated and redacted.

    The same files give the same tables, on every machine and in every order of workers.
    """
    return mined_tables([(file, read_file(file, secrecy).rows) for file in files])


def read_file(file: SourceFile, secrecy: Secrecy) -> ReadFile:
    """The sessions of one file."""
    rows: list[SessionRows] = []
    form, unreadable, failure = NOT_A_HISTORY, 0, None
    with local_copy(file) as path:
        for batch in _reader(secrecy).read(FileJob(str(path), file.size, file.mtime_ns, named=False)):
            rows += [one for one in batch.sessions if one.messages or one.calls]
            form, unreadable, failure = batch.format, unreadable + len(batch.unreadable), batch.failure
        # A reason names the address of the file, and not that of its copy.
        return ReadFile(file, form, rows, unreadable, failure and failure.replace(str(path), file.address))


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
