"""Requests and the audit: read from this machine's store, and printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.app.confirm import open_book
from seasoned.cli.output import console, print_json, printable, table, when
from seasoned.confirm.audit.archive import read_archives
from seasoned.confirm.request.request import Request
from seasoned.errors import NotFound

if TYPE_CHECKING:
    from seasoned.confirm.request.book import Book

_COLOURS = {"pending": "yellow", "approved": "green", "auto_approved": "green", "denied": "red", "expired": "dim"}


def stored_requests(status: str | None, *, unused: bool, limit: int) -> list[dict[str, Any]]:
    """Requests in this machine's store, newest first."""
    with open_book() as book:
        from seasoned.confirm.request.row import request_from_row

        # Nothing expires by itself without a running service; the list must not call old requests pending.
        book.expire_due()
        asked = {"requester": None, "status": status, "unused": int(unused), "limit": limit, "before": None}
        rows = book.database.rows("confirm.requests", asked)
        return [_answer(request_from_row(book.database, row, book.seal)) for row in rows]


def stored_request(book: Book, request_id: str) -> dict[str, Any]:
    """One request in this machine's store."""
    from seasoned.confirm.request.row import request_from_row

    # Ids are ASCII, so nothing else can be one.
    row = book.database.row("confirm.request", {"id": request_id}) if request_id.isascii() else None
    if row is None:
        raise NotFound(f"There is no request {request_id!r}. See `seasoned confirm list`.")
    return _answer(request_from_row(book.database, row, book.seal))


def _answer(request: Request) -> dict[str, Any]:
    return {**msgspec.to_builtins(request), "is_unused": request.is_unused}


def stored_audit(limit: int, request_id: str | None) -> list[dict[str, Any]]:
    """Rows of this machine's audit: the newest, or all of one request."""
    with open_book() as book:
        from seasoned.confirm.audit.chain import entries_of_request

        entries = book.audit(limit) if request_id is None else entries_of_request(book.database, request_id)
        return [msgspec.to_builtins(one) for one in entries]


def print_requests(found: list[dict[str, Any]]) -> None:
    """A table of requests."""
    rows = [
        (
            one["id"],
            f"{one['status']}, unused" if one.get("is_unused") else one["status"],
            one["action"],
            " ".join(str(one["description"]).split())[:100],
            one["requester"],
            when(one["created_at"]),
            one["resolved_by"],
        )
        for one in found
    ]
    columns = ["id", "status", "action", "description", "requester", "asked", "decided by"]
    table(columns, rows, whole=["id", "status"])


def print_audit(found: list[dict[str, Any]]) -> None:
    """A table of the audit's rows."""
    # A service of an older version names neither action nor status.
    fields = ("event", "action", "status", "actor", "via", "request_id")
    rows = [(one["seq"], when(one["at"]), *[one.get(field) for field in fields]) for one in found]
    columns = ["row", "when", "event", "action", "status", "by", "through", "request"]
    table(columns, rows, right=["row"], whole=["request"])


def print_archive(home: Path, limit: int, *, as_json: bool) -> None:
    """Requests of the first version, as they were archived."""
    found = [msgspec.to_builtins(one) for one in read_archives(home, limit=limit)]
    if as_json:
        print_json("confirm-archive", {"count": len(found), "requests": found})
        return
    if not found:
        raise NotFound("There is no archive. `seasoned adopt` makes one from the audit of the first version.")
    rows = [
        (
            when(one["created_at"]),
            one["action"],
            one["status"],
            " ".join(str(one["description"] or "").split())[:100],
            one["requester"],
            one["resolved_by"],
            one["reason"],
        )
        for one in found
    ]
    table(["when", "action", "status", "description", "requester", "decided by", "reason"], rows, whole=["when"])


def print_request(found: dict[str, Any]) -> None:
    """Everything a person should see before deciding, and nothing that could steer the terminal."""
    from rich.text import Text

    out = console()
    status = str(found.get("status", ""))
    head = Text(printable(f"{found.get('action')}  "), style="bold")
    head.append(status, style=_COLOURS.get(status, ""))
    out.print(head)
    # Indented, so that no description can pass for a line of ours, and complete, however long it is.
    out.print(Text("  " + printable(str(found.get("description", ""))).replace("\n", "\n  ")))
    shown = msgspec.json.format(msgspec.json.encode(found.get("details", {})), indent=2).decode()
    out.print(Text("  " + printable(shown).replace("\n", "\n  ")))
    # An approval is worth nothing unless its giver has seen the exact arguments.
    if status == "pending" and not found.get("is_exact", True):
        out.print(Text("These are not the exact arguments: they could not be decrypted. Deny it.", style="red"))
    if found.get("finding"):
        out.print(Text("Warning: " + printable(str(found["finding"])).replace("\n", " "), style="red"))
    # The requester is proven by a token; the label is only what the agent says about itself.
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
        out.print(Text("approved, but not redeemed: it has not started", style="yellow"))
