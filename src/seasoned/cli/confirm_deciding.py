"""The side that decides: shows what was asked to the letter, asks who is there, and casts the vote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from seasoned.cli.confirm_place import open_book, service_client
from seasoned.cli.confirm_reading import draw_request, request_answer
from seasoned.cli.output import print_json, printable
from seasoned.cli.secret_prompt import ask_passphrase
from seasoned.errors import NotFound, UsageError

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Role
    from seasoned.store import Database

DECIDING: tuple[Role, ...] = ("approver", "admin")


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants to say about a request."""

    request_id: str
    approve: bool
    reason: str

    @property
    def verb(self) -> str:
        return "approve" if self.approve else "deny"


def decide_here(vote: Vote, *, name: str | None, as_json: bool) -> None:
    """Directly on the store, proven by a passphrase that is typed."""
    from seasoned.confirm.people.passphrase import authenticate_passphrase
    from seasoned.confirm.request.row import request_from_row

    with open_book(agreed=vote.approve) as book:
        database = book.database
        who = named(database, name, DECIDING)
        row = database.row("confirm.request", {"id": vote.request_id}) if vote.request_id.isascii() else None
        if row is None:
            raise NotFound(f"There is no request {vote.request_id!r}: see `seasoned confirm list`.")
        if not as_json:
            draw_request(request_answer(request_from_row(database, row, book.seal)))
        passphrase = ask_passphrase(f"Passphrase of {who} to {vote.verb} it: ")
        approver = authenticate_passphrase(database, who, passphrase, now=book.clock())
        decided = book.decide(approver, vote.request_id, approve=vote.approve, reason=vote.reason, via="terminal")
    if as_json:
        print_json("confirm-decided", _decided(decided.id, decided.action, decided.status, decided.resolved_by))
    elif decided.status == "pending":
        given = sum(one.approve for one in decided.votes)
        click.echo(f"Your vote is kept: {given} of {decided.quorum} approvals.")
    else:
        click.echo(f"{decided.id}  {decided.status} by {printable(decided.resolved_by or '')}")


def decide_over_http(vote: Vote, *, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """Through the service, with the token of an approver."""
    client = service_client(url, token_file)
    if not as_json:
        draw_request(client.read_request(vote.request_id))
    seen = client.decide(vote.request_id, approve=vote.approve, reason=vote.reason)
    if as_json:
        print_json("confirm-decided", _decided(seen.id, seen.action, seen.status, seen.resolved_by))
    else:
        by = f" by {printable(seen.resolved_by)}" if seen.resolved_by else ""
        click.echo(f"{seen.id}  {seen.status}{by}")


def named(database: Database, name: str | None, roles: tuple[Role, ...]) -> str:
    """The credential that somebody acts as: the one named, or the only one there is."""
    from seasoned.confirm.people.credential import credentials

    if name is not None:
        return name
    found = [one.name for one in credentials(database) if one.role in roles and one.revoked_at is None]
    if not found:
        raise NotFound(
            "Nobody may do this yet: make the first admin with `seasoned confirm token make NAME --role admin`."
        )
    if len(found) > 1:
        raise UsageError(f"Say who you are with --as: {', '.join(found)}.")
    return found[0]


def _decided(request_id: str, action: str, status: str, resolved_by: str | None) -> dict[str, object]:
    return {"id": request_id, "action": action, "status": status, "resolved_by": resolved_by}
