"""Encrypts the exact arguments of a request with the service's key until a person has decided.

A program of the same user can read the key file. Where that matters, run the service as another user.
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
# AES-256 with GCM's usual nonce. The version byte leaves the way open to another scheme.
LENGTH = 32
_NONCE = 12
_VERSION = b"\x01"


class Seal:
    """Encrypts bytes for one request, and derives the keys that it needs for that."""

    def __init__(self, key: bytes) -> None:
        if len(key) != LENGTH:
            raise CannotDo(f"a service key must have {LENGTH} bytes, not {len(key)}")
        self._key = key
        self._cipher = AESGCM(self.derive("details at rest"))

    def __repr__(self) -> str:
        return "Seal(…)"

    def close(self, request_id: str, written: bytes) -> bytes:
        """Encrypt bytes; they can be read only with the key, and only as part of this request."""
        nonce = os.urandom(_NONCE)
        # The id is authenticated too: encrypted details cannot be moved to another request.
        return _VERSION + nonce + self._cipher.encrypt(nonce, written, request_id.encode())

    def open(self, request_id: str, sealed: bytes) -> bytes:
        """Decrypt; CannotDo if the key is a different one or the bytes were changed."""
        nonce, rest = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        try:
            if sealed[:1] != _VERSION:
                raise InvalidTag
            return self._cipher.decrypt(nonce, rest, request_id.encode())
        except (InvalidTag, ValueError) as error:
            raise CannotDo(
                f"the exact arguments of request {request_id!r} cannot be decrypted: {NAME} is not the key they were "
                "encrypted with, or they were changed; deny the request and ask again"
            ) from error

    def derive(self, purpose: str) -> bytes:
        """A key for one purpose; it reveals neither the service's key nor other derived ones."""
        return HKDF(algorithm=SHA256(), length=LENGTH, salt=None, info=f"seasoned confirm {purpose}".encode()).derive(
            self._key
        )


def load_seal(home: Path) -> Seal:
    """The seal of this home folder. The key is created on first use, once, even by processes that start together."""
    path = home / NAME
    try:
        if not path.exists():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise CannotDo(f"{str(path)!r} can be read by other users: run `chmod 600` on it, and consider a new key")
        key = path.read_bytes()
    except OSError as error:
        raise CannotDo(
            f"the service's key {str(path)!r} cannot be used ({error.strerror}): check its permissions"
        ) from error
    if len(key) != LENGTH:
        raise CannotDo(
            f"{str(path)!r} has {len(key)} bytes instead of {LENGTH}: restore it, or move it away to create a new "
            "one (pending requests can then only be denied)"
        )
    return Seal(key)


def _make(path: Path) -> None:
    """Write a temporary file and link it, so that half a key is never read and an existing one never replaced."""
    temporary = path.with_name(f"{NAME}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, os.urandom(LENGTH))
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(temporary, path)
    # Another process was first, and its key counts.
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
