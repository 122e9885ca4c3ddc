"""Checks the audit: all of it, with the requests and people it describes, or the proof of one approval.

The head, the number and hash of the newest row, is kept out of an agent's reach as a line in a file. With such a file,
`confirm verify --heads` notices that the audit was cut off or rewritten as a whole, which the chain alone cannot show.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from seasoned.command.action import HIGH_RISK
from seasoned.confirm.audit.chain import (
    FIRST,
    AuditCheck,
    AuditEntry,
    AuditHead,
    RecordedState,
    entries_of_request,
    entry_from_row,
    has_own_hash,
    read_head,
    verify_chain,
)
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.request import APPROVED
from seasoned.errors import CannotDo, Refused, UsageError
from seasoned.store import Database, DatabaseRow

# Machines that share a database may differ by this much.
CLOCK_SECONDS = 30.0
# What the table says about a request, and the audit must say too.
_COMPARED = (
    *("action", "requester_name", "status", "digest", "resolved_by"),
    *("redeemed_at", "redeem_before", "expires_at", "quorum"),
)
_ENDS = ("approved", "denied", "expired")


class ReplayedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request as the audit records it."""

    action: str
    requester_name: str
    status: str
    digest: str
    expires_at: float
    quorum: int
    redeem_before: float | None = None
    resolved_by: str | None = None
    resolved_at: float = 0.0
    redeemed_at: float | None = None
    # Persons who agreed, and who did not.
    approvals: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    # When the newest vote was signed.
    voted_at: float = 0.0
    last_seq: int = 0


def rebuild(entries: Iterable[AuditEntry]) -> ReplayedRequest | None:
    """The state of a request after its entries; None if they do not begin with its submission."""
    found: ReplayedRequest | None = None
    for entry in entries:
        found = _after(found, entry)
    return found


def _after(before: ReplayedRequest | None, entry: AuditEntry) -> ReplayedRequest | None:
    document, replace = entry.document, msgspec.structs.replace
    if before is None and entry.event in ("submitted", "auto_approved"):
        is_approved = entry.event == "auto_approved"
        return ReplayedRequest(
            action=str(document["action"]),
            requester_name=str(document["requester"]),
            status="auto_approved" if is_approved else "pending",
            digest=str(document["digest"]),
            expires_at=float(document["expires_at"]),
            quorum=int(document["quorum"]),
            redeem_before=document.get("redeem_before"),
            resolved_by=entry.actor if is_approved else None,
            resolved_at=entry.at,
            last_seq=entry.seq,
        )
    # Entries without a submission before them: `verify` reports that the request has no beginning.
    if before is None:
        return None
    if entry.event == "voted":
        side = "approvals" if document["approve"] else "denials"
        voters = (*getattr(before, side), str(document["person"]))
        before = replace(before, voted_at=max(before.voted_at, entry.at), **{side: voters})
    elif entry.event in _ENDS:
        ends = document.get("redeem_before")
        before = replace(before, status=entry.event, resolved_by=entry.actor, resolved_at=entry.at, redeem_before=ends)
    elif entry.event == "redeemed":
        before = replace(before, redeemed_at=entry.at)
    return replace(before, last_seq=entry.seq)


def _step(
    state: RecordedState, before: ReplayedRequest | None, entry: AuditEntry
) -> tuple[ReplayedRequest | None, str | None]:
    """The request after one more row, and why that row is not proven; None if it is."""
    try:
        after = _after(before, entry)
        return after, None if before is None else _unproven(state, before, entry)
    except (KeyError, TypeError, ValueError):
        return before, f"row {entry.seq} is not one of the service"


def verify(database: Database) -> AuditCheck:
    """Check the chain, its signatures, and that requests and people are as the audit records them.

    Names everything that was changed outside the service, the first bad row first.
    """
    recorded: dict[str, ReplayedRequest | None] = {}
    state = RecordedState(database)
    unproven: list[tuple[int, str]] = []

    def observe(entry: AuditEntry) -> None:
        state.step(entry)
        if entry.request_id is None:
            return
        recorded[entry.request_id], wrong = _step(state, recorded.get(entry.request_id), entry)
        if wrong is not None:
            unproven.append((entry.seq, f"request {entry.request_id!r}: {wrong}"))

    found = verify_chain(database, observe)
    if not found.ok:
        return msgspec.structs.replace(found, problems=(found.reason,))
    bad = [*state.problems, *unproven]
    doubtful = _doubtful(database, recorded)
    # Read again with no writer in between: what seems to differ may have changed between the two readings.
    with database.write():
        for request_id in doubtful:
            rows = database.rows("confirm.request_state", {"id": request_id})
            again = rebuild(entries_of_request(database, request_id))
            if (wrong := _difference(rows[0] if rows else None, again)) is not None:
                seq = found.rows + 1 if again is None else again.last_seq
                bad.append((seq, f"request {request_id!r} {wrong}"))
        people = RecordedState(database).update()
        bad += [(found.rows + 1, wrong) for wrong in _people_problems(database, people)]
    if not bad:
        return AuditCheck(True, found.rows)
    in_order = sorted(bad)
    return AuditCheck(False, found.rows, *in_order[0], problems=tuple(reason for _, reason in in_order))


def _unproven(state: RecordedState, before: ReplayedRequest, entry: AuditEntry) -> str | None:
    """Why a row about a request is not proven: a signature is missing, or it cannot have happened at that time."""
    if entry.event in ("submitted", "auto_approved"):
        return f"row {entry.seq} submits it a second time"
    if entry.event == "voted":
        if (wrong := state.vote_problem(entry, before.digest)) is not None:
            return wrong
        return f"row {entry.seq} is a vote after its end" if entry.at >= before.expires_at else None
    if entry.event in _ENDS and before.status != "pending":
        return f"row {entry.seq} ends it a second time"
    if entry.event == "approved" and (before.denials or len(set(before.approvals)) < before.quorum):
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
    rows = {str(row["id"]): row for row in database.each("confirm.request_states")}
    found = [key for key, row in rows.items() if _difference(row, recorded.get(key)) is not None]
    return found + sorted(recorded.keys() - rows.keys())


def _difference(row: DatabaseRow | None, recorded: ReplayedRequest | None) -> str | None:
    if row is None:
        return "is in the audit, and no longer in the table: it was deleted" if recorded is not None else None
    if recorded is None:
        return "has no beginning in the audit: it was not submitted through the service"
    compared = [(name, row[name], getattr(recorded, name)) for name in _COMPARED]
    votes = (len(recorded.approvals), len(recorded.denials))
    compared.append(("votes for and against", (int(row["approvals"]), int(row["denials"])), votes))
    for name, in_table, in_audit in compared:
        if in_table != in_audit:
            return f"has {name} {in_table!r} in the table, but {in_audit!r} in the audit"
    return None


def _people_problems(database: Database, state: RecordedState) -> list[str]:
    rows = database.rows("confirm.credentials_whole")
    gone = state.people.keys() - {str(row["name"]) for row in rows}
    return [
        *(wrong for row in rows if (wrong := state.credential_problem(row)) is not None),
        *(f"the credential {name!r} was deleted outside the service" for name in sorted(gone)),
    ]


def check_proven(database: Database, state: RecordedState, row: DatabaseRow, policy: Policy, *, now: float) -> None:
    """Return if this approval is proven; otherwise raise Refused with what was changed outside the service."""
    wrong = _approval_problem(database, state, row, policy, now)
    if wrong is not None:
        raise Refused(f"the approval of {row['id']!r} is not proven: {wrong}; run `seasoned confirm verify`")


def _approval_problem(
    database: Database, state: RecordedState, row: DatabaseRow, policy: Policy, now: float
) -> str | None:
    rows = database.rows("confirm.audit_of_request", {"request_id": row["id"]})
    if not all(map(has_own_hash, rows)):
        return "a row of the audit about it was changed"
    asker = database.row("confirm.credential", {"id": row["requester"]})
    wrong = "its requester is gone" if asker is None else state.credential_problem(asker)
    replayed = None
    for entry in map(entry_from_row, rows):
        replayed, unproven = _step(state, replayed, entry)
        wrong = wrong or unproven
    wrong = wrong or _difference(database.row("confirm.request_state", {"id": row["id"]}), replayed)
    if wrong is not None or replayed is None:
        return wrong
    if replayed.status == "auto_approved":
        # The row has the redacted session key, so the session of a rule cannot be compared.
        is_allowed = any(rule.action == replayed.action for rule in policy.allow)
        return None if is_allowed and replayed.action not in HIGH_RISK else "it needs a person"
    # From the signed time of the vote: the time in the table could be anything.
    if now >= replayed.voted_at + policy.redeem_seconds:
        return "its time is over, by the signed time of the vote"
    return "the clock was set back since it was approved" if now < replayed.voted_at - CLOCK_SECONDS else None


def full_head(database: Database, *, now: float) -> AuditHead:
    """The head, with the keys of the people who decide."""
    keys = RecordedState(database).update().public_keys()
    return msgspec.structs.replace(read_head(database, now=now), keys=keys)


def read_heads(file: Path) -> list[AuditHead]:
    """The heads that were exported to a file, oldest first."""
    try:
        return [msgspec.json.decode(line, type=AuditHead) for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise CannotDo(f"{str(file)!r} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{str(file)!r} has a line that is not an exported head: {error}") from error


def check_heads(database: Database, exported: Iterable[AuditHead]) -> AuditCheck:
    """Whether the audit still contains every exported head, with its keys; the first that does not fit is named."""
    found = verify_chain(database)
    if not found.ok:
        return found
    state = RecordedState(database).update()
    for one in exported:
        if (wrong := _head_problem(database, state, one, found.rows)) is not None:
            seq, reason = wrong
            return AuditCheck(False, found.rows, seq, reason, problems=(reason,))
    return found


def _head_problem(database: Database, state: RecordedState, exported: AuditHead, rows: int) -> tuple[int, str] | None:
    """The row and the reason why an exported head does not belong to the audit; None if it does."""
    row = database.row("confirm.audit_row", {"seq": exported.seq})
    if row is None and exported.seq > 0:
        return rows + 1, f"the exported head is row {exported.seq}, the audit ends at {rows}: its end was cut off"
    if exported.hash != (FIRST if row is None else row["hash"]):
        reason = f"row {exported.seq} is not the one that was exported: the audit was rewritten at or before it"
        return exported.seq, reason
    for name, public in exported.keys.items():
        key = state.keys.get(public)
        if key is None or key.name != name or key.since > exported.seq:
            reason = f"the key that was exported for {name!r} is not in the audit: it was replaced outside the service"
            return exported.seq, reason
    # A row that follows the export cannot be older than it: the clock was wrong.
    early = database.row("confirm.audit_earlier", {"seq": exported.seq, "at": exported.at - CLOCK_SECONDS})
    if early is None:
        return None
    reason = f"row {early['seq']} says that it is older than the head of row {exported.seq}: the clock was set back"
    return int(early["seq"]), reason
