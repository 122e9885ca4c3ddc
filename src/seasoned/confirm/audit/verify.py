"""Checks the audit as a whole: the chain, the signatures in it, and every table that it speaks about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from seasoned.confirm.audit.chain import AuditCheck, AuditEntry, entries_of_request, verify_chain
from seasoned.confirm.audit.ledger import UsedLedger
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.request.request import APPROVED, Status
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
    resolved_at: float = 0.0
    # What an older version did not record is as wide as it can be.
    expires_at: float = math.inf
    redeem_before: float | None = None
    quorum: int = 1
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
            resolved_at=entry.at,
            expires_at=float(document["expires_at"]),
            redeem_before=document.get("redeem_before"),
            quorum=int(document["quorum"]),
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
        ends = document.get("redeem_before")
        before = replace(
            before, status=_STATUS[entry.event], resolved_by=entry.actor, resolved_at=entry.at, redeem_before=ends
        )
    elif entry.event == "redeemed":
        before = replace(before, redeemed_at=entry.at)
    return replace(before, last_seq=entry.seq)


def verify(database: Database, used: UsedLedger | None = None) -> AuditCheck:
    """Check the chain, its signatures, and that requests, people and rules are as the audit records them.

    Everything that was changed beside the service is named, the first bad row first.
    """
    recorded: dict[str, ReplayedRequest | None] = {}
    state = RecordedState(database)
    unproven: list[tuple[int, str]] = []

    def observe(entry: AuditEntry) -> None:
        state.step(entry)
        if entry.request_id is None:
            return
        before = recorded.get(entry.request_id)
        try:
            after = recorded[entry.request_id] = step(before, entry)
            wrong = None if after is None else _unproven(state, before, entry)
        except (KeyError, TypeError, ValueError):
            wrong = f"row {entry.seq} is not one of the service"
        if wrong is not None:
            unproven.append((entry.seq, f"request {entry.request_id!r}: {wrong}"))

    found = verify_chain(database, observe)
    if not found.ok:
        return msgspec.structs.replace(found, problems=(found.reason,))
    bad = [*state.problems, *unproven]
    for request_id in _doubtful(database, recorded):
        # Read again in one transaction: it may have changed between the two readings.
        with database.write():
            rows = database.rows("confirm.request_state", {"id": request_id})
            again = rebuild(entries_of_request(database, request_id))
        sentence = _difference(rows[0] if rows else None, again)
        if sentence is not None:
            seq = again.last_seq if again is not None else found.rows + 1
            bad.append((seq, f"request {request_id!r} {sentence}"))
    with database.write():
        # Again from the beginning, and together with the tables: rows may have come meanwhile.
        bad += [(found.rows + 1, sentence) for sentence in RecordedState(database).update().differences()]
    if used is not None:
        bad += [(found.rows + 1, sentence) for sentence in used.problems(database)]
    return checked(found.rows, bad)


def checked(rows: int, bad: Sequence[tuple[int, str]]) -> AuditCheck:
    """The result of a check: the first bad row, and everything that was found."""
    if not bad:
        return AuditCheck(True, rows)
    in_order = sorted(bad)
    return AuditCheck(False, rows, *in_order[0], problems=tuple(reason for _, reason in in_order))


def _unproven(state: RecordedState, before: ReplayedRequest | None, entry: AuditEntry) -> str | None:
    """What a row about a request says that no person signed, or that cannot have happened at that time."""
    if entry.event == "auto_approved":
        return state.rule_problem(entry, by_policy=lambda: True)
    if before is None:
        return None
    if entry.event == "voted":
        if (wrong := state.vote_problem(entry, before.digest)) is not None:
            return wrong
        return f"row {entry.seq} is a vote after its end" if entry.at >= before.expires_at else None
    if entry.event == "approved" and len(set(before.approvals)) < before.quorum:
        return f"row {entry.seq} approves it with {len(set(before.approvals))} of {before.quorum} approvals"
    if entry.event == "expired" and entry.at < before.expires_at:
        return f"row {entry.seq} lets it expire before its time"
    if entry.event == "redeemed":
        if before.redeemed_at is not None:
            return f"row {entry.seq} redeems it a second time"
        ends = before.redeem_before
        if before.status not in APPROVED or (ends is not None and not before.resolved_at <= entry.at < ends):
            return f"row {entry.seq} redeems it at a time when it was not approved"
    return None


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
        ("redeem_before", row["redeem_before"], recorded.redeem_before),
        ("expires_at", row["expires_at"], recorded.expires_at),
        ("quorum", row["quorum"], recorded.quorum),
        ("votes for and against", (int(row["approvals"]), int(row["denials"])), votes),
    ):
        if in_table != in_audit:
            return f"has {name} {in_table!r} in the table, but {in_audit!r} in the audit"
    return None
