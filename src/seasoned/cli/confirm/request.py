"""The side that asks: submits a request, waits for it, redeems it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from seasoned.app.confirm import open_book
from seasoned.cli.confirm.passphrase import ask_passphrase, service_client
from seasoned.cli.confirm.show import draw_request, request_answer
from seasoned.cli.output import print_json, printable
from seasoned.confirm.client.sync import ConfirmClient, RequestView, check_approved, digest_of
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import CannotDo, NotFound, UsageError

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Role
    from seasoned.store import Database

_LONGEST_SECONDS = 3700.0


class Wished(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for on the command line."""

    action: str
    description: str
    details: str
    session_key: str
    timeout_seconds: float | None
    idempotency_key: str | None


def ask(wished: Wished, *, url: str | None, token_file: Path | None, waits: bool, redeems: bool, as_json: bool) -> None:
    """Submit, and go on as far as was wished; exit code 1 where the answer is no."""
    client = service_client(url, token_file)
    asked = NewRequest(
        action=wished.action,
        description=wished.description,
        details=read_details(wished.details),
        label="terminal",
        session_key=wished.session_key,
        timeout_seconds=wished.timeout_seconds,
        idempotency_key=wished.idempotency_key,
    )
    seen = client.submit(asked)
    if not waits:
        if as_json:
            print_json("confirm-submitted", _plain(seen))
        else:
            click.echo(f"{seen.id}  {seen.status}")
        return
    if not as_json and seen.status == "pending":
        click.echo(f"Waiting for a person: `seasoned confirm approve {seen.id}` or deny.", err=True)
    seen = client.wait(seen.id, _LONGEST_SECONDS)
    if redeems and seen.is_approved:
        grant = client.redeem(seen.id, digest_of(asked, requester=seen.requester or ""))
        seen = msgspec.structs.replace(seen, redeemed_at=grant.redeemed_at)
    _tell(seen, as_json=as_json)


def wait_for(request_id: str, seconds: float, *, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """Wait for one request; exit code 1 unless it is approved."""
    client: ConfirmClient = service_client(url, token_file)
    _tell(client.wait(request_id, seconds), as_json=as_json)


def read_details(text: str) -> dict[str, Any]:
    """The details: written out, from a file (`@path`), or from stdin (`-`)."""
    try:
        data = sys.stdin.buffer.read() if text == "-" else Path(text[1:]).read_bytes() if text[:1] == "@" else text
    except OSError as error:
        raise CannotDo(f"{text[1:]!r} cannot be read: {error.strerror or error}.") from error
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f'--details is no JSON ({error}): write for instance \'{{"path": "/srv/logs"}}\'.') from error
    if not isinstance(found, dict):
        raise UsageError("--details is a JSON object: names with values.")
    return found


def _tell(seen: RequestView, *, as_json: bool) -> None:
    if as_json:
        print_json("confirm-request", _plain(seen))
        if not seen.is_approved:
            raise click.exceptions.Exit(1)
        return
    check_approved(seen)
    by = f" by {printable(seen.resolved_by)}" if seen.resolved_by else ""
    used = ", and redeemed: do it now" if seen.redeemed_at is not None else ""
    click.echo(f"{seen.id}  {seen.status}{by}{used}")


def _plain(seen: RequestView) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(seen).items() if value is not None}


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
