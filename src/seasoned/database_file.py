"""Reads the bytes of SQLite databases beside SQLite, without harm to the connections of this process.

POSIX drops every lock that a process holds on a file when the process closes any descriptor of that file. To read the
first bytes of a database and close it again would free what SQLite has locked: another process may then delete the
write-ahead log that is in use, and the database is damaged. The connection may be ours, or that of a program we run
inside of, such as Hermes. So the descriptors of databases stay open.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from contextlib import suppress
from pathlib import Path
from threading import Lock

# The device and the number of a file.
FileId = tuple[int, int]
_SQLITE = b"SQLite format 3\x00"
# Few people have more databases than this. Those of which this module knows no connection are closed then.
_MOST_KEPT = 64
# Windows has other locks, and cannot delete or rename a file that is open.
_KEEPS = os.name == "posix"
_lock = Lock()
_connections: Counter[FileId] = Counter()
# The descriptors of each database, the one read last at the end.
_kept: OrderedDict[FileId, list[int]] = OrderedDict()
if hasattr(os, "register_at_fork"):
    # A fork must not begin with a lock that a thread of its origin holds.
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def connecting(path: str | Path) -> FileId | None:
    """Must be called before SQLite opens an existing file; give the result to `disconnected`."""
    try:
        file = _id(Path(path).stat())
    except OSError:
        return None
    with _lock:
        _connections[file] += 1
    return file


def disconnected(file: FileId | None) -> None:
    """Must be called after SQLite has closed the file."""
    if file is None:
        return
    with _lock:
        _connections[file] -= 1
        if _connections[file] <= 0:
            del _connections[file]


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file, which may be a database that is open."""
    with _lock:
        file = _id(path.stat())
        if file in _kept:
            _kept.move_to_end(file)
            kept = _kept[file][0]
            os.lseek(kept, 0, os.SEEK_SET)
            return _read(kept, size)
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    head = b""
    try:
        head = _read(opened, size)
        return head
    finally:
        _close(opened, is_database=head.startswith(_SQLITE))


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read, if there is none."""
    with suppress(FileExistsError):
        # Whoever connects to it before it is closed here is known by then.
        _close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), is_database=False)


def _read(opened: int, size: int) -> bytes:
    parts = []
    while size and (part := os.read(opened, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _close(opened: int, *, is_database: bool) -> None:
    file = _id(os.fstat(opened))
    with _lock:
        if not _KEEPS or not (is_database or _connections[file]):
            os.close(opened)
            return
        _kept.setdefault(file, []).append(opened)
        for old in [one for one in _kept if not _connections[one]][: max(0, len(_kept) - _MOST_KEPT)]:
            for each in _kept.pop(old):
                os.close(each)


def _id(stat: os.stat_result) -> FileId:
    return stat.st_dev, stat.st_ino
