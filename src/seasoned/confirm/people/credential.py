"""Credentials: an agent, approver or admin with a token, and what each may do.

The token is shown once; only its hash is stored.
"""

from __future__ import annotations

import hmac
import re
import secrets
from hashlib import sha256
from typing import Any, Literal, TypeVar, get_args

import msgspec

from seasoned.confirm.audit.chain import Chain, SigningKey, writing
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.request import APPROVED, new_id
from seasoned.errors import Conflict, Denied, NotFound, Refused, Unauthorised, UsageError
from seasoned.store import Database, DatabaseRow

# Agents ask and redeem; approvers decide; admins decide, and change permissions.
Role = Literal["agent", "approver", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
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
    database: Database,
    name: str,
    role: Role,
    *,
    now: float,
    person: str | None = None,
    by: str = TERMINAL,
    key: SealedKey | None = None,
) -> tuple[Credential, str]:
    """A new credential and its token `ssn_<role>_…`, shown only now. Audited. The person is the name by default.

    Entry points use `change.change_as`, which requires authority: without it, the credential counts only as long as
    no admin has a key.
    """
    with writing(database) as chain:
        return make_in(database, chain, name, role, now=now, person=person, proof=Proof(by), key=key)


def make_in(
    database: Database,
    chain: Chain,
    name: str,
    role: Role,
    *,
    now: float,
    person: str | None,
    proof: Proof,
    key: SealedKey | None = None,
) -> tuple[Credential, str]:
    """`make` inside an open transaction."""
    if role not in ROLES:
        raise UsageError(f"a role must be one of {', '.join(ROLES)}, not {role!r}")
    name, person = _name(name, "name"), _name(name if person is None else person, "person")
    if database.row("confirm.credential_named", {"name": name}) is not None:
        raise Conflict(f"the name {name!r} is taken, and names are never used twice: choose another", status="taken")
    token = f"ssn_{role}_{secrets.token_urlsafe(32)}"
    made = Credential(id=new_id(), name=name, role=role, person=person, created_at=float(now))
    database.run(
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


def revoke(database: Database, name_or_id: str, *, by: str, now: float) -> Credential:
    """Revoke a credential without a signature, which is enough for an agent's. Its votes stay."""
    with writing(database) as chain:
        return revoke_in(database, chain, name_or_id, proof=Proof(by), now=now)


def revoke_in(database: Database, chain: Chain, name_or_id: str, *, proof: Proof, now: float) -> Credential:
    """`revoke` inside an open transaction. Revoking twice changes nothing."""
    found = find(database, name_or_id)
    if found.revoked_at is not None:
        return found
    # Without an admin, the next program that asks could become the first one.
    if found.role == "admin" and active_admins(database) == 1:
        raise Conflict(f"{found.name!r} is the last admin: make another one first", status="last")
    database.run("confirm.revoke", {"id": found.id, "now": float(now)})
    proof.record(chain, "credential_revoked", {"name": found.name, "role": found.role}, at=now)
    return msgspec.structs.replace(found, revoked_at=float(now))


def credentials(database: Database) -> list[Credential]:
    """All credentials, oldest first, including revoked ones."""
    return [from_row(Credential, row) for row in database.rows("confirm.credentials")]


def active_admins(database: Database) -> int:
    """The number of admins that are not revoked."""
    row = database.row("confirm.active_admins")
    return 0 if row is None else int(row["count"])


def find(database: Database, name_or_id: str) -> Credential:
    """The credential with this name or id."""
    if "\0" not in name_or_id and name_or_id.isascii():
        row = database.row("confirm.credential_named", {"name": name_or_id})
        row = row or database.row("confirm.credential", {"id": name_or_id})
        if row is not None:
            return from_row(Credential, row)
    raise NotFound(f"unknown credential {name_or_id!r}: see `seasoned confirm token list`")


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
