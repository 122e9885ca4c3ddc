"""The audit: append-only, each row chained to the one before it by SHA-256.

The chain shows that a row was changed, left out or added. It cannot show that all of it was written anew by somebody
who may write the database: for that, the head is exported to a place that they cannot reach.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from seasoned.confirm.request.canonical_json import canonical, digest_of
from seasoned.errors import CannotDo, StoreError, UsageError
from seasoned.store import Database, DatabaseRow

FIRST = "0" * 64
"""What the first row is chained to."""


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened, by whom, and the hash that chains it to what happened before."""

    seq: int
    at: float
    event: str
    """submitted, auto_approved, voted, approved, denied, expired, redeemed, refused; credential_…, allow_…, policy_…"""
    request_id: str | None
    actor: str
    """Name of a credential, or `system:…`."""
    via: str
    document: dict[str, Any]
    previous: str
    hash: str


class AuditHead(msgspec.Struct, frozen=True):
    """How far the audit had come: kept elsewhere, it shows whether the end was cut off or the whole written anew."""

    seq: int
    hash: str
    at: float = 0.0


class AuditCheck(msgspec.Struct, frozen=True):
    """Whether the audit holds; if not, the first row that does not, and why."""

    ok: bool
    rows: int
    first_bad: int | None = None
    reason: str = ""


class Chain:
    """The end of the audit inside one write transaction; `append` continues it."""

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
        """One more row. What is given must be redacted already."""
        body = {
            "seq": self.head.seq + 1,
            "at": float(at),
            "event": event,
            "request_id": request_id,
            "actor": actor,
            "via": via,
            "document": canonical(document or {}, field="document").decode(),
            "previous": self.head.hash,
        }
        head = AuditHead(self.head.seq + 1, _hash(body), float(at))
        self._database.run("confirm.add_audit", {**body, "hash": head.hash})
        self.head = head


@contextmanager
def writing(database: Database) -> Iterator[Chain]:
    """One write transaction that holds the head of the audit: one at a time, on every engine and from every process."""
    with database.write():
        # SQLite has one writer anyway; there it is enough to read.
        rows = database.rows("confirm.head" if database.kind == "sqlite" else "confirm.lock_head")
        if not rows:
            raise StoreError("the audit has no head: the table audit_head was emptied by hand; restore a backup")
        yield Chain(database, AuditHead(int(rows[0]["seq"]), str(rows[0]["hash"])))


def newest_entries(database: Database, limit: int = 50) -> list[AuditEntry]:
    """The newest entries, newest first."""
    if not 1 <= limit <= 500:
        raise UsageError(f"limit is between 1 and 500, not {limit!r}")
    return [_entry(row) for row in database.rows("confirm.audit_newest", {"limit": limit})]


def entries_of_request(database: Database, request_id: str) -> list[AuditEntry]:
    """Everything that happened to one request, the oldest first."""
    return [_entry(row) for row in database.rows("confirm.audit_of_request", {"request_id": request_id})]


def read_head(database: Database, *, now: float = 0.0) -> AuditHead:
    """How far the audit has come."""
    row = database.row("confirm.head")
    if row is None:
        raise StoreError("the audit has no head: the table audit_head was emptied by hand; restore a backup")
    return AuditHead(int(row["seq"]), str(row["hash"]), now)


def verify_chain(database: Database, observe: Callable[[AuditEntry], None] | None = None) -> AuditCheck:
    """Whether every row is there, unchanged and in its place, up to the head; `observe` is shown each good one."""
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
        if row["hash"] != _hash(_body(row)):
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


def check_head(database: Database, exported: AuditHead) -> AuditCheck:
    """Whether the audit still holds what it held when this head was exported."""
    return check_heads(database, [exported])


def check_heads(database: Database, exported: Iterable[AuditHead]) -> AuditCheck:
    """The same for many heads, with one walk through the audit; the first that it does not hold is named."""
    found = verify_chain(database)
    if not found.ok:
        return found
    held = (_held(database, one, found) for one in exported)
    return next((one for one in held if not one.ok), found)


def _held(database: Database, exported: AuditHead, found: AuditCheck) -> AuditCheck:
    if exported.seq == 0:
        ok = exported.hash == FIRST
        return AuditCheck(ok, found.rows, None if ok else 1, "" if ok else "the exported head is none of this audit")
    row = database.row("confirm.audit_row", {"seq": exported.seq})
    if row is None:
        reason = f"the exported head is row {exported.seq}, the audit ends at {found.rows}: its end was cut off"
        return AuditCheck(False, found.rows, found.rows + 1, reason)
    if row["hash"] != exported.hash:
        reason = f"row {exported.seq} is not the one that was exported: the audit was written anew at or before it"
        return AuditCheck(False, found.rows, exported.seq, reason)
    return found


def export_head(database: Database, file: Path, *, now: float) -> AuditHead:
    """Add the present head as one line to a file, which should lie where the service cannot change it afterwards."""
    present = read_head(database, now=now)
    add_head(present, file)
    return present


def add_head(present: AuditHead, file: Path) -> None:
    """One more line in a file of heads, on the disk before this returns."""
    line = msgspec.json.encode(present) + b"\n"
    try:
        handle = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise CannotDo(f"the head cannot be written to {str(file)!r}: {error.strerror}") from error


def read_heads(file: Path) -> list[AuditHead]:
    """The heads that were exported to a file, the oldest first."""
    try:
        return [msgspec.json.decode(line, type=AuditHead) for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise CannotDo(f"{str(file)!r} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{str(file)!r} holds a line that is no head of an audit: {error}") from error


def _hash(body: dict[str, Any]) -> str:
    return digest_of(canonical(body, field="row"))


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


def _entry(row: DatabaseRow) -> AuditEntry:
    body = _body(row)
    return AuditEntry(**{**body, "document": msgspec.json.decode(body["document"])}, hash=str(row["hash"]))
