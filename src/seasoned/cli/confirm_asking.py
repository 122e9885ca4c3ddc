"""The side that asks: submits a request, waits for it, redeems it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.cli.confirm_place import service_client
from seasoned.cli.output import print_json, printable
from seasoned.confirm.client.sync import ConfirmClient, RequestView, check_approved, digest_of
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import CannotDo, UsageError

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
