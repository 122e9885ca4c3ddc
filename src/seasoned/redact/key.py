"""The key of the tags: created once, readable only by its owner."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import CannotDo

if TYPE_CHECKING:
    from pathlib import Path

    from seasoned.redact.redactor import Redactor

NAME = "redact.key"
LENGTH = 32


class Secrecy(msgspec.Struct, frozen=True):
    """The key and the user's own list, from which a redactor is made. Cheap to send to another process."""

    key: bytes
    own: tuple[str, ...] = ()

    def redactor(self) -> Redactor:
        """Make the redactor. Imports its rules, which a scan that finds nothing new does not need."""
        from seasoned.redact.redactor import Redactor

        return Redactor(self.key, self.own)


def new_key() -> bytes:
    """A new random key."""
    return os.urandom(LENGTH)


def load_key(folder: Path, *, proposed: bytes | None = None) -> bytes:
    """The key of this folder, created on first use, safe for several processes at once."""
    path = folder / NAME
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make(path, proposed or new_key())
    key = path.read_bytes()
    if len(key) != LENGTH:
        raise CannotDo(
            f"{str(path)!r} has {len(key)} bytes instead of {LENGTH}. Remove it to create a new key "
            "(existing tags will no longer match new ones)"
        )
    return key


def _make(path: Path, key: bytes) -> None:
    """Write a temporary file and link it into place, so that no process reads half a key."""
    beside = path.with_name(f"{NAME}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, key)
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    except OSError:
        # Without hard links, exclusive creation decides which process is first.
        _copy_exclusive(beside, path)
    finally:
        beside.unlink()


def _copy_exclusive(beside: Path, path: Path) -> None:
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return
    try:
        os.write(handle, beside.read_bytes())
    finally:
        os.close(handle)
