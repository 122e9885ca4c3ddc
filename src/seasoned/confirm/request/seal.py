"""Exact arguments at rest: sealed with the service's key until a person has decided.

Whoever runs as the same user can read the key file. Where that matters, the service runs as another user.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from seasoned.errors import CannotDo

NAME = "confirm.key"
LENGTH = 32
_NONCE = 12
_VERSION = b"\x01"


class Seal:
    """Seals bytes to one request, and gives keys of their own to other uses (links, webhooks)."""

    def __init__(self, key: bytes) -> None:
        if len(key) != LENGTH:
            raise CannotDo(f"a service key has {LENGTH} bytes, not {len(key)}")
        self._key = key
        self._cipher = AESGCM(self.derive("details at rest"))

    def __repr__(self) -> str:
        return "Seal(…)"

    def close(self, request_id: str, written: bytes) -> bytes:
        """The bytes, readable only with the key and only as this request's."""
        nonce = os.urandom(_NONCE)
        return _VERSION + nonce + self._cipher.encrypt(nonce, written, request_id.encode())

    def open(self, request_id: str, sealed: bytes) -> bytes:
        """What was sealed; CannotDo where the key is another one, or somebody changed it."""
        nonce, rest = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        try:
            if sealed[:1] != _VERSION:
                raise InvalidTag
            return self._cipher.decrypt(nonce, rest, request_id.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotDo(
                f"the exact arguments of request {request_id!r} cannot be opened: {NAME} is another key than the one "
                "they were sealed with, or they were changed; deny the request and ask again"
            ) from error

    def derive(self, purpose: str) -> bytes:
        """A key for one purpose; it says nothing about the service's key or about other purposes."""
        return HKDF(algorithm=SHA256(), length=LENGTH, salt=None, info=f"seasoned confirm {purpose}".encode()).derive(
            self._key
        )


def load_seal(home: Path) -> Seal:
    """The seal of this home folder; its key is made on first use, once, whoever asks at the same time."""
    path = home / NAME
    try:
        if not path.exists():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise CannotDo(f"{str(path)!r} can be read by others: run `chmod 600` on it, and think of a new key")
        key = path.read_bytes()
    except OSError as error:
        raise CannotDo(
            f"the service's key {str(path)!r} cannot be used ({error.strerror}): check its rights"
        ) from error
    if len(key) != LENGTH:
        raise CannotDo(
            f"{str(path)!r} holds {len(key)} bytes where {LENGTH} belong: restore it, or move it away to have a new "
            "one made (requests that are pending can then only be denied)"
        )
    return Seal(key)


def _make(path: Path) -> None:
    """Write beside and link into place, so that nobody ever reads half a key or replaces one that is there."""
    beside = path.with_name(f"{NAME}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, os.urandom(LENGTH))
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink()
