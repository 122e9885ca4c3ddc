"""The usage journal: one line for each answer, written before its end is passed on, so that a crash loses no tokens.

A line goes to the operating system at once, not to the disk: it survives a crash of the process, not a power failure.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import msgspec

from seasoned.atomic_write import make_private_folder
from seasoned.session import Usage

try:
    import fcntl
except ImportError:  # a system without it: two gateways on one home may read each other's lines, which counts once
    fcntl = None  # type: ignore[assignment]

# The answer came to its end; the upstream broke off; the client went away.
Ended = Literal["complete", "broken", "cancelled"]
FOLDER = "gateway-journal"
_SUFFIX = ".jsonl"
# While lines are added. A file with this suffix that no process has locked was left by one that died.
_OPEN = ".open"
# Until it is locked: an unlocked `.open` file would be taken over at once.
_NEW = ".new"


class UsageEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What one request used. A later entry with the same id replaces it, so nothing is counted twice."""

    id: str
    at: float
    session: str
    purpose: str
    # Empty where the client brought the provider's own key.
    key_name: str
    upstream: str
    api: str
    model: str
    status: int
    ended: Ended
    # None: the provider said nothing, which is not zero.
    usage: Usage | None = None
    raw: dict[str, Any] | None = None
    seconds: float = 0.0


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(UsageEntry).decode


class UsageJournal:
    """One file for each process; files that dead processes left behind are taken over."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._file: int | None = None
        self._path: Path | None = None
        self._left: list[Path] = []
        self._unwritten: list[UsageEntry] = []
        self.unreadable = 0

    def open(self) -> None:
        """Start, and find the files that killed processes left behind."""
        make_private_folder(self._folder.parent)
        make_private_folder(self._folder)
        self._left = [path for path in sorted(self._folder.glob(f"*{_OPEN}")) if not _is_in_use(path)]

    def append(self, entry: UsageEntry) -> None:
        """Write a line. If that fails, the entry is kept in memory and the error raised."""
        line = _encode(entry) + b"\n"
        with self._lock:
            try:
                if self._file is None:
                    self._begin()
                assert self._file is not None
                if os.write(self._file, line) < len(line):
                    raise OSError("the disk took only a part of the line")
            except OSError:
                self._unwritten.append(entry)
                raise

    def take(self) -> Iterator[tuple[Path | None, list[UsageEntry]]]:
        """Each complete file with its entries; call `done` when they are in the store."""
        with self._lock:
            self._end()
            unwritten, self._unwritten = self._unwritten, []
        if unwritten:
            yield None, unwritten
        for path in [*self._left, *sorted(self._folder.glob(f"*{_SUFFIX}"))]:
            yield path, self._read(path)

    def put_back(self, entries: list[UsageEntry]) -> None:
        """Keep entries that could not be written or stored."""
        with self._lock:
            self._unwritten = entries + self._unwritten

    def done(self, path: Path) -> None:
        """Delete a file whose entries are in the store."""
        path.unlink(missing_ok=True)
        self._left = [one for one in self._left if one != path]

    def close(self) -> None:
        with self._lock:
            self._end()

    def _begin(self) -> None:
        path = self._folder / f"{os.getpid()}-{uuid4().hex}{_OPEN}"
        new = path.with_suffix(_NEW)
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            new.rename(path)
        except OSError:
            os.close(file)
            raise
        self._file, self._path = file, path

    def _end(self) -> None:
        if self._file is not None and self._path is not None:
            file, path, self._file, self._path = self._file, self._path, None, None
            try:
                path.rename(path.with_suffix(_SUFFIX))
            finally:
                os.close(file)

    def _read(self, path: Path) -> list[UsageEntry]:
        try:
            lines = path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []  # another gateway stored it
        found = []
        for line in lines:
            if not line:
                continue
            try:
                found.append(_decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError):
                # Only the last line of a process that was killed in the middle of it.
                self.unreadable += 1
        return found


def _is_in_use(path: Path) -> bool:
    if fcntl is None:
        return False
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
