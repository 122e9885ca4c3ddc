"""Identifies an approver at the terminal by a passphrase; only its argon2 verifier is stored.

An agent of the same user can run the same commands and read the same files, but does not know the passphrase. It can
try words against the verifier for as long as it likes, so the passphrase must be long.
"""

from __future__ import annotations

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from seasoned.confirm.audit.chain import Chain, writing
from seasoned.confirm.people.credential import TERMINAL, Credential, current, from_row
from seasoned.errors import Refused, Unauthorised, UsageError
from seasoned.store import Database

LEAST_CHARACTERS = 12
_HASHER = PasswordHasher()
_WRONG = "the passphrase is wrong, or {name!r} has none: nothing was done"


def set_passphrase(
    database: Database, who: Credential, passphrase: str, *, now: float, hasher: PasswordHasher = _HASHER
) -> None:
    """Set or change the passphrase of an approver or admin.

    `who` must have been authenticated just now, by its token or its old passphrase: with the name alone, any program
    at the same terminal could make itself an approver.
    """
    _check(passphrase)
    verifier = hasher.hash(passphrase)
    with writing(database) as chain:
        keep_verifier(database, chain, current(database, who), verifier, now=now)


def keep_verifier(database: Database, chain: Chain, who: Credential, verifier: str, *, now: float) -> None:
    """Store a verifier inside an open transaction."""
    if who.role == "agent":
        raise Refused(f"{who.name!r} is an agent's credential: only approvers and admins have a passphrase")
    database.run("confirm.set_verifier", {"id": who.id, "verifier": verifier})
    chain.append("passphrase_set", {"name": who.name}, at=now, actor=who.name)


def make_verifier(passphrase: str, *, hasher: PasswordHasher = _HASHER) -> str:
    """The argon2 verifier that is stored instead of the passphrase."""
    _check(passphrase)
    return hasher.hash(passphrase)


def authenticate_passphrase(
    database: Database, name: str, passphrase: str, *, now: float, hasher: PasswordHasher = _HASHER
) -> Credential:
    """The credential with this name, if the passphrase is right; otherwise Unauthorised, and the attempt is audited."""
    row = None
    if name.isascii() and "\0" not in name:
        row = database.row("confirm.credential_named", {"name": name})
    # An unknown name takes as long as a wrong passphrase, so that timing does not reveal which names exist.
    verifier = row["verifier"] if row is not None and row["verifier"] is not None else _unknown_verifier(hasher)
    try:
        # A lone surrogate makes a wrong passphrase, not an error.
        hasher.verify(str(verifier), passphrase.encode("utf-8", "surrogatepass"))
        is_right = True
    except (VerificationError, InvalidHashError):
        is_right = False
    if row is not None and row["verifier"] is not None and is_right and row["revoked_at"] is None:
        return from_row(row)
    if row is not None:
        with writing(database) as chain:
            chain.append("passphrase_refused", {"name": row["name"]}, at=now, actor=TERMINAL)
    # No lock after wrong ones: an agent at the same terminal could lock the person out.
    raise Unauthorised(_WRONG.format(name=name))


@cache
def _unknown_verifier(hasher: PasswordHasher) -> str:
    return hasher.hash(secrets.token_urlsafe(16))


def _check(passphrase: str) -> None:
    if len(passphrase) < LEAST_CHARACTERS or len(set(passphrase)) < 5:
        raise UsageError(
            f"a passphrase needs at least {LEAST_CHARACTERS} characters, and more than a few different ones: "
            "use four or more words"
        )
    try:
        passphrase.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("the passphrase contains a lone surrogate: type it again") from error
