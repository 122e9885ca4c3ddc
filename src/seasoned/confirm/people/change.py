"""Changing permissions is itself a high-risk action: it needs a person, and is audited.

There are exactly two ways:

- **A grant.** Any credential asks for `modify_permissions` with the change as details (`ask_change`); a person approves
  it; the change happens in the same transaction that redeems the approval. The digest binds it to this very change.
- **An admin at the terminal**, with the passphrase. An admin's token alone is not enough: it is in a file or an
  environment variable that an agent of the same user may read. Approvers make credentials for their agents this way.

Either way the audit proves it: by the admin's signature, or by those of the people who approved the request.
`first_admin` makes the first admin, and works only while there never was one.

The stored allow-list has the actions that are approved without asking, for all sessions or one, with or without an end.
It never has one of the ten high-risk actions: they are refused here and by the table, and ignored when it is used.
"""

from __future__ import annotations

import re

import msgspec

from seasoned.command.action import CHANGE_POLICY, HIGH_RISK, check_action
from seasoned.confirm.audit.chain import Chain, writing
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.people import credential
from seasoned.confirm.people.credential import (
    TERMINAL,
    Credential,
    Proof,
    Role,
    SealedKey,
    UnlockedCredential,
    active_admins,
    current,
    from_row,
)
from seasoned.confirm.people.passphrase import authenticate_passphrase, check_key, new_key, unlocked
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.canonical_json import check_text, request_digest
from seasoned.confirm.request.request import NewRequest, new_id
from seasoned.errors import NotFound, Refused, UsageError
from seasoned.store import Database

_SHA256 = re.compile(r"[0-9a-f]{64}")


class AllowedAction(msgspec.Struct, frozen=True, kw_only=True):
    """One action that is approved without a person."""

    id: str
    action: str
    # The only session it applies to (redacted); None means all.
    session_key: str | None
    expires_at: float | None
    created_at: float
    created_by: str


class AddAllowed(msgspec.Struct, frozen=True, kw_only=True, tag="add_allowed"):
    """Allow an action without asking, for all sessions or one; never one of the ten."""

    action: str
    session_key: str | None = None
    expires_at: float | None = None


class RemoveAllowed(msgspec.Struct, frozen=True, kw_only=True, tag="remove_allowed"):
    """Remove an entry from the stored allow-list."""

    id: str


class MakeCredential(msgspec.Struct, frozen=True, kw_only=True, tag="make_credential"):
    """Make a credential; the result contains its token, once. An agent belongs to the person who makes it."""

    name: str
    role: Role
    person: str


class RevokeCredential(msgspec.Struct, frozen=True, kw_only=True, tag="revoke_credential"):
    """Revoke a credential."""

    name: str


class ReplacePolicy(msgspec.Struct, frozen=True, kw_only=True, tag="replace_policy"):
    """Approve a new policy file. The caller writes the file after this has succeeded, not before."""

    # Digest of the new file, so that the audit records which one it was.
    sha256: str
    summary: str


Change = AddAllowed | RemoveAllowed | MakeCredential | RevokeCredential | ReplacePolicy


class ByGrant(msgspec.Struct, frozen=True):
    """Authority of an approved request for this change, which is redeemed with it."""

    who: Credential
    request_id: str


class ByPassphrase(msgspec.Struct, frozen=True):
    """Authority of an admin at the terminal."""

    name: str
    passphrase: str

    def __repr__(self) -> str:
        return f"ByPassphrase({self.name!r}, …)"


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a change."""

    change: Change
    by: str
    allowed: AllowedAction | None = None
    credential: Credential | None = None
    token: str | None = None


def ask_change(change: Change) -> NewRequest:
    """The request that a person must approve for this change."""
    return NewRequest(
        action=CHANGE_POLICY,
        description=f"Change who may do what: {_sentence(change)}",
        details=msgspec.to_builtins(change),
    )


def policy_change(
    book: Book, change: Change, *, authority: ByGrant | ByPassphrase, key: SealedKey | None = None
) -> ChangeResult:
    """Make a change with one of the two authorities; otherwise Refused, Unauthorised or Conflict, and no change.

    `key`: the key of a new person who decides, who has chosen a passphrase already.
    """
    _check(change)
    now = float(book.clock())
    if isinstance(authority, ByPassphrase):
        # Before the transaction: argon2 is slow on purpose, and every other writer would wait.
        admin = authenticate_passphrase(book.database, authority.name, authority.passphrase, now=now)
        return change_as(book, change, admin, key=key)
    asked = ask_change(change)
    # From the change itself, so an approval of another change does not fit.
    digest = request_digest(
        action=asked.action,
        description=asked.description,
        details=asked.details,
        session_key=asked.session_key,
        requester=authority.who.name,
    )
    if isinstance(change, AddAllowed) and change.session_key != book.redacted(change.session_key):
        raise UsageError("the session key contains a secret, which the audit must not hold: use another key")
    with writing(book.database) as chain:
        who = current(book.database, authority.who)
        if isinstance(change, MakeCredential) and change.role == "agent" and change.person != who.person:
            raise Refused(f"an agent belongs to the person whose agent asked for it: {who.person!r}")
        book.redeem_in(chain, who, authority.request_id, digest=digest, now=now)
        grant = {
            "request": authority.request_id,
            "action": asked.action,
            "description": asked.description,
            "details": asked.details,
        }
        result = _apply(book, chain, change, proof=Proof(who.name, grant=grant), now=now, key=key)
    book.note_used([(authority.request_id, "redeemed", now)])
    return result


def change_as(book: Book, change: Change, who: UnlockedCredential, *, key: SealedKey | None = None) -> ChangeResult:
    """Make a change with the signature of a person: of an admin, or of an approver for one of their agents."""
    _check(change)
    now = float(book.clock())
    is_own_agent = isinstance(change, MakeCredential) and change.role == "agent"
    if isinstance(change, MakeCredential) and is_own_agent and change.person != who.person:
        raise Refused(
            f"an agent belongs to the person who makes it, so that no one approves what their own agent asks for: "
            f"{change.name!r} can only belong to {who.person!r}"
        )
    if who.role != "admin" and not is_own_agent:
        raise Refused(f"{who.name!r} is not an admin: ask for {CHANGE_POLICY!r}, or let an admin do it")
    with writing(book.database) as chain:
        current(book.database, who)
        check_key(book.recorded(), who)
        return _apply(book, chain, change, proof=Proof(who.name, who.key), now=now, key=key)


def first_admin(
    database: Database,
    name: str,
    passphrase: str,
    *,
    now: float,
    person: str | None = None,
    policy_sha256: str | None = None,
) -> tuple[UnlockedCredential, str]:
    """Make the first admin, with a passphrase; Refused if there is one, or was one.

    `policy_sha256`: digest of the present policy file. It counts as approved; from now on only an admin or an approved
    request can change it.
    """
    key, stored = new_key(passphrase)
    with writing(database) as chain:
        if active_admins(database) or RecordedState(database).update().signed_since is not None:
            raise Refused("there is already an admin: ask an admin for more credentials, or submit a request")
        # Signed by the key that it brings: this row begins the signed part of the audit.
        proof = Proof(TERMINAL, key)
        made, token = credential.make_in(
            database, chain, name, "admin", now=now, person=person, proof=proof, key=stored
        )
        if policy_sha256 is not None:
            facts = {"sha256": policy_sha256, "summary": "as it stood when the first admin was made"}
            chain.append("policy_replaced", facts, at=now, actor=made.name, signer=key)
    return unlocked(made, key), token


def _check(change: Change) -> None:
    if isinstance(change, AddAllowed):
        check_allowable(change.action)
    elif isinstance(change, ReplacePolicy) and not _SHA256.fullmatch(change.sha256):
        raise UsageError(f"sha256 must be the digest of the new policy file, not {change.sha256!r}")


def _apply(
    book: Book, chain: Chain, change: Change, *, proof: Proof, now: float, key: SealedKey | None
) -> ChangeResult:
    database, result = book.database, ChangeResult(change=change, by=proof.by)
    match change:
        case AddAllowed():
            session_key = book.redacted(change.session_key)
            allowed = add_allowed(
                database,
                chain,
                action=change.action,
                session_key=session_key,
                expires_at=change.expires_at,
                proof=proof,
                now=now,
            )
            return msgspec.structs.replace(result, allowed=allowed)
        case RemoveAllowed():
            allowed = remove_allowed(database, chain, change.id, proof=proof, now=now)
            return msgspec.structs.replace(result, allowed=allowed)
        case MakeCredential():
            who, token = credential.make_in(
                database, chain, change.name, change.role, now=now, person=change.person, proof=proof, key=key
            )
            return msgspec.structs.replace(result, credential=who, token=token)
        case RevokeCredential():
            revoked = credential.revoke_in(database, chain, change.name, proof=proof, now=now)
            return msgspec.structs.replace(result, credential=revoked)
        case ReplacePolicy():
            facts = {"sha256": change.sha256, "summary": book.redactor.text(change.summary)}
            proof.record(chain, "policy_replaced", facts, at=now)
            return result


def _sentence(change: Change) -> str:
    match change:
        case AddAllowed():
            where = "all sessions" if change.session_key is None else "one session"
            return f"let {change.action!r} through without a person in {where}"
        case RemoveAllowed():
            return f"take {change.id!r} off the allow-list"
        case MakeCredential():
            return f"make {change.name!r} of {change.person!r} an {change.role}"
        case RevokeCredential():
            return f"revoke {change.name!r}"
        case ReplacePolicy():
            return f"replace the policy file: {change.summary}"


def add_allowed(
    database: Database,
    chain: Chain,
    *,
    action: str,
    proof: Proof,
    now: float,
    session_key: str | None = None,
    expires_at: float | None = None,
) -> AllowedAction:
    """Allow an action, inside an open transaction. The session key must be redacted already."""
    action = check_allowable(action)
    if session_key is not None:
        check_text(session_key, "session_key", most=500, least=1)
    if expires_at is not None and expires_at <= now:
        raise UsageError("expires_at is in the past: give a future time, or none")
    made = AllowedAction(
        id=new_id(),
        action=action,
        session_key=session_key,
        expires_at=None if expires_at is None else float(expires_at),
        created_at=float(now),
        created_by=proof.by,
    )
    database.run("confirm.add_allowed", msgspec.structs.asdict(made))
    facts = {"id": made.id, "action": action, "session_key": session_key, "expires_at": made.expires_at}
    proof.record(chain, "allow_added", facts, at=now)
    return made


def remove_allowed(database: Database, chain: Chain, allowed_id: str, *, proof: Proof, now: float) -> AllowedAction:
    """Remove an entry from the list, inside an open transaction."""
    rows = database.rows("confirm.remove_allowed", {"id": allowed_id})
    if not rows:
        raise NotFound(f"unknown allow-list entry {allowed_id!r}: see `seasoned confirm allow list`")
    proof.record(chain, "allow_removed", {"id": allowed_id, "action": rows[0]["action"]}, at=now)
    return from_row(AllowedAction, rows[0])


def allow_list(database: Database) -> list[AllowedAction]:
    """All entries, oldest first, including expired ones."""
    return [from_row(AllowedAction, row) for row in database.rows("confirm.allowed")]


def check_allowable(action: str) -> str:
    """The normalised name of an action that may be on the list; Refused for one of the ten."""
    name = check_action(action)
    if name in HIGH_RISK:
        raise Refused(f"{name!r} always needs a person: no allow-list can cover it")
    return name
