"""People with a passphrase and a key that open quickly, for tests."""

from __future__ import annotations

from argon2 import PasswordHasher

from seasoned.confirm.audit.chain import writing
from seasoned.confirm.people import credential
from seasoned.confirm.people.credential import (
    DEFAULT_SECONDS,
    TERMINAL,
    Credential,
    Proof,
    Role,
    SealedKey,
    UnlockedCredential,
    UnlockedPhones,
    authenticate_passphrase,
    find,
    new_key,
    unlocked,
)
from seasoned.errors import NotFound
from seasoned.store import Database

UNPROVEN = Proof(TERMINAL)
WORDS = "four words are enough"
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Weak on purpose: the real parameters take a quarter of a second for each passphrase."""


def make_person(
    database: Database,
    name: str,
    role: Role,
    *,
    now: float,
    person: str | None = None,
    by: UnlockedCredential | None = None,
) -> tuple[Credential, str]:
    """A credential and its token; one who decides has a key that WORDS open. `by`: an admin, once there is one."""
    key, stored = (None, None) if role == "agent" else new_key(WORDS, hasher=QUICK)
    if by is not None and role == "agent":
        # An agent belongs to the person who makes it.
        by = as_unlocked(make_person(database, f"{name}-owner", "approver", now=now, person=person or name, by=by)[0])
    proof = Proof(TERMINAL) if by is None else Proof(by.name, by.key)
    made, token = make(database, name, role, now=now, person=person, proof=proof, key=stored)
    return (made if key is None else unlocked(made, key)), token


def make(
    database: Database,
    name: str,
    role: Role,
    *,
    now: float,
    person: str | None = None,
    proof: Proof = UNPROVEN,
    key: SealedKey | None = None,
) -> tuple[Credential, str]:
    """A credential and its token, in a transaction of its own."""
    with writing(database) as chain:
        return credential.make(chain, name, role, now=now, person=person, proof=proof, key=key)


def revoke(database: Database, name: str, *, now: float) -> Credential:
    """Revoke a credential without a signature."""
    with writing(database) as chain:
        return credential.revoke(chain, name, proof=UNPROVEN, now=now)


def as_unlocked(who: Credential) -> UnlockedCredential:
    """A person who decides, for type checkers."""
    assert isinstance(who, UnlockedCredential)
    return who


def first_admin_of(database: Database, *, now: float, name: str = "boss") -> UnlockedCredential:
    """The first admin, made if there is none."""
    try:
        find(database, name)
    except NotFound:
        return as_unlocked(make_person(database, name, "admin", now=now)[0])
    return unlock(database, name, now=now)


def unlock(database: Database, name: str, *, now: float = 0.0) -> UnlockedCredential:
    """A person who has just typed their passphrase."""
    return authenticate_passphrase(database, name, WORDS, now=now, hasher=QUICK)


def unlocked_phones(database: Database, *names: str, now: float, seconds: float = DEFAULT_SECONDS) -> UnlockedPhones:
    """Phones that these people unlocked."""
    found = UnlockedPhones()
    for name in names:
        found.add(database, unlock(database, name, now=now), now=now, seconds=seconds)
    return found
