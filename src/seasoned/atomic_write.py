"""Atomic file writes: a file holds its old or its new content, whenever the process dies."""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

PRIVATE = 0o600
# As the user's own programs create files; the umask applies.
ORDINARY = 0o666
# No write takes an hour, so an older temporary file belongs to a process that died.
_STALE_SECONDS = 3600


def make_private_folder(folder: Path) -> None:
    """Create a folder that only its owner can read; one that exists keeps its mode."""
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)


def digest(data: str | bytes) -> str:
    """The SHA-256 of a text or of bytes."""
    from hashlib import sha256  # not at the top: it loads OpenSSL, and hooks need this module

    return sha256(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()


def write_atomic(path: Path, data: bytes, *, unfinished: Path, mode: int = PRIVATE) -> None:
    """Write to a temporary file in `unfinished`, then rename it into place; an existing file keeps its mode.

    The temporary file is elsewhere because other programs read the target folder and would see it there.
    """
    _sweep(unfinished)
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o777
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}"
    made = _write_new(unfinished / temporary, data, mode)
    try:
        made.replace(path)
    except OSError as error:
        made.unlink()
        if error.errno != errno.EXDEV:
            raise
        # On another disk only a file in the same folder can be renamed into place.
        _write_new(path.with_name(temporary), data, mode).replace(path)
    _sync_folder(path.parent)


def move(path: Path, to: Path) -> None:
    """Move a file or folder to an unused path, on this disk or another."""
    if to.exists() or to.is_symlink():
        raise FileExistsError(errno.EEXIST, "it exists already", str(to))
    to.parent.mkdir(parents=True, exist_ok=True)
    import shutil  # not at the top: it is slow to import, and hooks need this module

    shutil.move(path, to)
    _sync_folder(path.parent)
    _sync_folder(to.parent)


def _write_new(path: Path, data: bytes, mode: int) -> Path:
    make_private_folder(path.parent)
    # Created with its final mode: changing it afterwards would leave a moment in which others can read it.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return path


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power loss."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(unfinished: Path) -> None:
    """Remove what killed processes left. Younger files may still be in use by another process."""
    if not unfinished.is_dir():
        return
    for path in unfinished.iterdir():
        with suppress(OSError):
            if path.lstat().st_mtime < time.time() - _STALE_SECONDS:
                if path.is_dir() and not path.is_symlink():
                    _remove_folder(path)
                else:
                    path.unlink()


def _remove_folder(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
