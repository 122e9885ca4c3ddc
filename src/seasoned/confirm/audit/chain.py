"""The audit: append-only rows, chained by SHA-256, signed by those who decide, and what it proves about people.

The chain shows if a row was changed, removed or added. A program that can write to the database could still rewrite
all of it, which shows only against a head that was exported out of its reach. It cannot sign in a person's name: a vote
counts only with its voter's signature, and once an admin has a key, a row that gives a person a key or a permission
needs an admin's.
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


_DECIDING = ("approver", "admin")


class RecordedCredential(msgspec.Struct):
    """A credential as the audit records it."""

    name: str
    role: str
    person: str
    public: str | None = None
    is_revoked: bool = False


class RecordedKey(msgspec.Struct):
    """Whose key it is, and the rows between which it signs."""

    name: str
    since: int
    until: int | None = None


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """An action that calls of agents on this machine may need without asking, signed by an admin."""

    # Of its row in the audit.
    number: int
    action: str
    by: str
    at: float
    # Only in this project's folder; only on this host; only until then. What is None has no such limit.
    project: str | None = None
    host: str | None = None
    until: float | None = None

    def covers(self, action: str, *, folder: str, host: str | None, now: float) -> bool:
        """Whether it lets a call through that needs this action, in this project and on this host."""
        is_there = self.project is None or folder == self.project or folder.startswith(self.project.rstrip("/") + "/")
        in_time = self.until is None or now < self.until
        return action == self.action and is_there and in_time and self.host in (None, host)


class RecordedState:
    """What the audit says about people and rules. `update` reads the new rows."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.people: dict[str, RecordedCredential] = {}
        self.keys: dict[str, RecordedKey] = {}
        self.policy: str | None = None
        self.allowances: dict[int, Allowance] = {}
        # Rows that change permissions without proof; they have no effect here.
        self.problems: list[tuple[int, str]] = []
        # From this row on, changes of permissions need a signature: the first key of an admin.
        self.signed_since: int | None = None
        self._seq = 0

    def update(self) -> RecordedState:
        """Read the new rows about people and rules."""
        for row in self._database.rows("confirm.audit_of_power", {"seq": self._seq}):
            self._seq = int(row["seq"])
            if has_own_hash(row):
                self.step(entry_from_row(row))
            else:
                self.problems.append((self._seq, f"row {self._seq} was changed: its content does not give its hash"))
        return self

    def step(self, entry: AuditEntry) -> None:
        """Take one more row into account."""
        apply = _STEPS.get(entry.event)
        if apply is None:
            return
        try:
            wrong = apply(self, entry)
        except (KeyError, TypeError, ValueError):
            # The service never writes such a row.
            wrong = "is not a row of the service"
        if wrong is not None:
            self.problems.append((entry.seq, f"row {entry.seq} ({entry.event}) {wrong}"))

    def signer(self, entry: AuditEntry) -> RecordedCredential | None:
        """The person whose key signed a row, at that time; None if there is no such signature."""
        key = self.keys.get(signing_key_of(entry.document) or "")
        if key is None or entry.seq <= key.since or (key.until is not None and entry.seq > key.until):
            return None
        if not is_signed(entry.document, signed_bytes(entry)):
            return None
        return self.people[key.name] if key.name == entry.actor else None

    def vote_problem(self, entry: AuditEntry, digest: str) -> str | None:
        """Why a vote does not count; None if it does."""
        who = self.people.get(entry.actor)
        if who is None or who.role not in _DECIDING or who.person != entry.document.get("person"):
            return f"{entry.actor!r} is not a person who decides, according to the audit"
        if signing_key_of(entry.document) is None:
            return f"the vote of {entry.actor!r} is not signed"
        if self.signer(entry) is None:
            return f"the vote of {entry.actor!r} has no valid signature of theirs"
        if entry.document.get("digest") != digest:
            return f"the vote of {entry.actor!r} is about something else"
        return None

    def credential_problem(self, row: DatabaseRow) -> str | None:
        """How a row of the table of credentials differs from the audit; None if it does not."""
        name = str(row["name"])
        known = self.people.get(name)
        if known is None:
            return f"the credential {name!r} was added outside the service: the audit does not know it"
        for what, in_table, recorded in (
            ("role", row["role"], known.role),
            ("person", row["person"], known.person),
            ("public key", row["public_key"], known.public),
        ):
            if in_table != recorded:
                return f"the {what} of {name!r} was changed outside the service"
        if (row["revoked_at"] is not None) != known.is_revoked:
            return f"{name!r} was {'restored' if known.is_revoked else 'revoked'} outside the service"
        return None

    def public_keys(self) -> dict[str, str]:
        """The keys of the people who decide, by name, for exported heads."""
        return {one.name: one.public for one in self.people.values() if one.public is not None and not one.is_revoked}

    def _is_powerful(self, entry: AuditEntry) -> bool:
        """Whether a row may change permissions: signed by an admin, or older than any admin's key."""
        if self.signed_since is None:
            return True
        who = self.signer(entry)
        return who is not None and who.role == "admin"

    # One method for each event

    def _credential_made(self, entry: AuditEntry) -> str | None:
        document = entry.document
        made = RecordedCredential(str(document["name"]), str(document["role"]), str(document["person"]))
        if made.name in self.people:
            return f"makes {made.name!r} a second time"
        if self.signed_since is not None and made.role == "agent":
            who = self.signer(entry)
            # An agent belongs to the person who made it, so that no one approves what their own agent asks for.
            if who is None or who.role not in _DECIDING or who.person != made.person:
                return f"makes the agent {made.name!r} without the signature of its person"
        elif not self._is_powerful(entry):
            return f"makes {made.name!r} an {made.role} without an admin's signature"
        self.people[made.name] = made
        public = document.get("public")
        return None if public is None else self._add_key(made, str(public), entry)

    def _add_key(self, who: RecordedCredential, public: str, entry: AuditEntry) -> str | None:
        if public in self.keys:
            return f"gives {who.name!r} a key that is in use"
        self._end_keys(who.name, entry.seq)
        self.keys[public] = RecordedKey(who.name, entry.seq)
        who.public = public
        if who.role == "admin" and self.signed_since is None:
            self.signed_since = entry.seq
        return None

    def _end_keys(self, name: str, seq: int) -> None:
        for key in self.keys.values():
            if key.name == name and key.until is None:
                key.until = seq

    def _passphrase_set(self, entry: AuditEntry) -> str | None:
        public, who = str(entry.document["public"]), self.people.get(str(entry.document["name"]))
        if who is None:
            return f"is about {entry.document['name']!r}, who is not in the audit"
        if self.signer(entry) is who and public == who.public:
            return None
        if not self._is_powerful(entry):
            return f"gives {who.name!r} a new key without an admin's signature"
        return self._add_key(who, public, entry)

    def _credential_revoked(self, entry: AuditEntry) -> str | None:
        who = self.people.get(str(entry.document["name"]))
        if who is None:
            return f"is about {entry.document['name']!r}, who is not in the audit"
        # Revoking an agent needs no proof.
        if who.role != "agent" and not self._is_powerful(entry):
            return f"revokes {who.name!r} without an admin's signature"
        who.is_revoked = True
        self._end_keys(who.name, entry.seq)
        return None

    def _policy_replaced(self, entry: AuditEntry) -> str | None:
        if not self._is_powerful(entry):
            return "replaces the policy without an admin's signature"
        self.policy = str(entry.document["sha256"])
        return None

    def _allowed(self, entry: AuditEntry) -> str | None:
        # Also where there is no admin yet: no person could have agreed to it.
        who = self.signer(entry)
        if who is None or who.role != "admin":
            return "allows an action without an admin's signature"
        document = entry.document
        self.allowances[entry.seq] = Allowance(
            number=entry.seq,
            action=str(document["action"]),
            by=who.name,
            at=entry.at,
            project=document["project"],
            host=document["host"],
            until=document["until"],
        )
        return None

    def _allowance_ended(self, entry: AuditEntry) -> str | None:
        # Ending one needs no proof: it only takes rights away.
        self.allowances.pop(int(entry.document["number"]), None)
        return None

    def _needs_admin(self, entry: AuditEntry) -> str | None:
        return None if self._is_powerful(entry) else "has no admin's signature"


_STEPS: dict[str, Callable[[RecordedState, AuditEntry], str | None]] = {
    "credential_made": RecordedState._credential_made,
    "credential_revoked": RecordedState._credential_revoked,
    "passphrase_set": RecordedState._passphrase_set,
    "policy_replaced": RecordedState._policy_replaced,
    "allowed": RecordedState._allowed,
    "allowance_ended": RecordedState._allowance_ended,
    "restored": RecordedState._needs_admin,
}
