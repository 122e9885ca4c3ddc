"""Identifies a person by a passphrase, which opens their signing key and is stored nowhere.

An agent of the same user can run the same commands and read the same files, but does not know the passphrase. It can
guess for as long as it likes against the sealed key, so the passphrase must be long.
"""

from __future__ import annotations

import os
import secrets
from base64 import b64decode, b64encode
from functools import cache

from argon2 import PasswordHasher, Type, extract_parameters
from argon2.exceptions import Argon2Error
from argon2.low_level import hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from seasoned.confirm.audit.chain import SigningKey, writing
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.people.credential import (
    TERMINAL,
    Credential,
    Proof,
    SealedKey,
    UnlockedCredential,
    current,
    from_row,
)
from seasoned.errors import Refused, Unauthorised, UsageError
from seasoned.store import Database

LEAST_CHARACTERS = 12
HASHER = PasswordHasher()
_SALT = 16
_NONCE = 12


def seal_key(key: SigningKey, passphrase: str, *, hasher: PasswordHasher = HASHER) -> str:
    """The key, encrypted. Written as argon2 writes hashes: the parameters and the salt come before the ciphertext."""
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


def new_key(passphrase: str, *, hasher: PasswordHasher = HASHER) -> tuple[SigningKey, SealedKey]:
    """A new key, and how it is stored. Slow on purpose, so call it before a transaction."""
    check_passphrase(passphrase)
    key = SigningKey()
    return key, SealedKey(key.public, seal_key(key, passphrase, hasher=hasher))


def set_passphrase(
    database: Database,
    who: Credential,
    passphrase: str,
    *,
    by: UnlockedCredential | None,
    now: float,
    hasher: PasswordHasher = HASHER,
) -> UnlockedCredential:
    """Set or change the passphrase of a person who decides.

    `by` is that person, unlocked with the old passphrase, and keeps the key; or an admin, and the person gets a new
    key. A token is not enough. None only works as long as no admin has a key.
    """
    if who.role == "agent":
        raise Refused(f"{who.name!r} is an agent's credential: only approvers and admins have a passphrase")
    check_passphrase(passphrase)
    if by is not None and by.id == who.id:
        key = by.key
        stored = SealedKey(key.public, seal_key(key, passphrase, hasher=hasher))
    else:
        key, stored = new_key(passphrase, hasher=hasher)
    with writing(database) as chain:
        found = current(database, who)
        state = RecordedState(database).update()
        if by is None:
            if state.signed_since is not None:
                raise Refused(f"to set a new passphrase for {found.name!r}, use the old one or an admin's")
            proof = Proof(found.name, key)
        else:
            if by.id != found.id and current(database, by).role != "admin":
                raise Refused(f"{by.name!r} is not an admin, and cannot set the passphrase of {found.name!r}")
            check_key(state, by)
            proof = Proof(by.name, by.key)
        database.run("confirm.set_key", {"id": found.id, "public_key": stored.public, "sealed_key": stored.sealed})
        proof.record(chain, "passphrase_set", {"name": found.name, "public": stored.public}, at=now)
    return unlocked(found, key)


def check_key(state: RecordedState, who: UnlockedCredential) -> None:
    """Raise unless the audit says that this key belongs to the person."""
    known = state.people.get(who.name)
    recorded = state.keys.get(who.key.public)
    if known is None or recorded is None or recorded.name != who.name or recorded.until is not None:
        raise Refused(
            f"the key of {who.name!r} is not the one in the audit: it was changed outside the service; run "
            "`seasoned confirm verify`"
        )
    if (known.role, known.person, known.is_revoked) != (who.role, who.person, False):
        raise Refused(f"{who.name!r} was changed outside the service: run `seasoned confirm verify`")


def authenticate_passphrase(
    database: Database, name: str, passphrase: str, *, now: float, hasher: PasswordHasher = HASHER
) -> UnlockedCredential:
    """The person with this name, if the passphrase is right; otherwise Unauthorised, and the attempt is audited."""
    row = None
    if name.isascii() and "\0" not in name:
        row = database.row("confirm.credential_named", {"name": name})
    has_key = row is not None and row["public_key"] is not None
    # An unknown name takes as long as a wrong passphrase, so that timing does not reveal which names exist.
    stored = SealedKey(row["public_key"], row["sealed_key"]) if row is not None and has_key else _unknown_key(hasher)
    key = open_key(stored.sealed, passphrase, public=stored.public)
    if row is None or key is None or row["revoked_at"] is not None:
        if row is not None:
            with writing(database) as chain:
                chain.append("passphrase_refused", {"name": row["name"]}, at=now, actor=TERMINAL)
        # No lock after wrong ones: an agent at the same terminal could lock the person out.
        raise Unauthorised(f"wrong passphrase, or {name!r} has none: nothing was done")
    who = unlocked(from_row(Credential, row), key)
    check_key(RecordedState(database).update(), who)
    return who


def unlocked(who: Credential, key: SigningKey) -> UnlockedCredential:
    """A credential with its key."""
    fields = {name: getattr(who, name) for name in Credential.__struct_fields__}
    return UnlockedCredential(**fields, key=key)


@cache
def _unknown_key(hasher: PasswordHasher) -> SealedKey:
    return new_key(secrets.token_urlsafe(16), hasher=hasher)[1]


# Channels without a field for a passphrase.
CHANNELS = ("telegram", "discord", "webhook")
MOST_SECONDS = 30 * 86_400.0
DEFAULT_SECONDS = 12 * 3600.0


class UnlockedPhones:
    """People who let their phones decide for a time, with their keys, in the memory of one service.

    Buttons and webhooks prove only that they know secrets stored in files, so each person types the passphrase first.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[UnlockedCredential, float]] = {}

    def add(
        self, database: Database, who: UnlockedCredential, *, now: float, seconds: float = DEFAULT_SECONDS
    ) -> float:
        """Let the phone of a person decide; returns until when. Audited, with their signature."""
        if not 0 < seconds <= MOST_SECONDS:
            most = MOST_SECONDS / 86_400
            raise UsageError(f"a phone can be unlocked for up to {most:g} days, not for {seconds:g} seconds")
        until = float(now + seconds)
        with writing(database) as chain:
            current(database, who)
            check_key(RecordedState(database).update(), who)
            chain.append("phone_unlocked", {"expires_at": until}, at=now, actor=who.name, signer=who.key)
        self._known[who.name] = (who, until)
        return until

    def find(self, name: str, *, now: float) -> UnlockedCredential | None:
        """The person with their key; None if their phone may not decide."""
        who, until = self._known.get(name, (None, 0.0))
        return who if now < until else None

    def until(self, name: str, *, now: float) -> float | None:
        """Until when the phone of a person may decide; None if it may not."""
        until = self._known.get(name, (None, 0.0))[1]
        return until if now < until else None
