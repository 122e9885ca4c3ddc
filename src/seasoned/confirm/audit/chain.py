"""The audit: append-only rows, each chained to the one before it by SHA-256; what people decide is signed by them.

The chain shows if a row was changed, removed or added. A program that can write to the database could still rewrite
all of it, which shows only against a head that was exported out of its reach. It cannot sign in a person's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from seasoned.confirm.request.request import Status, canonical, digest_of
from seasoned.errors import StoreError, UsageError
from seasoned.store import Database, DatabaseRow

# The field of a row's document with its signature.
FIELD = "signature"


class SigningKey:
    """A private key in memory. It is never printed, and stored only sealed by a passphrase."""

    __slots__ = ("_private", "public")

    def __init__(self, private: bytes | None = None) -> None:
        self._private = (
            Ed25519PrivateKey.generate() if private is None else Ed25519PrivateKey.from_private_bytes(private)
        )
        # In hex, as in the audit and in exported heads.
        self.public: str = self._private.public_key().public_bytes_raw().hex()

    def __repr__(self) -> str:
        return f"SigningKey({self.public[:8]}…)"

    def private_bytes(self) -> bytes:
        """The private half, to be sealed."""
        return self._private.private_bytes_raw()

    def sign(self, data: bytes) -> dict[str, Any]:
        """The signature, with the public key that it can be checked with."""
        return {"key": self.public, "value": self._private.sign(data).hex()}


def signing_key_of(document: dict[str, Any]) -> str | None:
    """The public key that a row says it is signed with; None if it is not signed."""
    found = document.get(FIELD)
    key = found.get("key") if isinstance(found, dict) else None
    return key if isinstance(key, str) else None


def is_signed(document: dict[str, Any], data: bytes) -> bool:
    """Whether the signature in a document is one over these bytes, by the key that it names."""
    found = document.get(FIELD)
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(found["key"]))  # type: ignore[index]
        public.verify(bytes.fromhex(found["value"]), data)  # type: ignore[index]
    except (InvalidSignature, ValueError, TypeError, KeyError):
        return False
    return True


# The fields of a row that its hash and its signature cover.
_HASHED = ("seq", "at", "event", "request_id", "actor", "via", "document", "previous")
# What the first row is chained to.
FIRST = "0" * 64


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """One thing that happened, by whom, and the hash that chains it to what happened before."""

    seq: int
    at: float
    # submitted, auto_approved, voted, approved, denied, expired, redeemed, refused; credential_…, policy_…
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
    """The number and hash of the newest row, and when it was read; exported ones have keys too."""

    seq: int
    hash: str
    at: float = 0.0
    # Public keys of the people who decide, by name.
    keys: dict[str, str] = {}


class AuditCheck(msgspec.Struct, frozen=True):
    """Whether the audit is intact; if not, the first bad row and the reason."""

    ok: bool
    rows: int
    first_bad: int | None = None
    reason: str = ""
    # Everything that was found, the first included; oldest first.
    problems: tuple[str, ...] = ()


class Chain:
    """The end of the audit inside one write transaction; `append` adds to it."""

    def __init__(self, database: Database, head: AuditHead) -> None:
        self.database = database
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
        signer: SigningKey | None = None,
    ) -> None:
        """Add a row, signed if a key is given. Everything in it must be redacted already."""
        body = {
            "seq": self.head.seq + 1,
            "at": float(at),
            "event": event,
            "request_id": request_id,
            "actor": actor,
            "via": via,
            # As text: the hash covers these bytes, however a database would write JSON.
            "document": _written(document or {}),
            "previous": self.head.hash,
        }
        if signer is not None:
            # The whole row with the hash of the one before, so that a signature also covers every earlier row.
            signature = signer.sign(canonical(body, field="row"))
            body["document"] = _written({**(document or {}), FIELD: signature})
        head = AuditHead(self.head.seq + 1, _hash(body), float(at))
        self.database.run("confirm.add_audit", {**body, "hash": head.hash})
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
    # Read first: rows that others add meanwhile come after it.
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
        if not has_own_hash(row):
            return AuditCheck(False, count, seq, f"row {seq} was changed: its content does not give its hash")
        before = str(row["hash"])
        count = seq
        if observe is not None:
            observe(entry_from_row(row))
    if count < known.seq:
        missing = (
            f"rows {count + 1} to {known.seq} are missing" if known.seq > count + 1 else f"row {known.seq} is missing"
        )
        return AuditCheck(False, count, count + 1, f"{missing}: the head says there are {known.seq}")
    if before != known.hash:
        return AuditCheck(False, count, count, f"row {count} is not the one that the head was written for")
    return AuditCheck(True, count)


def signed_bytes(entry: AuditEntry) -> bytes:
    """The bytes that the signature of a row covers: the row without the signature."""
    document = {name: value for name, value in entry.document.items() if name != FIELD}
    fields = {name: getattr(entry, name) for name in _HASHED}
    return canonical({**fields, "document": _written(document)}, field="row")


def _written(document: dict[str, Any]) -> str:
    return canonical(document, field="document").decode()


def _hash(body: dict[str, Any]) -> str:
    return digest_of(canonical(body, field="row"))


def has_own_hash(row: DatabaseRow) -> bool:
    """Whether the content of a row gives its hash."""
    try:
        return bool(row["hash"] == _hash(_body(row)))
    except (UsageError, TypeError, ValueError):
        # The row has values that the service never writes.
        return False


def _body(row: DatabaseRow) -> dict[str, Any]:
    return {name: row[name] for name in _HASHED} | {"seq": int(row["seq"]), "at": float(row["at"])}


def _entry_of_request(row: DatabaseRow) -> AuditEntry:
    return replace(entry_from_row(row), action=row["action"], status=row["status"])


def entry_from_row(row: DatabaseRow) -> AuditEntry:
    """A row as a value."""
    body = _body(row)
    return AuditEntry(**{**body, "document": msgspec.json.decode(body["document"])}, hash=str(row["hash"]))
