"""The key of the tags: made once, kept where only its owner can read it."""

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
    """What a redactor is made of: the key of its tags and the user's own list. Cheap to hand to another process."""

    key: bytes
    own: tuple[str, ...] = ()

    def redactor(self) -> Redactor:
        """The redactor; its rules are imported now, which a scan that finds nothing new never needs."""
        from seasoned.redact.redactor import Redactor

        return Redactor(self.key, self.own)


def new_key() -> bytes:
    """A key that nobody has yet."""
    return os.urandom(LENGTH)


def load_key(folder: Path, *, proposed: bytes | None = None) -> bytes:
    """The key of this folder, made on first use; several processes may ask at once and get the same."""
    path = folder / NAME
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make(path, proposed or new_key())
    key = path.read_bytes()
    if len(key) != LENGTH:
        raise CannotDo(
            f"{str(path)!r} holds {len(key)} bytes where {LENGTH} belong; remove it to have a new key made "
            "(tags written before will no longer match new ones)"
        )
    return key


def _make(path: Path, key: bytes) -> None:
    """Write beside and link into place, so that nobody ever reads half a key."""
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
        # A file system without hard links: exclusive creation decides who is first.
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
