"""Turns rows of the store into requests."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.command.rows import Finding
from seasoned.confirm.request.canonical_json import digest_of
from seasoned.confirm.request.content import finding_of, need_in
from seasoned.confirm.request.request import Request, Vote
from seasoned.confirm.request.seal import Seal
from seasoned.errors import CannotDo
from seasoned.store import Database, DatabaseRow


def request_from_row(database: Database, row: DatabaseRow, seal: Seal) -> Request:
    """The request in a row, with its votes. What cannot be unsealed stays redacted, and `is_exact` says so."""
    exact = None
    if row["sealed"] is not None:
        try:
            exact = unsealed(row, seal)
        except CannotDo:
            # It can still be shown redacted; approving it is refused.
            exact = None
    # Computed from what was sealed, so that writing the database does not remove the warning.
    finding = "" if exact is None else finding_of(str(row["action"]), need_in(exact["details"]))
    return _request(row, exact, row["redeemed_at"], votes_of(database, str(row["id"])), finding)


def new_request(row: DatabaseRow, written: bytes | None, need: Finding | None) -> Request:
    """The request in a row that was just written, with its exact bytes unless it is final."""
    if written is None:
        return _request(row, None, None, (), "")
    return _request(row, msgspec.json.decode(written), None, (), finding_of(str(row["action"]), need))


def _request(
    row: DatabaseRow, exact: dict[str, Any] | None, redeemed_at: float | None, votes: tuple[Vote, ...], finding: str
) -> Request:
    return Request(
        id=str(row["id"]),
        action=str(row["action"]),
        description=str(row["description"]) if exact is None else str(exact["description"]),
        details=msgspec.json.decode(row["details"]) if exact is None else exact["details"],
        requester=str(row["requester_name"]),
        label=str(row["label"]),
        session_key=str(row["session_key"]),
        status=row["status"],
        timeout_seconds=float(row["timeout_seconds"]),
        created_at=float(row["created_at"]),
        expires_at=float(row["expires_at"]),
        resolved_at=row["resolved_at"],
        resolved_by=row["resolved_by"],
        reason=str(row["reason"]),
        digest=str(row["digest"]),
        redeem_before=row["redeem_before"],
        redeemed_at=redeemed_at,
        votes=votes,
        quorum=int(row["quorum"]),
        is_exact=exact is not None,
        finding=finding,
    )


def unsealed(row: DatabaseRow, seal: Seal) -> dict[str, Any]:
    """The exact request; CannotDo if it does not match its digest."""
    written = seal.open(str(row["id"]), bytes(row["sealed"]))
    exact: dict[str, Any] = msgspec.json.decode(written)
    # The row's action chooses the approvers, so it must be the one that was encrypted.
    if digest_of(written) != row["digest"] or exact["action"] != row["action"]:
        raise CannotDo(
            f"request {row['id']!r} was changed in the database after it was submitted: deny it, and run "
            "`seasoned confirm verify`"
        )
    return exact


def votes_of(database: Database, request_id: str) -> tuple[Vote, ...]:
    """The votes on a request, oldest first."""
    return tuple(
        Vote(
            voter=str(row["voter_name"]),
            person=str(row["person"]),
            approve=bool(row["approve"]),
            reason=str(row["reason"]),
            via=str(row["via"]),
            at=float(row["at"]),
        )
        for row in database.rows("confirm.votes", {"request_id": request_id})
    )
