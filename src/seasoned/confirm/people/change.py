"""Changing permissions needs an admin's passphrase, and the audit has the admin's signature.

An admin's token is not enough: it is in a file or an environment variable that an agent of the same user may read.
Approvers make credentials for their own agents the same way. `first_admin` makes the first admin, and works only while
there never was one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.confirm.audit.chain import Allowance, Chain, RecordedState, writing
from seasoned.confirm.people.credential import (
    TERMINAL,
    Credential,
    Proof,
    Role,
    UnlockedCredential,
    active_admins,
    check_key,
    current,
    make,
    new_key,
    revoke,
    unlocked,
)
from seasoned.confirm.request.book import Book
from seasoned.errors import NotFound, Refused, UsageError
from seasoned.store import Database


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
        made, token = make(chain, name, "admin", now=now, person=person, proof=Proof(TERMINAL, key), key=stored)
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
        return make(chain, name, role, now=now, person=person, proof=proof)


def revoke_credential(book: Book, who: UnlockedCredential, name: str) -> Credential:
    """Revoke a credential."""
    _check_admin(who)
    with _signed(book, who) as (chain, proof, now):
        return revoke(chain, name, proof=proof, now=now)


def replace_policy(book: Book, who: UnlockedCredential, *, sha256: str, summary: str) -> None:
    """Approve a policy file by its digest. The caller writes the file after this has succeeded, not before."""
    _check_admin(who)
    with _signed(book, who) as (chain, proof, now):
        facts = {"sha256": sha256, "summary": book.redactor.text(summary)}
        proof.record(chain, "policy_replaced", facts, at=now)


def allow(
    book: Book, who: UnlockedCredential, action: str, *, project: str | None, host: str | None, until: float | None
) -> Allowance:
    """Let calls of agents on this machine through that need one of the ten, within limits; signed by an admin."""
    _check_admin(who)
    name = check_action(action)
    if name not in HIGH_RISK:
        raise UsageError(f"{action!r} is not one of the ten that are asked about: {', '.join(sorted(HIGH_RISK))}")
    if name in book.policy.always_ask:
        raise Refused(f"the policy says that {name!r} is always asked about: `always_ask` in policy.toml")
    with _signed(book, who) as (chain, proof, now):
        number = chain.head.seq + 1
        proof.record(chain, "allowed", {"action": name, "project": project, "host": host, "until": until}, at=now)
    return book.recorded().allowances[number]


def end_allowance(book: Book, number: int) -> Allowance:
    """End an allowance at once."""
    found = book.recorded().allowances.get(number)
    if found is None:
        raise NotFound(f"there is no allowance {number}: see `seasoned confirm allow`")
    with writing(book.database) as chain:
        Proof(TERMINAL).record(chain, "allowance_ended", {"number": number}, at=float(book.clock()))
    return found
