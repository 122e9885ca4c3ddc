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
from argon2.exceptions import Argon2Error, InvalidHashError, VerificationError
from argon2.low_level import hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from seasoned.confirm.audit.chain import Chain, Signer, SigningKey, writing
from seasoned.confirm.audit.passkey import VIA
from seasoned.confirm.audit.recorded import RecordedState, digest_of_sealed
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
from seasoned.store import Database, DatabaseRow

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


_WRONG = "wrong passphrase, or {name!r} has none: nothing was done"


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
        if not isinstance(by.key, SigningKey):
            raise Refused("a passkey cannot set a passphrase: type the old one")
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
        _keep(database, chain, found, stored, proof=proof, now=now)
    return unlocked(found, key)


def check_key(state: RecordedState, who: UnlockedCredential, *, via: str | None = None, now: float = 0.0) -> None:
    """Raise unless the audit says that this key belongs to the person.

    A phone's key only votes, over the channels and for the time that the person allowed; a passkey votes on the page.
    """
    known = state.people.get(who.name)
    recorded = state.keys.get(who.key.public)
    if recorded is not None and recorded.channels is not None:
        ends = recorded.expires_at
        if via not in recorded.channels or ends is None or now >= ends:
            raise Refused(f"the device of {who.name!r} may not do this, or its time is over: unlock it again")
    if recorded is not None and recorded.passkey is not None and via != VIA:
        raise Refused(f"a passkey of {who.name!r} only decides on the page: use the passphrase here")
    if known is None or recorded is None or recorded.name != who.name or recorded.until is not None:
        raise Refused(
            f"the key of {who.name!r} is not the one in the audit: it was changed outside the service; run "
            "`seasoned confirm verify`"
        )
    if (known.role, known.person, known.is_revoked) != (who.role, who.person, False):
        raise Refused(f"{who.name!r} was changed outside the service: run `seasoned confirm verify`")


def _keep(
    database: Database, chain: Chain, who: Credential, stored: SealedKey, *, proof: Proof, now: float, before: str = ""
) -> None:
    database.run("confirm.set_key", {"id": who.id, "public_key": stored.public, "sealed_key": stored.sealed})
    facts = {"name": who.name, "public": stored.public, "sealed": digest_of_sealed(stored.sealed)}
    if before:
        facts["verifier"] = before
    proof.record(chain, "passphrase_set", facts, at=now)


def authenticate_passphrase(
    database: Database, name: str, passphrase: str, *, now: float, hasher: PasswordHasher = HASHER
) -> UnlockedCredential:
    """The person with this name, if the passphrase is right; otherwise Unauthorised, and the attempt is audited."""
    row = None
    if name.isascii() and "\0" not in name:
        row = database.row("confirm.credential_named", {"name": name})
    key = _open(row, passphrase, hasher)
    if row is None or key is None or row["revoked_at"] is not None:
        if row is not None:
            with writing(database) as chain:
                chain.append("passphrase_refused", {"name": row["name"]}, at=now, actor=TERMINAL)
        # No lock after wrong ones: an agent at the same terminal could lock the person out.
        raise Unauthorised(_WRONG.format(name=name))
    who = unlocked(from_row(Credential, row), key)
    if row["public_key"] is None:
        return _first_key(database, who, seal_key(key, passphrase, hasher=hasher), now=now)
    check_key(RecordedState(database).update(), who)
    return who


def unlocked(who: Credential, key: Signer) -> UnlockedCredential:
    """A credential with its key."""
    fields = {name: getattr(who, name) for name in Credential.__struct_fields__}
    return UnlockedCredential(**fields, key=key)


def _open(row: DatabaseRow | None, passphrase: str, hasher: PasswordHasher) -> SigningKey | None:
    """The key that the passphrase opens; a new one if an older store has only a hash of the passphrase."""
    if row is not None and row["public_key"] is not None:
        return open_key(str(row["sealed_key"]), passphrase, public=str(row["public_key"]))
    # An unknown name takes as long as a wrong passphrase, so that timing does not reveal which names exist.
    verifier = row["verifier"] if row is not None and row["verifier"] is not None else _unknown_verifier(hasher)
    try:
        # A lone surrogate makes a wrong passphrase, not an error.
        hasher.verify(str(verifier), passphrase.encode("utf-8", "surrogatepass"))
    except (VerificationError, InvalidHashError):
        return None
    return SigningKey() if row is not None and row["verifier"] is not None else None


def _first_key(database: Database, who: UnlockedCredential, sealed: str, *, now: float) -> UnlockedCredential:
    """Give a person of an older store a key when they first type their passphrase."""
    stored = SealedKey(who.key.public, sealed)
    take_over(database, now=now)
    with writing(database) as chain:
        row = database.row("confirm.credential", {"id": who.id})
        state = RecordedState(database).update()
        known = state.people.get(who.name)
        if row is None or known is None or row["public_key"] is not None:
            raise Refused(f"{who.name!r} was given a key meanwhile: type the passphrase again")
        before = digest_of_sealed(str(row["verifier"]))
        if known.public is not None or known.verifier != before:
            raise Refused(f"the passphrase of {who.name!r} was changed outside the service: ask an admin for a new one")
        if state.signed_since is not None:
            raise Refused(
                f"{who.name!r} has no key yet, and an admin has one: let an admin set your passphrase once with "
                f"`seasoned confirm passphrase set {who.name} --as NAME`"
            )
        _keep(database, chain, who, stored, proof=Proof(who.name, who.key), now=now, before=before)
    return who


def take_over(database: Database, *, now: float) -> bool:
    """Record the credentials of a store that an older version wrote, once, so that later changes are noticed."""
    state = RecordedState(database).update()
    if not _is_older(state):
        return False
    with writing(database) as chain:
        if not _is_older(RecordedState(database).update()):
            return False
        rows = database.rows("confirm.credentials_whole")
        known = [
            {
                "name": row["name"],
                "token": row["token_hash"],
                "verifier": None if row["verifier"] is None else digest_of_sealed(str(row["verifier"])),
            }
            for row in rows
        ]
        chain.append("taken_over", {"credentials": known}, at=now, actor="system:upgrade")
    return True


def _is_older(state: RecordedState) -> bool:
    is_unknown = any(one.token_hash is None for one in state.people.values())
    return is_unknown and state.taken_over is None and not state.keys


@cache
def _unknown_verifier(hasher: PasswordHasher) -> str:
    return hasher.hash(secrets.token_urlsafe(16))
