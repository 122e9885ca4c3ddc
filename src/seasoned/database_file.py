"""Touches the files of SQLite databases beside SQLite, without harm to the connections of this process.

POSIX drops every lock that a process holds on a file when the process closes any descriptor of that file. To read the
first bytes of a database and close it again would free what SQLite has locked: another process may then delete the
write-ahead log that is in use, and the database is damaged. So a descriptor is kept while there are connections.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Lock

# The device and the number of a file.
FileId = tuple[int, int]
_lock = Lock()
_connections: Counter[FileId] = Counter()
_kept: dict[FileId, list[int]] = {}
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
            for opened in _kept.pop(file, ()):
                os.close(opened)


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file, which may be a database that is open."""
    with _lock:
        for kept in _kept.get(_id(path.stat()), ()):
            os.lseek(kept, 0, os.SEEK_SET)
            return _read(kept, size)
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return _read(opened, size)
    finally:
        _close(opened)


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read, if there is none."""
    with suppress(FileExistsError):
        _close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _read(opened: int, size: int) -> bytes:
    parts = []
    while size and (part := os.read(opened, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _close(opened: int) -> None:
    file = _id(os.fstat(opened))
    with _lock:
        if _connections[file]:
            _kept.setdefault(file, []).append(opened)
        else:
            os.close(opened)


def _id(stat: os.stat_result) -> FileId:
    return stat.st_dev, stat.st_ino
