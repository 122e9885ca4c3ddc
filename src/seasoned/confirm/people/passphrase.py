"""The approver at the terminal: proven by a passphrase that no file holds, only its argon2 verifier.

An agent under the same user can start the same commands and read the same files. It does not know the passphrase; but
it can read the verifier and try words against it for as long as it likes, so the passphrase must be a long one.
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
_WRONG = "the passphrase is wrong, or {name!r} has none: nothing was decided"


def set_passphrase(
    database: Database, who: Credential, passphrase: str, *, now: float, hasher: PasswordHasher = _HASHER
) -> None:
    """Give a deciding credential a passphrase, or another one.

    `who` must have been authenticated just now, by its token or its old passphrase: the name alone would let anybody
    at the same terminal make themselves an approver.
    """
    _check(passphrase)
    verifier = hasher.hash(passphrase)
    with writing(database) as chain:
        keep_verifier(database, chain, current(database, who), verifier, now=now)


def keep_verifier(database: Database, chain: Chain, who: Credential, verifier: str, *, now: float) -> None:
    """The same inside a transaction that is open."""
    if who.role == "agent":
        raise Refused(f"{who.name!r} is an agent's credential: only those of approvers and admins have a passphrase")
    database.run("confirm.set_verifier", {"id": who.id, "verifier": verifier})
    chain.append("passphrase_set", {"name": who.name}, at=now, actor=who.name)


def make_verifier(passphrase: str, *, hasher: PasswordHasher = _HASHER) -> str:
    """What is kept instead of a passphrase."""
    _check(passphrase)
    return hasher.hash(passphrase)


def authenticate_passphrase(
    database: Database, name: str, passphrase: str, *, now: float, hasher: PasswordHasher = _HASHER
) -> Credential:
    """The credential of this name, if the passphrase is its own; Unauthorised otherwise, and the attempt is audited."""
    row = None
    if name.isascii() and "\0" not in name:
        row = database.row("confirm.credential_named", {"name": name})
    # Somebody unknown takes as long as a wrong word, so that names cannot be told apart by the time.
    verifier = row["verifier"] if row is not None and row["verifier"] is not None else _nobody(hasher)
    try:
        hasher.verify(str(verifier), passphrase.encode("utf-8", "surrogatepass"))
        is_right = True
    except (VerificationError, InvalidHashError):
        is_right = False
    if row is not None and row["verifier"] is not None and is_right and row["revoked_at"] is None:
        return from_row(row)
    if row is not None:
        with writing(database) as chain:
            chain.append("passphrase_refused", {"name": row["name"]}, at=now, actor=TERMINAL)
    raise Unauthorised(_WRONG.format(name=name))


@cache
def _nobody(hasher: PasswordHasher) -> str:
    return hasher.hash(secrets.token_urlsafe(16))


def _check(passphrase: str) -> None:
    if len(passphrase) < LEAST_CHARACTERS or len(set(passphrase)) < 5:
        raise UsageError(
            f"a passphrase has at least {LEAST_CHARACTERS} characters, and more than a few different ones: "
            "take four or more words"
        )
    try:
        passphrase.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("the passphrase holds half a character: type it again") from error
