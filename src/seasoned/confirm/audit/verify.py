"""Checks the audit: all of it with every table it describes (`verify`), or one approval (`check_proven`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from seasoned.confirm.audit.chain import AuditCheck, AuditEntry, entries_of_request, has_own_hash, verify_chain
from seasoned.confirm.audit.ledger import UsedLedger
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.request import APPROVED, Status
from seasoned.errors import Refused
from seasoned.store import Database, DatabaseRow

# Machines that share a database may differ by this much.
CLOCK_SECONDS = 30.0
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

    Names everything that was changed outside the service, the first bad row first.
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
        # Again from the start, together with the tables: rows may have been added meanwhile.
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
    """Why a row about a request is not proven: a signature is missing, or it cannot have happened at that time."""
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


def check_proven(database: Database, state: RecordedState, row: DatabaseRow, policy: Policy, *, now: float) -> None:
    """Return if this approval is proven; otherwise raise Refused with what was changed outside the service."""
    wrong = _approval_problem(database, state, row, policy, now)
    if wrong is not None:
        raise Refused(f"the approval of {row['id']!r} is not proven: {wrong}; run `seasoned confirm verify`")


def _approval_problem(
    database: Database, state: RecordedState, row: DatabaseRow, policy: Policy, now: float
) -> str | None:
    entries = entries_of_request(database, str(row["id"]))
    if not entries or not all(has_own_hash(entry) for entry in entries):
        return "a row of the audit about it was changed"
    wrong = _table_problem(database, state, row, entries)
    if wrong is not None:
        return wrong
    if row["status"] == "auto_approved":
        session = str(row["session_key"])

        def by_policy() -> bool:
            return policy.allows(str(row["action"]), session, entries[0].at) is not None

        return state.rule_problem(entries[0], by_policy=by_policy)
    quorum = int(entries[0].document["quorum"])
    wrong = state.approval_problem(entries, digest=str(row["digest"]), quorum=quorum)
    if wrong is not None:
        return wrong
    voters = [entry for entry in entries if entry.event == "voted"]
    for vote in voters:
        found = database.row("confirm.credential_named", {"name": vote.actor})
        wrong = "its voter is gone" if found is None else state.credential_problem(found)
        if wrong is not None:
            return wrong
    decided_at = max(vote.at for vote in voters)
    # From the signed time of the vote: the time in the table could be anything.
    if now >= decided_at + policy.redeem_seconds:
        return "its time is over, by the signed time of the vote"
    return "the clock was set back since it was approved" if now < decided_at - CLOCK_SECONDS else None


def _table_problem(database: Database, state: RecordedState, row: DatabaseRow, entries: list[AuditEntry]) -> str | None:
    """How the tables differ from the audit about the request or its requester."""
    asker = database.row("confirm.credential", {"id": row["requester"]})
    wrong = "its requester is gone" if asker is None else state.credential_problem(asker)
    if wrong is not None:
        return wrong
    asked = entries[0].document
    for name, in_table, recorded in (
        ("requester", row["requester_name"], asked.get("requester")),
        ("action", row["action"], asked.get("action")),
        ("digest", row["digest"], asked.get("digest")),
        ("quorum", row["quorum"], asked.get("quorum")),
        ("expires_at", row["expires_at"], asked.get("expires_at")),
    ):
        if in_table != recorded:
            return f"its {name} was changed outside the service"
    ended = [entry.event for entry in entries if entry.event in ("redeemed", "denied", "expired")]
    return f"the audit says that it was already {ended[0]}" if ended else None
