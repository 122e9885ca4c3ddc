"""Locks between processes and threads. The system frees a lock when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from seasoned.atomic_write import make_private_folder
from seasoned.errors import CannotDo

# Neither system can wait for a lock with a time limit, so it is tried again and again.
_POLL_SECONDS = 0.003


@contextmanager
def locked(path: Path, *, wait_seconds: float = 30.0, shared: bool = False) -> Iterator[None]:
    """Hold the lock file at this path; CannotDo if another holder keeps it longer than `wait_seconds`.

    `shared`: beside others that hold it so. Windows has no such locks; there, it holds nothing.
    """
    try:
        make_private_folder(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise CannotDo(f"The lock {str(path)!r} cannot be opened: {error.strerror or error}.") from error
    try:
        until = time.monotonic() + wait_seconds
        while not _take(handle, shared):
            if time.monotonic() >= until:
                raise CannotDo(f"{str(path)!r} is held by another program. Try again later.")
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            _give_back(handle)
    finally:
        # The file stays: removing it would let a third process lock a new file of the same name.
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int, shared: bool) -> bool:
        if shared:
            return True
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _give_back(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        # One that was held as shared is not locked.
        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _take(handle: int, shared: bool) -> bool:
        try:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _give_back(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
