"""The files to mine: on this machine, or behind any address that fsspec knows (S3, GCS, HDFS, …)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from seasoned.errors import CannotDo, NotFound, SeasonedError, SourceError
from seasoned.history.discover import candidates, may_be_history

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
    """What changes when an object is replaced: each store names it differently."""
    for name in ("ETag", "etag", "md5Hash", "checksum", "LastModified", "last_modified", "mtime", "updated", "created"):
        if entry.get(name):
            return str(entry[name])
    return ""


def as_file(source: SourceFile | str) -> SourceFile:
    """A file by its address alone, for engines that hand over a column of addresses."""
    if isinstance(source, SourceFile):
        return source
    found = [one for one in list_files([source]) if one.address == source or not is_remote(source)]
    if len(found) != 1:
        raise NotFound(f"{source!r} is not one file: give the addresses of files, not of folders.")
    return found[0]


@contextmanager
def local_copy(source: SourceFile) -> Iterator[Path]:
    """A path with the content of a file: the file itself, or a copy that is deleted afterwards."""
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
