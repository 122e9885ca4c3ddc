"""What there is to see: requests, one of them, the audit, whether it holds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import msgspec

from seasoned.app.confirm import need_server, open_book
from seasoned.cli.confirm.passphrase import service_client
from seasoned.cli.output import console, print_json, printable, table, when
from seasoned.config import load, secret
from seasoned.confirm.request.request import Request
from seasoned.errors import NotFound
from seasoned.text import plural

_COLOURS = {"pending": "yellow", "approved": "green", "auto_approved": "green", "denied": "red", "expired": "dim"}


def print_requests(
    status: str | None, *, unused: bool, limit: int, url: str | None, token_file: Path | None, as_json: bool
) -> None:
    """Requests, the newest first."""
    if url is not None or token_file is not None:
        asked = {"limit": limit} | ({"status": status} if status else {}) | ({"unused": "true"} if unused else {})
        found = service_client(url, token_file).read(f"/confirm?{urlencode(asked)}").get("requests", [])
    else:
        found = _stored_requests(status, unused=unused, limit=limit)
    if as_json:
        print_json("confirm-requests", {"count": len(found), "requests": found})
        return
    if not found:
        click.echo("There are no requests that fit." if status or unused else "There are no requests yet.")
        return
    columns = ["id", "status", "action", "description", "requester", "asked", "decided by"]
    rows = [
        (
            one["id"],
            _standing(one),
            one["action"],
            " ".join(str(one["description"]).split())[:100],
            one["requester"],
            when(one["created_at"]),
            one["resolved_by"],
        )
        for one in found
    ]
    table(columns, rows, whole=["id", "status"])


def _stored_requests(status: str | None, *, unused: bool, limit: int) -> list[dict[str, Any]]:
    from seasoned.confirm.request.row import request_from_row

    with open_book() as book:
        book.expire_due()
        asked = {"requester": None, "status": status, "unused": int(unused), "limit": limit, "before": None}
        rows = book.database.rows("confirm.requests", asked)
        return [request_answer(request_from_row(book.database, row, book.seal)) for row in rows]


def print_request(request_id: str, *, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """One request with all that is known of it."""
    if url is not None or token_file is not None:
        found = service_client(url, token_file).read_request(request_id)
    else:
        found = stored_request(request_id)
    if as_json:
        print_json("confirm-request", found)
    else:
        draw_request(found)


def stored_request(request_id: str) -> dict[str, Any]:
    """One request of this machine's store."""
    from seasoned.confirm.request.row import request_from_row

    with open_book() as book:
        book.expire_due()
        row = book.database.row("confirm.request", {"id": request_id}) if request_id.isascii() else None
        if row is None:
            raise NotFound(f"There is no request {request_id!r}: see `seasoned confirm list`.")
        return request_answer(request_from_row(book.database, row, book.seal))


def request_answer(request: Request) -> dict[str, Any]:
    """A request as programs get it."""
    found: dict[str, Any] = msgspec.to_builtins(request)
    return {**found, "is_unused": request.is_unused}


def draw_request(found: dict[str, Any]) -> None:
    """A request as a person should see it before deciding: everything, and nothing that steers the terminal."""
    from rich.text import Text

    out = console()
    status = str(found.get("status", ""))
    head = Text(printable(f"{found.get('action')}  "), style="bold")
    head.append(status, style=_COLOURS.get(status, ""))
    out.print(head)
    # Set in from the edge, so that no description can pass for a line of ours; and whole, however long it is.
    out.print(Text("  " + printable(str(found.get("description", ""))).replace("\n", "\n  ")))
    shown = msgspec.json.format(msgspec.json.encode(found.get("details", {})), indent=2).decode()
    out.print(Text("  " + printable(shown).replace("\n", "\n  ")))
    if status == "pending" and not found.get("is_exact", True):
        out.print(Text("These are not the exact arguments: they could not be opened. Deny it.", style="red"))
    if found.get("finding"):
        out.print(Text("Beware: " + printable(str(found["finding"])).replace("\n", " "), style="red"))
    label = f" (calls itself {found['label']})" if found.get("label") else ""
    out.print(
        Text(printable(f"asked by {found.get('requester')}{label} at {when(found.get('created_at'))}"), style="dim")
    )
    if found.get("session_key"):
        out.print(Text(printable(f"session {found['session_key']}"), style="dim"))
    until = "decide until" if status == "pending" else "could be decided until"
    out.print(Text(f"{until} {when(found.get('expires_at'))} · digest {found.get('digest')}", style="dim"))
    for vote in found.get("votes") or ():
        said = f"{vote['voter']} {'approved' if vote['approve'] else 'denied'} it by {vote['via']}"
        out.print(Text(printable(said + (f": {vote['reason']}" if vote["reason"] else "")), style="dim"))
    if found.get("is_unused"):
        out.print(Text("approved, and not redeemed: it has not begun", style="yellow"))


def print_audit(limit: int, *, request_id: str | None, url: str | None, token_file: Path | None, as_json: bool) -> None:
    """What happened."""
    if url is not None or token_file is not None:
        found = service_client(url, token_file).read(f"/audit?limit={limit}").get("entries", [])
        if request_id is not None:
            found = [one for one in reversed(found) if one.get("request_id") == request_id]
    else:
        found = _stored_audit(limit, request_id)
    if as_json:
        print_json("confirm-audit", {"count": len(found), "entries": found})
        return
    rows = [(one["seq"], when(one["at"]), one["event"], one["actor"], one["via"], one["request_id"]) for one in found]
    table(["row", "when", "event", "by", "through", "request"], rows, right=["row"], whole=["request"])


def _stored_audit(limit: int, request_id: str | None) -> list[dict[str, Any]]:
    from seasoned.confirm.audit.chain import entries_of_request

    with open_book() as book:
        entries = book.audit(limit) if request_id is None else entries_of_request(book.database, request_id)
        return [msgspec.to_builtins(one) for one in entries]


def print_verified(heads: Path | None, *, as_json: bool) -> None:
    """Whether the audit holds; exit code 1 where it does not."""
    from seasoned.confirm.audit.chain import check_heads, read_heads
    from seasoned.confirm.audit.verify import verify

    with open_book() as book:
        found = verify(book.database)
        exported = read_heads(heads) if heads is not None else []
        if found.ok and exported:
            found = check_heads(book.database, exported)
    if as_json:
        print_json("confirm-verified", {**msgspec.to_builtins(found), "heads": len(exported)})
    elif found.ok:
        also = f", and holds {plural(len(exported), 'exported head')}" if exported else ""
        click.echo(f"The audit is whole: {plural(found.rows, 'row')}, each chained to the one before it{also}.")
    else:
        click.echo(f"The audit does not hold, first at row {found.first_bad}: {printable(found.reason)}.")
    if not found.ok:
        raise click.exceptions.Exit(1)


def print_head(to: str | None, *, as_json: bool) -> None:
    """How far the audit has come, after it was sent to a file or an address where one is given."""
    from seasoned.confirm.audit.chain import add_head, read_head

    with open_book() as book:
        found = read_head(book.database, now=time.time())
    if to is not None and "://" in to:
        need_server("httpx2")
        from seasoned.confirm.audit.export import send_head

        send_head(found, to, secret=secret("webhook_secret", load().home))
    elif to is not None:
        add_head(found, Path(to))
    if as_json:
        print_json("confirm-head", msgspec.to_builtins(found))
    else:
        sent = "" if to is None else f"  sent to {printable(to)}" if "://" in to else f"  added to {printable(to)}"
        click.echo(f"row {found.seq}  {found.hash}{sent}")


def _standing(found: dict[str, Any]) -> str:
    return f"{found['status']}, unused" if found.get("is_unused") else str(found["status"])
