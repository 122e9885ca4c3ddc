"""Credentials: an agent, approver or admin with a token, and what each may do.

The token is shown once; only its hash is stored.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from base64 import b64decode, b64encode
from functools import cache
from hashlib import sha256
from typing import Any, Literal, TypeVar

import msgspec
from argon2 import PasswordHasher, Type, extract_parameters
from argon2.exceptions import Argon2Error
from argon2.low_level import hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from seasoned.confirm.audit.chain import Chain, RecordedState, SigningKey, writing
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.request import APPROVED, new_id
from seasoned.errors import Conflict, Denied, NotFound, Refused, Unauthorised, UsageError
from seasoned.store import Database, DatabaseRow

# Agents ask and redeem; approvers decide; admins decide, and change permissions.
Role = Literal["agent", "approver", "admin"]
TERMINAL = "system:terminal"
_T = TypeVar("_T", bound=msgspec.Struct)
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
# 32 random bytes in Base64 are 43 characters.
_TOKEN = re.compile(r"ssn_(?:agent|approver|admin)_[A-Za-z0-9_-]{43}")
_INVALID = "no valid credential: send `Authorization: Bearer ssn_…`, from `seasoned confirm token make`"


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """Who acts. A credential never decides its own requests, and a name is never used twice."""

    id: str
    name: str
    role: Role
    # The owner. Two credentials of one person have one vote.
    person: str
    created_at: float
    revoked_at: float | None = None


class UnlockedCredential(Credential, frozen=True, kw_only=True):
    """A person who decides, with the key that signs for them. It exists only in memory."""

    key: SigningKey


class SealedKey(msgspec.Struct, frozen=True):
    """A person's key as stored: the public half, and the private half encrypted with the passphrase."""

    public: str
    sealed: str


class Proof(msgspec.Struct, frozen=True):
    """Who is responsible for a change: its audit row has their signature."""

    by: str
    signer: SigningKey | None = None

    def record(self, chain: Chain, event: str, facts: dict[str, Any], *, at: float) -> None:
        """Add the row about the change to the audit."""
        chain.append(event, facts, at=at, actor=self.by, signer=self.signer)


def make(
    chain: Chain,
    name: str,
    role: Role,
    *,
    now: float,
    person: str | None,
    proof: Proof,
    key: SealedKey | None = None,
) -> tuple[Credential, str]:
    """A new credential and its token `ssn_<role>_…`, shown only now. The person is the name by default.

    Once an admin has a key, the credential counts only with the signature that `recorded.py` asks for.
    """
    name, person = _name(name, "name"), _name(name if person is None else person, "person")
    if chain.database.row("confirm.credential_named", {"name": name}) is not None:
        raise Conflict(f"the name {name!r} is taken, and names are never used twice: choose another", status="taken")
    token = f"ssn_{role}_{secrets.token_urlsafe(32)}"
    made = Credential(id=new_id(), name=name, role=role, person=person, created_at=float(now))
    chain.database.run(
        "confirm.add_credential",
        {
            "id": made.id,
            "name": name,
            "role": role,
            "person": person,
            "token_hash": _hash(token),
            "public_key": None if key is None else key.public,
            "sealed_key": None if key is None else key.sealed,
            "created_at": made.created_at,
        },
    )
    facts = {"name": name, "role": role, "person": person}
    if key is not None:
        facts["public"] = key.public
    proof.record(chain, "credential_made", facts, at=now)
    return made, token


def authenticate(database: Database, token: str) -> Credential:
    """The credential of a token; Unauthorised if it is unknown, malformed or revoked."""
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise Unauthorised(_INVALID)
    token_hash = _hash(token)
    row = database.row("confirm.credential_by_token", {"token_hash": token_hash})
    if row is None or not hmac.compare_digest(str(row["token_hash"]), token_hash):
        raise Unauthorised(_INVALID)
    found = from_row(Credential, row)
    # Regardless of the time: setting the clock back must not restore a revoked credential.
    if found.revoked_at is not None:
        raise Unauthorised(_INVALID)
    return found


def revoke(chain: Chain, name: str, *, proof: Proof, now: float) -> Credential:
    """Revoke a credential; an agent's without a signature. Its votes stay. Revoking twice changes nothing."""
    found = find(chain.database, name)
    if found.revoked_at is not None:
        return found
    # Without an admin, the next program that asks could become the first one.
    if found.role == "admin" and active_admins(chain.database) == 1:
        raise Conflict(f"{found.name!r} is the last admin: make another one first", status="last")
    chain.database.run("confirm.revoke", {"id": found.id, "now": float(now)})
    proof.record(chain, "credential_revoked", {"name": found.name, "role": found.role}, at=now)
    return msgspec.structs.replace(found, revoked_at=float(now))


def credentials(database: Database) -> list[Credential]:
    """All credentials, oldest first, including revoked ones."""
    return [from_row(Credential, row) for row in database.rows("confirm.credentials")]


def active_admins(database: Database) -> int:
    """The number of admins that are not revoked."""
    row = database.row("confirm.active_admins")
    return 0 if row is None else int(row["count"])


def find(database: Database, name: str) -> Credential:
    """The credential with this name."""
    row = database.row("confirm.credential_named", {"name": name}) if _NAME.fullmatch(name) else None
    if row is None:
        raise NotFound(f"unknown credential {name!r}: see `seasoned confirm token list`")
    return from_row(Credential, row)


def current(database: Database, who: Credential) -> Credential:
    """The credential as stored now: it may have been revoked since the caller got it."""
    row = database.row("confirm.credential", {"id": who.id})
    if row is None:
        raise Refused(f"the credential {who.name!r} does not belong to this store")
    found = from_row(Credential, row)
    if found.revoked_at is not None:
        raise Refused(f"the credential {found.name!r} was revoked: ask an admin for a new one")
    return found


def from_row(kind: type[_T], row: DatabaseRow) -> _T:
    """A row as a value whose fields are named like the columns; other columns, such as hashes, are left out."""
    return kind(**{name: row[name] for name in kind.__struct_fields__})


def without_key(who: Credential) -> Credential:
    """The credential without its key, as a token proves it."""
    return Credential(**{name: getattr(who, name) for name in Credential.__struct_fields__})


def _name(given: object, field: str) -> str:
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        raise UsageError(
            f"a {field} must have up to 64 lower-case letters, digits and . _ @ + -, and begin with a letter or digit, "
            f"not {given!r}"
        )
    return given


def _hash(token: str) -> str:
    # A token has 256 random bits: a slow hash would add nothing.
    return sha256(token.encode()).hexdigest()


def deciding_refusal(who: Credential, row: DatabaseRow, policy: Policy) -> str | None:
    """Why this credential may never decide this request; None if it may."""
    if who.role not in ("approver", "admin"):
        return f"{who.name!r} is an agent's credential: agents ask, people decide"
    if who.id == row["requester"]:
        return f"{who.name!r} made this request: another person must decide"
    # Both now and at submission: a changed policy must not open older requests.
    if who.person == row["person"] and not (policy.single_operator and row["single_operator"]):
        return (
            f"{who.name!r} belongs to the person whose agent asked ({who.person!r}): another person must decide, unless"
            " the policy had single_operator = true when it was submitted; see `seasoned confirm policy FILE --use`"
        )
    named = policy.approvers(str(row["action"]))
    if named is not None and who.name not in named:
        return f"{who.name!r} is not among the policy's approvers for {row['action']!r}"
    return None


def redeeming_refusal(who: Credential, row: DatabaseRow, digest: str, now: float) -> Denied | NotFound | None:
    """Why this credential may not redeem this request now; None if it may."""
    request_id, status = str(row["id"]), str(row["status"])
    if row["requester"] != who.id:
        # An agent must not learn that another agent's request exists.
        if who.role == "agent":
            return no_such_request(request_id)
        return Refused(f"only the credential that asked for {request_id!r} can redeem it")
    if row["digest"] != digest:
        return Refused(f"this is not what {request_id!r} asked for: the digest differs; submit a new request")
    if status not in APPROVED:
        return Conflict(f"request {request_id!r} is {status}: there is nothing to redeem", status=status)
    if row["redeemed_at"] is not None:
        return Conflict(f"request {request_id!r} was already redeemed: submit a new request", status=status)
    # At the moment of its end, an approval has ended.
    if now >= float(row["redeem_before"]):
        return Conflict(f"the approval of {request_id!r} was not used in time: submit a new request", status=status)
    return None


def check_pending(row: DatabaseRow, now: float) -> None:
    """Return if the request is pending and in time; otherwise raise Conflict with its status."""
    status = "expired" if row["status"] == "pending" and now >= float(row["expires_at"]) else row["status"]
    if status != "pending":
        raise Conflict(f"request {row['id']!r} is already {status}: nothing was changed", status=status)


def no_such_request(request_id: object) -> NotFound:
    """The same error for a request that does not exist and for one that belongs to another agent."""
    return NotFound(f"unknown request {request_id!r}: see `seasoned confirm list`")


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
    by: UnlockedCredential,
    now: float,
    hasher: PasswordHasher = HASHER,
) -> UnlockedCredential:
    """Set or change the passphrase of a person who decides.

    `by` is that person, unlocked with the old passphrase, and keeps the key; or an admin, and the person gets a new
    key. A token is not enough.
    """
    if who.role == "agent":
        raise Refused(f"{who.name!r} is an agent's credential: only approvers and admins have a passphrase")
    check_passphrase(passphrase)
    if by.id == who.id:
        key = by.key
        stored = SealedKey(key.public, seal_key(key, passphrase, hasher=hasher))
    else:
        key, stored = new_key(passphrase, hasher=hasher)
    with writing(database) as chain:
        found = current(database, who)
        if by.id != found.id and current(database, by).role != "admin":
            raise Refused(f"{by.name!r} is not an admin, and cannot set the passphrase of {found.name!r}")
        check_key(RecordedState(database).update(), by)
        database.run("confirm.set_key", {"id": found.id, "public_key": stored.public, "sealed_key": stored.sealed})
        facts = {"name": found.name, "public": stored.public}
        Proof(by.name, by.key).record(chain, "passphrase_set", facts, at=now)
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
        # By name: the person, and from when until when.
        self._known: dict[str, tuple[UnlockedCredential, float, float]] = {}

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
        self._known[who.name] = (who, now, until)
        return until

    def find(self, name: str, *, now: float, sent_at: float | None = None) -> UnlockedCredential | None:
        """The person with their key; None if their phone may not decide.

        What was sent before the phone was unlocked never counts: a message that was refused could be sent again.
        """
        who, since, until = self._known.get(name, (None, 0.0, 0.0))
        # Senders give whole seconds.
        is_in_time = now < until and (sent_at is None or sent_at >= int(since))
        return who if is_in_time else None

    def until(self, name: str, *, now: float) -> float | None:
        """Until when the phone of a person may decide; None if it may not."""
        until = self._known[name][2] if name in self._known else 0.0
        return until if now < until else None
