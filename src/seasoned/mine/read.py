"""Reads the files to mine into one Arrow table: from this machine, or from any fsspec address (S3, GCS, HDFS, …)."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from seasoned.digest import short_digest
from seasoned.errors import CannotDo, NotFound, SeasonedError, SourceError
from seasoned.experience.learner import SessionLearner, learner_rules
from seasoned.history.discover import candidates, may_be_history
from seasoned.mine.table import MINED, FileFacts, MinedFile, mined_table
from seasoned.outcome.verdict import JUDGE
from seasoned.redact.key import Secrecy
from seasoned.scan.file_reader import FileReader
from seasoned.scan.rows import NOT_A_HISTORY, CallRow, FileJob, SessionRows

# Some formats are recognised by the names of the folders around a file, so a local copy keeps the last ones.
_KEPT_FOLDERS = 3


class SourceFile(msgspec.Struct, frozen=True):
    """A file to mine, and what tells its versions apart."""

    address: str  # an absolute path, or an address such as s3://bucket/file.jsonl
    size: int
    mtime_ns: int = 0
    version: str = ""  # of an object, which has no such time


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


def as_file(source: SourceFile | str) -> SourceFile:
    """A file by its address, for engines that pass a column of addresses."""
    if isinstance(source, SourceFile):
        return source
    found = [one for one in list_files([source]) if one.address == source or not is_remote(source)]
    if len(found) != 1:
        raise NotFound(f"{source!r} is not one file: give the addresses of files, not of folders.")
    return found[0]


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


def mine_files(files: Iterable[SourceFile | str], secrecy: Secrecy) -> pa.Table:
    """The sessions of some files with their calls: judged, truncated, redacted, and learned from.

    The same files give the same table, on every machine and in every order of workers. The schema is `table.MINED`.
    """
    return mined_table([_mined(as_file(file), secrecy) for file in files])


@cache
def read_rules() -> str:
    """A digest of the rules by which this version reads, judges and learns, and of the columns that come out."""
    return short_digest(JUDGE, learner_rules(), MINED.to_string())


def _reader(secrecy: Secrecy) -> FileReader:
    """The reader of a scan; it is reused, because making one compiles the redaction rules."""
    known: dict[Secrecy, FileReader] = _own.__dict__.setdefault("readers", {})
    if secrecy not in known:
        known.clear()
        known[secrecy] = FileReader(secrecy.redactor(), "full", SessionLearner())
    return known[secrecy]


def _mined(file: SourceFile, secrecy: Secrecy) -> MinedFile:
    rows: list[SessionRows] = []
    facts = FileFacts(file.address, file.size, file.mtime_ns, file.version, NOT_A_HISTORY, JUDGE)
    with local_copy(file) as path:
        for batch in _reader(secrecy).read(FileJob(str(path), file.size, file.mtime_ns, named=False)):
            rows += [one for one in batch.sessions if one.messages or one.calls]
            facts = msgspec.structs.replace(
                facts,
                format=batch.format,
                resume=batch.resume,
                check_digest=batch.check_digest,
                stamps=batch.stamps,
                unreadable=[*facts.unreadable, *batch.unreadable],
                failure=_named(batch.failure, path, file),
            )
    return MinedFile(facts, _learned_from(rows))


def _named(reason: str | None, path: Path, file: SourceFile) -> str | None:
    """A reason that names the address of a file, and not that of its copy."""
    return None if reason is None else reason.replace(str(path), file.address)


def _learned_from(rows: list[SessionRows]) -> list[SessionRows]:
    """Learn also from sessions that were read in several parts: the last row gets what all of them show."""
    of_session: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(rows):
        of_session.setdefault((row.agent, row.native_id), []).append(at)
    for places in of_session.values():
        if len(places) > 1:
            parts = [rows[at] for at in places]
            known: dict[str, CallRow] = {}
            for call in (call for part in parts for call in part.calls):
                # As the store keeps them: a later row of a call replaces an earlier one, unless it has lost the result.
                if call.result is not None or call.call_id not in known or known[call.call_id].result is None:
                    known[call.call_id] = call
            corrections = [message for part in parts for message in part.corrections]
            whole = msgspec.structs.replace(
                parts[-1], calls=list(known.values()), corrections=corrections, started=parts[0].started
            )
            rows[places[-1]] = msgspec.structs.replace(parts[-1], learned=SessionLearner().learn(whole))
    return rows
