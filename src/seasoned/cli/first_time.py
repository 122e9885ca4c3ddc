"""Who sits at the terminal: the operator, who is made the first time that `up` runs, and proven every other time."""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Credential
    from seasoned.confirm.request.book import Book

_ALONE = "# You alone decide what your own agents ask for: nobody else looks at it.\nsingle_operator = true\n"


def operator_here() -> Credential | None:
    """Whoever proves to be one who decides, for a link that decides; None for one who only reads."""
    from seasoned.cli.confirm_deciding import DECIDING
    from seasoned.cli.confirm_place import open_book
    from seasoned.confirm.people.credential import credentials

    if not sys.stdin.isatty():
        return None
    with open_book() as book:
        known = [one for one in credentials(book.database) if one.role in DECIDING and one.revoked_at is None]
        if not known:
            return _first(book)
        return _known(book, known[0].name) if len(known) == 1 else None


def _known(book: Book, name: str) -> Credential | None:
    from seasoned.cli.secret_prompt import ask_passphrase
    from seasoned.confirm.people.passphrase import authenticate_passphrase
    from seasoned.errors import Unauthorised

    typed = ask_passphrase(f"Passphrase of {name}, to decide in the browser; or only Enter, to read: ")
    if not typed:
        return None
    try:
        return authenticate_passphrase(book.database, name, typed, now=book.clock())
    except Unauthorised as error:
        click.echo(f"{str(error).capitalize()}. The link only lets you read.", err=True)
        return None


def _first(book: Book) -> Credential | None:
    """The first admin with a passphrase of theirs, or nobody yet."""
    from seasoned.cli.confirm_granting import user_name
    from seasoned.cli.secret_prompt import ask_passphrase
    from seasoned.config import load
    from seasoned.confirm.people.change import first_admin
    from seasoned.confirm.people.passphrase import make_verifier
    from seasoned.confirm.policy import FILE, policy_bytes
    from seasoned.errors import UsageError

    click.echo("Agents can ask you before they do what is risky. Only you may answer, so choose a passphrase that no")
    click.echo("file holds, of four words or more. Only Enter puts that off: you can read all the same.")
    name = re.sub(r"[^a-z0-9._@+-]", "", user_name().lower()).lstrip("._@+-")[:64] or "operator"
    first = ask_passphrase(f"New passphrase for {name}: ")
    if not first:
        return None
    try:
        if first != ask_passphrase("The same again: "):
            raise UsageError("the two were not the same")
        make_verifier(first)
        policy = load().home / FILE
        if not policy.exists() and click.confirm("Do you alone decide what your own agents ask for?", default=True):
            policy.write_text(_ALONE, encoding="utf-8")
            policy.chmod(0o600)
        digest = sha256(policy_bytes(policy)).hexdigest()
        made, _ = first_admin(book.database, name, first, now=book.clock(), person=user_name(), policy_sha256=digest)
    except UsageError as error:
        click.echo(f"{str(error).capitalize()}: nothing was set up. Try again the next time.", err=True)
        return None
    return made
