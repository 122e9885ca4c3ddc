"""Ed25519 keys of the people who decide, and their signatures on rows of the audit."""

from __future__ import annotations

from typing import Any, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

# The field of a row's document that holds its signature.
FIELD = "signature"


class Signer(Protocol):
    """What signs a row of the audit for a person."""

    @property
    def public(self) -> str:
        """The public key that the audit knows."""

    def sign(self, data: bytes) -> dict[str, Any]:
        """The signature as it stands in the row, with the public key."""


class SigningKey:
    """A private key in memory. It is never printed, and stored only sealed by a passphrase."""

    __slots__ = ("_private", "public")

    def __init__(self, private: bytes | None = None) -> None:
        self._private = (
            Ed25519PrivateKey.generate() if private is None else Ed25519PrivateKey.from_private_bytes(private)
        )
        # In hex, as it stands in the audit and in exported heads.
        self.public: str = self._private.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:
        return f"SigningKey({self.public[:8]}…)"

    def private_bytes(self) -> bytes:
        """The private half, to be sealed."""
        return self._private.private_bytes_raw()

    def sign(self, data: bytes) -> dict[str, Any]:
        """The signature, with the public key that it can be checked with."""
        return {"key": self.public, "value": self._private.sign(data).hex()}


def signing_key_of(document: dict[str, Any]) -> str | None:
    """The public key that a row says it is signed with; None if it is not signed."""
    found = document.get(FIELD)
    key = found.get("key") if isinstance(found, dict) else None
    return key if isinstance(key, str) else None


def is_signed(document: dict[str, Any], data: bytes) -> bool:
    """Whether the signature in a document is one over these bytes, by the key that it names."""
    found = document.get(FIELD)
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(found["key"]))  # type: ignore[index]
        public.verify(bytes.fromhex(found["value"]), data)  # type: ignore[index]
    except (InvalidSignature, ValueError, TypeError, KeyError):
        return False
    return True
