"""Changing permissions needs an admin's passphrase, and the audit has the admin's signature.

An admin's token is not enough: it is in a file or an environment variable that an agent of the same user may read.
Approvers make credentials for their own agents the same way. `first_admin` makes the first admin, and works only while
there never was one.

The stored allow-list has the actions that are approved without asking, for all sessions or one, with or without an end.
It never has one of the ten high-risk actions: they are refused here and by the table, and ignored when it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.confirm.audit.chain import Chain, writing
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.people.credential import (
    TERMINAL,
    Credential,
    Proof,
    Role,
    UnlockedCredential,
    active_admins,
    check_key,
    current,
    from_row,
    make_in,
    new_key,
    revoke_in,
    unlocked,
)
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import check_text, new_id
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

    `policy_sha256`: digest of the present policy file. It counts as approved; from now on only an admin can change it.
    """
    key, stored = new_key(passphrase)
    with writing(database) as chain:
        if active_admins(database) or RecordedState(database).update().signed_since is not None:
            raise Refused("there is already an admin: ask an admin for more credentials")
        # Signed by the key that it brings: this row begins the signed part of the audit.
        made, token = make_in(
            database, chain, name, "admin", now=now, person=person, proof=Proof(TERMINAL, key), key=stored
        )
        if policy_sha256 is not None:
            facts = {"sha256": policy_sha256, "summary": "as it stood when the first admin was made"}
            chain.append("policy_replaced", facts, at=now, actor=made.name, signer=key)
    return unlocked(made, key), token


@contextmanager
def _signed(book: Book, who: UnlockedCredential) -> Iterator[tuple[Chain, Proof, float]]:
    """A transaction in which a person changes permissions, with their signature."""
    with writing(book.database) as chain:
        current(book.database, who)
        check_key(book.recorded(), who)
        yield chain, Proof(who.name, who.key), float(book.clock())


def _check_admin(who: Credential) -> None:
    if who.role != "admin":
        raise Refused(f"{who.name!r} is not an admin: let an admin do it")


def make_credential(book: Book, who: UnlockedCredential, name: str, role: Role, person: str) -> tuple[Credential, str]:
    """Make a credential and its token: an admin for anyone who decides, a person for their own agents."""
    if role != "agent":
        _check_admin(who)
    elif person != who.person:
        raise Refused(
            f"an agent belongs to the person who makes it, so that no one approves what their own agent asks for: "
            f"{name!r} can only belong to {who.person!r}"
        )
    with _signed(book, who) as (chain, proof, now):
        return make_in(book.database, chain, name, role, now=now, person=person, proof=proof)


def revoke_credential(book: Book, who: UnlockedCredential, name: str) -> Credential:
    """Revoke a credential."""
    _check_admin(who)
    with _signed(book, who) as (chain, proof, now):
        return revoke_in(book.database, chain, name, proof=proof, now=now)


def replace_policy(book: Book, who: UnlockedCredential, *, sha256: str, summary: str) -> None:
    """Approve a policy file by its digest. The caller writes the file after this has succeeded, not before."""
    _check_admin(who)
    if not _SHA256.fullmatch(sha256):
        raise UsageError(f"sha256 must be the digest of the new policy file, not {sha256!r}")
    with _signed(book, who) as (chain, proof, now):
        facts = {"sha256": sha256, "summary": book.redactor.text(summary)}
        proof.record(chain, "policy_replaced", facts, at=now)


def add_allowed(
    book: Book,
    who: UnlockedCredential,
    action: str,
    *,
    session_key: str | None = None,
    expires_at: float | None = None,
) -> AllowedAction:
    """Allow an action without asking, for all sessions or one; never one of the ten."""
    _check_admin(who)
    action = check_allowable(action)
    if session_key is not None:
        session_key = book.redactor.text(check_text(session_key, "session_key", most=500, least=1))
    if expires_at is not None and expires_at <= book.clock():
        raise UsageError("expires_at is in the past: give a future time, or none")
    with _signed(book, who) as (chain, proof, now):
        made = AllowedAction(
            id=new_id(),
            action=action,
            session_key=session_key,
            expires_at=None if expires_at is None else float(expires_at),
            created_at=now,
            created_by=who.name,
        )
        book.database.run("confirm.add_allowed", msgspec.structs.asdict(made))
        facts = {"id": made.id, "action": action, "session_key": session_key, "expires_at": made.expires_at}
        proof.record(chain, "allow_added", facts, at=now)
    return made


def remove_allowed(book: Book, who: UnlockedCredential, allowed_id: str) -> AllowedAction:
    """Remove an entry from the stored allow-list."""
    _check_admin(who)
    with _signed(book, who) as (chain, proof, now):
        rows = book.database.rows("confirm.remove_allowed", {"id": allowed_id})
        if not rows:
            raise NotFound(f"unknown allow-list entry {allowed_id!r}: see `seasoned confirm allow`")
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
