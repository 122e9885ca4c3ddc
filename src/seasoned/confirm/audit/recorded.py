"""Who has which key, as signed rows of the audit say. A vote counts only with its voter's signature.

Once an admin has a key, a row that gives a person a key or a permission needs an admin's signature. So a program that
writes to the database, or calls this library, cannot decide in a person's name.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from seasoned.confirm.audit.chain import (
    AuditEntry,
    entry_from_row,
    has_own_hash,
    is_signed,
    signed_bytes,
    signing_key_of,
)
from seasoned.store import Database, DatabaseRow

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
