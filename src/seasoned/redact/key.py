"""The key of the tags: created once, readable only by its owner."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import CannotDo

if TYPE_CHECKING:
    from pathlib import Path

    from seasoned.redact.redactor import Redactor

NAME = "redact.key"
LENGTH = 32
UNFINISHED_SECONDS = 0.5  # what another process needs to write it


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


def load_key(folder: Path, *, name: str = NAME, proposed: bytes | None = None) -> bytes:
    """The key of this folder, created on first use, safe for several processes at once."""
    path = folder / name
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):  # another process was first
            _write(path, proposed or new_key())
    until = time.monotonic() + UNFINISHED_SECONDS
    while len(key := path.read_bytes()) < LENGTH and time.monotonic() < until:
        time.sleep(0.005)
    if len(key) != LENGTH:
        raise CannotDo(
            f"{str(path)!r} has {len(key)} bytes instead of {LENGTH}. Remove it to create a new key "
            "(existing tags will no longer match new ones)"
        )
    return key


def _write(path: Path, key: bytes) -> None:
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
