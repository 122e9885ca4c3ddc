"""The audit: append-only rows, each chained to the one before it by SHA-256, and replayed to check the tables.

The chain shows that a row was changed, left out or added. A program that may write the database could still rewrite
all of it; that shows only against a head that was exported out of its reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from seasoned.confirm.request.canonical_json import canonical, digest_of
from seasoned.confirm.request.request import Status
from seasoned.errors import StoreError, UsageError
from seasoned.store import Database, DatabaseRow

# What the first row is chained to.
FIRST = "0" * 64


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, by whom, and the hash that chains it to what happened before."""

    seq: int
    at: float
    # submitted, auto_approved, voted, approved, denied, expired, redeemed, refused; credential_…, allow_…, policy_…
    event: str
    request_id: str | None
    # Name of a credential, or `system:…`.
    actor: str
    via: str
    document: dict[str, Any]
    previous: str
    hash: str
    # Of the request that it is about, as it is now; neither is part of the chain.
    action: str | None = None
    status: Status | None = None


class AuditHead(msgspec.Struct, frozen=True):
    """The number and hash of the newest row, and when it was read."""

    seq: int
    hash: str
    at: float = 0.0


class AuditCheck(msgspec.Struct, frozen=True):
    """Whether the audit is intact; if not, the first bad row and the reason."""

    ok: bool
    rows: int
    first_bad: int | None = None
    reason: str = ""


class Chain:
    """The end of the audit inside one write transaction; `append` adds to it."""

    def __init__(self, database: Database, head: AuditHead) -> None:
        self._database = database
        self.head = head

    def append(
        self,
        event: str,
        document: dict[str, Any] | None = None,
        *,
        at: float,
        actor: str,
        request_id: str | None = None,
        via: str = "",
    ) -> None:
        """Add a row. Everything in it must be redacted already."""
        body = {
            "seq": self.head.seq + 1,
            "at": float(at),
            "event": event,
            "request_id": request_id,
            "actor": actor,
            "via": via,
            # As text: the hash covers these bytes, however a database would write JSON.
            "document": canonical(document or {}, field="document").decode(),
            "previous": self.head.hash,
        }
        head = AuditHead(self.head.seq + 1, _hash(body), float(at))
        self._database.run("confirm.add_audit", {**body, "hash": head.hash})
        self.head = head


@contextmanager
def writing(database: Database) -> Iterator[Chain]:
    """A write transaction that holds the head of the audit: one at a time, on both databases and across processes."""
    with database.write():
        # SQLite has one writer anyway, so reading is enough there; PostgreSQL needs a row lock.
        rows = database.rows("confirm.head" if database.kind == "sqlite" else "confirm.lock_head")
        if not rows:
            raise StoreError("the audit has no head: the table audit_head was emptied by hand; restore a backup")
        yield Chain(database, AuditHead(int(rows[0]["seq"]), str(rows[0]["hash"])))


def newest_entries(database: Database, limit: int = 50) -> list[AuditEntry]:
    """The newest entries, newest first."""
    if not 1 <= limit <= 500:
        raise UsageError(f"limit is between 1 and 500, not {limit!r}")
    return [_entry_of_request(row) for row in database.rows("confirm.audit_newest", {"limit": limit})]


def entries_of_request(database: Database, request_id: str) -> list[AuditEntry]:
    """Everything that happened to one request, oldest first."""
    return [_entry_of_request(row) for row in database.rows("confirm.audit_of_request", {"request_id": request_id})]


def read_head(database: Database, *, now: float = 0.0) -> AuditHead:
    """The newest row's number and hash."""
    row = database.row("confirm.head")
    if row is None:
        raise StoreError("the audit has no head: the table audit_head was emptied by hand; restore a backup")
    return AuditHead(int(row["seq"]), str(row["hash"]), now)


def verify_chain(database: Database, observe: Callable[[AuditEntry], None] | None = None) -> AuditCheck:
    """Check that every row up to the head is present and unchanged; `observe` is called with each good one."""
    # Read first: rows that others add while this one reads lie beyond it.
    known = read_head(database)
    before = FIRST
    count = 0
    for row in database.each("confirm.audit_all"):
        seq = int(row["seq"])
        if seq > known.seq and count == known.seq:
            break
        if seq != count + 1:
            return AuditCheck(False, count, count + 1, f"row {count + 1} is missing: row {seq} follows row {count}")
        if row["previous"] != before:
            return AuditCheck(False, count, seq, f"row {seq} is not chained to the row before it")
        if not _has_its_hash(row):
            return AuditCheck(False, count, seq, f"row {seq} was changed: its content does not give its hash")
        before = str(row["hash"])
        count = seq
        if observe is not None:
            observe(_entry(row))
    if count < known.seq:
        missing = (
            f"rows {count + 1} to {known.seq} are missing" if known.seq > count + 1 else f"row {known.seq} is missing"
        )
        return AuditCheck(False, count, count + 1, f"{missing}: the head says there are {known.seq}")
    if before != known.hash:
        return AuditCheck(False, count, count, f"row {count} is not the one that the head was written for")
    return AuditCheck(True, count)


def _hash(body: dict[str, Any]) -> str:
    return digest_of(canonical(body, field="row"))


def _has_its_hash(row: DatabaseRow) -> bool:
    try:
        return bool(row["hash"] == _hash(_body(row)))
    except (UsageError, TypeError, ValueError):
        # What was put there is not even what a row can hold.
        return False


def _body(row: DatabaseRow) -> dict[str, Any]:
    return {
        "seq": int(row["seq"]),
        "at": float(row["at"]),
        "event": row["event"],
        "request_id": row["request_id"],
        "actor": row["actor"],
        "via": row["via"],
        "document": row["document"],
        "previous": row["previous"],
    }


def _entry_of_request(row: DatabaseRow) -> AuditEntry:
    return msgspec.structs.replace(_entry(row), action=row["action"], status=row["status"])


def _entry(row: DatabaseRow) -> AuditEntry:
    body = _body(row)
    return AuditEntry(**{**body, "document": msgspec.json.decode(body["document"])}, hash=str(row["hash"]))


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
