"""Files that are written whole or not at all, whenever the process dies."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

PRIVATE = 0o600
# As the user's own programs make files; the user's mask takes rights away.
ORDINARY = 0o666
_STALE_SECONDS = 3600


def make_private_folder(folder: Path) -> None:
    """The folder, readable by its owner alone where Seasoned makes it."""
    if not folder.is_dir():
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)


def digest(data: str | bytes) -> str:
    """What tells one text from another."""
    return sha256(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data).hexdigest()


def write_atomic(path: Path, data: bytes, *, unfinished: Path, mode: int = PRIVATE) -> None:
    """Write elsewhere, then rename into place. Folders of others never see a file that is not finished."""
    _sweep(unfinished)
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o777
    path.parent.mkdir(parents=True, exist_ok=True)
    made = _write_new(unfinished / _name(path), data, mode)
    try:
        made.replace(path)
    except OSError as error:
        made.unlink()
        if error.errno != errno.EXDEV:
            raise
        # Another disk: only a file beside the target can be renamed into its place.
        made = _write_new(path.with_name(_name(path)), data, mode)
        made.replace(path)
    _sync_folder(path.parent)


def place_folder(folder: Path, files: dict[str, bytes], *, unfinished: Path) -> None:
    """A new folder with its files, there all at once; fails where the name is taken."""
    _sweep(unfinished)
    made = unfinished / _name(folder)
    make_private_folder(unfinished)
    made.mkdir()
    for name, data in files.items():
        _write_new(made / name, data, ORDINARY)
    try:
        move(made, folder)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        raise


def move(path: Path, to: Path) -> None:
    """Move a file or folder to a name that is free, also to another disk."""
    if to.exists() or to.is_symlink():
        raise FileExistsError(errno.EEXIST, "it exists already", str(to))
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(path, to)
    _sync_folder(path.parent)
    _sync_folder(to.parent)


def _write_new(path: Path, data: bytes, mode: int) -> Path:
    make_private_folder(path.parent)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return path


def _name(path: Path) -> str:
    return f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}"


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a loss of power."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _sweep(unfinished: Path) -> None:
    """Remove what killed processes left; younger ones may still be in work."""
    if not unfinished.is_dir():
        return
    for path in unfinished.iterdir():
        with suppress(OSError):
            if path.lstat().st_mtime < time.time() - _STALE_SECONDS:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
