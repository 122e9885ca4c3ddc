"""Replays each request from the audit alone, and compares the result with the tables."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from seasoned.confirm.audit.chain import AuditCheck, AuditEntry, entries_of_request, verify_chain
from seasoned.confirm.request.request import Status
from seasoned.store import Database, DatabaseRow

_STATUS: dict[str, Status] = {
    "submitted": "pending",
    "auto_approved": "auto_approved",
    "approved": "approved",
    "denied": "denied",
    "expired": "expired",
}


class ReplayedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request as the audit records it."""

    status: Status
    digest: str
    requester: str
    # Persons who agreed, in order.
    approvals: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    resolved_by: str | None = None
    redeemed_at: float | None = None
    last_seq: int = 0


def rebuild(entries: Iterable[AuditEntry]) -> ReplayedRequest | None:
    """The state of a request after its entries; None if they do not begin with its submission."""
    found: ReplayedRequest | None = None
    for entry in entries:
        found = step(found, entry)
    return found


def step(before: ReplayedRequest | None, entry: AuditEntry) -> ReplayedRequest | None:
    """The state of a request after one more entry."""
    document = entry.document
    if entry.event in ("submitted", "auto_approved"):
        return ReplayedRequest(
            status=_STATUS[entry.event],
            digest=str(document["digest"]),
            requester=str(document["requester"]),
            resolved_by=entry.actor if entry.event == "auto_approved" else None,
            last_seq=entry.seq,
        )
    # Entries without a submission before them: `verify` reports that the request has no beginning.
    if before is None:
        return None
    replace = msgspec.structs.replace
    if entry.event == "voted":
        side = "approvals" if document["approve"] else "denials"
        before = replace(before, **{side: (*getattr(before, side), str(document["person"]))})
    elif entry.event in ("approved", "denied", "expired"):
        before = replace(before, status=_STATUS[entry.event], resolved_by=entry.actor)
    elif entry.event == "redeemed":
        before = replace(before, redeemed_at=entry.at)
    return replace(before, last_seq=entry.seq)


def verify(database: Database) -> AuditCheck:
    """Check the chain, and that every request is in the state that the audit records; else name the first bad row."""
    recorded: dict[str, ReplayedRequest | None] = {}

    def observe(entry: AuditEntry) -> None:
        if entry.request_id is not None:
            recorded[entry.request_id] = step(recorded.get(entry.request_id), entry)

    found = verify_chain(database, observe)
    if not found.ok:
        return found
    bad: list[tuple[int, str]] = []
    for request_id in _doubtful(database, recorded):
        # Read again in one transaction: it may have changed between the two readings.
        with database.write():
            rows = database.rows("confirm.request_state", {"id": request_id})
            again = rebuild(entries_of_request(database, request_id))
        sentence = _difference(rows[0] if rows else None, again)
        if sentence is not None:
            seq = again.last_seq if again is not None else found.rows + 1
            bad.append((seq, f"request {request_id!r} {sentence}"))
    if bad:
        seq, reason = min(bad)
        return AuditCheck(False, found.rows, seq, reason)
    return found


def _doubtful(database: Database, recorded: dict[str, ReplayedRequest | None]) -> list[str]:
    """Requests whose state in the tables seems to differ from the audit."""
    found = []
    seen = set()
    for row in database.each("confirm.request_states"):
        seen.add(str(row["id"]))
        if _difference(row, recorded.get(str(row["id"]))) is not None:
            found.append(str(row["id"]))
    return found + sorted(recorded.keys() - seen)


def _difference(row: DatabaseRow | None, recorded: ReplayedRequest | None) -> str | None:
    if row is None:
        return "is in the audit, and no longer in the table: it was deleted" if recorded is not None else None
    if recorded is None:
        return "has no beginning in the audit: it was not submitted through the service"
    votes = (len(recorded.approvals), len(recorded.denials))
    for name, in_table, in_audit in (
        ("status", row["status"], recorded.status),
        ("digest", row["digest"], recorded.digest),
        ("resolved_by", row["resolved_by"], recorded.resolved_by),
        ("redeemed_at", row["redeemed_at"], recorded.redeemed_at),
        ("votes for and against", (int(row["approvals"]), int(row["denials"])), votes),
    ):
        if in_table != in_audit:
            return f"has {name} {in_table!r} in the table, but {in_audit!r} in the audit"
    return None
