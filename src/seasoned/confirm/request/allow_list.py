"""The stored allow-list: actions that are approved without asking, for all sessions or one, with or without an end.

None of the ten high-risk actions is ever on it: they are refused here and by the table, and ignored when it is used.
"""

from __future__ import annotations

import msgspec

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.confirm.audit.chain import Chain
from seasoned.confirm.people.credential import Proof
from seasoned.confirm.request.canonical_json import check_text
from seasoned.confirm.request.request import new_id
from seasoned.errors import NotFound, Refused, UsageError
from seasoned.store import Database, DatabaseRow


class AllowedAction(msgspec.Struct, frozen=True, kw_only=True):
    """One action that is approved without a person."""

    id: str
    action: str
    # The only session it applies to (redacted); None means all.
    session_key: str | None
    expires_at: float | None
    created_at: float
    created_by: str


def add(
    database: Database,
    chain: Chain,
    *,
    action: str,
    proof: Proof,
    now: float,
    session_key: str | None = None,
    expires_at: float | None = None,
) -> AllowedAction:
    """Allow an action, inside an open transaction. The session key must be redacted already."""
    action = check_allowable(action)
    if session_key is not None:
        check_text(session_key, "session_key", most=500, least=1)
    if expires_at is not None and expires_at <= now:
        raise UsageError("expires_at is in the past: give a future time, or none")
    made = AllowedAction(
        id=new_id(),
        action=action,
        session_key=session_key,
        expires_at=None if expires_at is None else float(expires_at),
        created_at=float(now),
        created_by=proof.by,
    )
    database.run("confirm.add_allowed", msgspec.structs.asdict(made))
    facts = {"id": made.id, "action": action, "session_key": session_key, "expires_at": made.expires_at}
    chain.append("allow_added", proof.facts(facts), at=now, actor=proof.by, signer=proof.signer)
    return made


def remove(database: Database, chain: Chain, allowed_id: str, *, proof: Proof, now: float) -> AllowedAction:
    """Remove an entry from the list, inside an open transaction."""
    rows = database.rows("confirm.remove_allowed", {"id": allowed_id})
    if not rows:
        raise NotFound(f"no allow-list entry has the id {allowed_id!r}: see `seasoned confirm allow list`")
    facts = proof.facts({"id": allowed_id, "action": rows[0]["action"]})
    chain.append("allow_removed", facts, at=now, actor=proof.by, signer=proof.signer)
    return _allowed(rows[0])


def allow_list(database: Database) -> list[AllowedAction]:
    """All entries, oldest first, including expired ones."""
    return [_allowed(row) for row in database.rows("confirm.allowed")]


def rules_for(database: Database, action: str, session_key: str, *, now: float) -> list[str]:
    """Ids of the entries that allow this action in this session now; none for one of the ten."""
    if action in HIGH_RISK:
        return []
    key = {"action": action, "session_key": session_key, "now": float(now)}
    return [str(row["id"]) for row in database.rows("confirm.allowed_now", key)]


def check_allowable(action: str) -> str:
    """The normalised name of an action that may be on the list; Refused for one of the ten."""
    name = check_action(action)
    if name in HIGH_RISK:
        raise Refused(f"{name!r} always needs a person: no allow-list can cover it")
    return name


def _allowed(row: DatabaseRow) -> AllowedAction:
    return AllowedAction(
        id=str(row["id"]),
        action=str(row["action"]),
        session_key=row["session_key"],
        expires_at=row["expires_at"],
        created_at=float(row["created_at"]),
        created_by=str(row["created_by"]),
    )
