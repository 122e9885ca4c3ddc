"""Seals the key of a person by a passphrase: argon2id makes the key that encrypts it, and nothing else opens it."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode

from argon2 import PasswordHasher, Type, extract_parameters
from argon2.exceptions import Argon2Error
from argon2.low_level import hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from seasoned.confirm.audit.signature import SigningKey
from seasoned.errors import UsageError

LEAST_CHARACTERS = 12
HASHER = PasswordHasher()
_SALT = 16
_NONCE = 12


def seal_key(key: SigningKey, passphrase: str, *, hasher: PasswordHasher = HASHER) -> str:
    """The key, encrypted. Written as argon2 writes hashes: the parameters and the salt stand before the ciphertext."""
    check_passphrase(passphrase)
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    header = f"$argon2id$v=19${cost}${_encode(salt)}"
    cipher = AESGCM(_derive(header, passphrase, salt))
    # The public key is authenticated with it, so that a sealed key cannot be moved to another person.
    return f"{header}${_encode(nonce + cipher.encrypt(nonce, key.private_bytes(), key.public.encode()))}"


def open_key(sealed: str, passphrase: str, *, public: str) -> SigningKey | None:
    """The key, if the passphrase is right and the sealed key is the one of this public key."""
    try:
        header, _, body = sealed.rpartition("$")
        data, salt = b64decode(body, validate=True), b64decode(header.rpartition("$")[2], validate=True)
        cipher = AESGCM(_derive(header, passphrase, salt))
        key = SigningKey(cipher.decrypt(data[:_NONCE], data[_NONCE:], public.encode()))
    except (InvalidTag, Argon2Error, ValueError):
        return None
    return key if key.public == public else None


def check_passphrase(passphrase: str) -> None:
    """Raise for a passphrase that is too weak."""
    if len(passphrase) < LEAST_CHARACTERS or len(set(passphrase)) < 5:
        raise UsageError(
            f"a passphrase needs at least {LEAST_CHARACTERS} characters, and more than a few different ones: "
            "use four or more words"
        )
    try:
        passphrase.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("the passphrase contains a lone surrogate: type it again") from error


def _derive(header: str, passphrase: str, salt: bytes) -> bytes:
    # The library reads parameters from a complete hash only.
    cost = extract_parameters(f"{header}${_encode(bytes(32))}")
    return hash_secret_raw(
        # A lone surrogate makes a wrong passphrase, not an error.
        passphrase.encode("utf-8", "surrogatepass"),
        salt,
        time_cost=cost.time_cost,
        memory_cost=cost.memory_cost,
        parallelism=cost.parallelism,
        hash_len=32,
        type=Type.ID,
    )


def _encode(data: bytes) -> str:
    return b64encode(data).decode()
