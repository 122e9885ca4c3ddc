"""Whether an approval is proven: by the signatures of the people who gave it, and tables that are as the audit says."""

from __future__ import annotations

from seasoned.confirm.audit.chain import AuditEntry, entries_of_request, has_own_hash
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.policy import Policy
from seasoned.errors import Refused
from seasoned.store import Database, DatabaseRow

# Machines that share a database may differ by this much.
CLOCK_SECONDS = 30.0


def check_proven(database: Database, state: RecordedState, row: DatabaseRow, policy: Policy, *, now: float) -> None:
    """Raise Refused, with what was changed beside the service, unless this approval is proven."""
    wrong = _unproven(database, state, row, policy, now)
    if wrong is not None:
        raise Refused(f"the approval of {row['id']!r} is not proven: {wrong}; run `seasoned confirm verify`")


def _unproven(database: Database, state: RecordedState, row: DatabaseRow, policy: Policy, now: float) -> str | None:
    entries = entries_of_request(database, str(row["id"]))
    if not entries or not all(has_own_hash(entry) for entry in entries):
        return "a row of the audit about it was changed"
    wrong = _changed(database, state, row, entries)
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


def _changed(database: Database, state: RecordedState, row: DatabaseRow, entries: list[AuditEntry]) -> str | None:
    """What the tables say about the request or its requester that the audit does not."""
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
            return f"its {name} was changed beside the service"
    ended = [entry.event for entry in entries if entry.event in ("redeemed", "denied", "expired")]
    return f"it was {ended[0]} before, says the audit" if ended else None
