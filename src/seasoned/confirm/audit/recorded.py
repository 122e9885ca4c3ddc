"""Permissions as the audit records them, replayed from its rows. Only rows signed by someone entitled to do so count.

Before an approval is used, the tables are compared with this, so that a program that writes to the database, or calls
this library, gains nothing. Once an admin has a key, a row that gives permissions needs a signature.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from seasoned.confirm.audit.chain import (
    FIELD,
    AuditEntry,
    entries_of_request,
    entry_from_row,
    has_own_hash,
    is_signed,
    signed_bytes,
    signing_key_of,
)
from seasoned.confirm.audit.passkey import VIA, Passkey, signature_in, statement_problem
from seasoned.confirm.request.canonical_json import request_digest
from seasoned.store import Database, DatabaseRow

_DECIDING = ("approver", "admin")
_CHANGED = "was changed outside the service"


class RecordedCredential(msgspec.Struct):
    """A credential as the audit records it; None is what an audit of an older version does not say."""

    name: str
    role: str
    person: str
    token_hash: str | None = None
    public: str | None = None
    # Digests of the sealed key, and of the passphrase's hash that came before it.
    sealed: str | None = None
    verifier: str | None = None
    is_revoked: bool = False


class RecordedKey(msgspec.Struct):
    """A public key, whose it is, and which rows it may sign.

    A phone's key votes over some channels and for a time, a passkey on the page.
    """

    name: str
    since: int
    until: int | None = None
    channels: tuple[str, ...] | None = None
    expires_at: float | None = None
    passkey: Passkey | None = None

    def covers(self, entry: AuditEntry) -> bool:
        """Whether the key may sign this row."""
        in_time = entry.seq > self.since and (self.until is None or entry.seq <= self.until)
        if self.passkey is not None:
            return in_time and entry.event == "voted" and entry.via == VIA
        if self.channels is None:
            return in_time
        # A device only votes, and only while it was trusted to.
        fits = entry.event == "voted" and entry.via in self.channels
        return in_time and fits and self.expires_at is not None and entry.at < self.expires_at


class RecordedState:
    """What the audit says about people and rules. `update` reads the new rows."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.people: dict[str, RecordedCredential] = {}
        self.keys: dict[str, RecordedKey] = {}
        self.allowed: dict[str, dict[str, Any]] = {}
        # Entries of the allow-list that were removed: what they allowed before stays allowed.
        self.once_allowed: dict[str, dict[str, Any]] = {}
        self.policy: str | None = None
        # Rows that change permissions without proof; they have no effect here.
        self.problems: list[tuple[int, str]] = []
        # From this row on, changes of permissions need a signature: the first key of an admin.
        self.signed_since: int | None = None
        # The row in which a store of an older version was taken over; votes before it have no signature.
        self.taken_over: int | None = None
        self._seq = 0

    def update(self) -> RecordedState:
        """Read the new rows about people and rules."""
        for row in self._database.rows("confirm.audit_of_power", {"seq": self._seq}):
            entry = entry_from_row(row)
            if not has_own_hash(entry):
                self.problems.append((entry.seq, f"row {entry.seq} was changed: its content does not give its hash"))
            else:
                self.step(entry)
            self._seq = entry.seq
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

    # Who signed

    def signer(self, entry: AuditEntry) -> RecordedCredential | None:
        """The person whose key signed a row, at that time; None if there is no such signature."""
        public = signing_key_of(entry.document)
        key = self.keys.get(public or "")
        if key is None or not key.covers(entry):
            return None
        if not self._is_passkey_vote(entry, key.passkey) and not is_signed(entry.document, signed_bytes(entry)):
            return None
        who = self.people[key.name]
        return who if who.name == entry.actor else None

    def _is_passkey_vote(self, entry: AuditEntry, passkey: Passkey | None) -> bool:
        """Whether a passkey signed what this row says, after the row that it names as the newest."""
        found = None if passkey is None else signature_in(entry.document, field=FIELD)
        if passkey is None or found is None or found.statement.seq >= entry.seq:
            return False
        wrong = statement_problem(
            found.statement,
            name=entry.actor,
            request=str(entry.request_id),
            digest=entry.document.get("digest"),
            approve=entry.document.get("approve"),
            at=entry.at,
        )
        before = self._database.row("confirm.audit_row", {"seq": found.statement.seq})
        is_after = before is not None and before["hash"] == found.statement.head
        return wrong is None and is_after and found.problem(passkey) is None

    def passkeys(self, name: str) -> list[Passkey]:
        """The passkeys that decide for a person."""
        found = [key for key in self.keys.values() if key.name == name and key.until is None]
        return [key.passkey for key in found if key.passkey is not None]

    def _is_powerful(self, entry: AuditEntry) -> bool:
        """Whether a row may change permissions: signed by an admin, granted by a person, or older than any key."""
        if self.signed_since is None:
            return True
        who = self.signer(entry)
        return who.role == "admin" if who is not None else self._is_granted(entry)

    def _is_granted(self, entry: AuditEntry) -> bool:
        """Whether a row makes exactly the change that people approved, with their signatures, in a request."""
        grant = entry.document.get("grant")
        if not isinstance(grant, dict) or not _is_change(entry, grant.get("details")):
            return False
        digest = request_digest(
            action=str(grant["action"]),
            description=str(grant["description"]),
            details=grant["details"],
            session_key="",
            requester=entry.actor,
        )
        entries = entries_of_request(self._database, str(grant["request"]))
        return self.approval_problem(entries, digest=digest, quorum=1) is None

    # Votes

    def vote_problem(self, entry: AuditEntry, digest: str) -> str | None:
        """Why a vote does not count; None if it does."""
        who = self.people.get(entry.actor)
        if who is None or who.role not in _DECIDING or who.person != entry.document.get("person"):
            return f"{entry.actor!r} is not a person who decides, according to the audit"
        if signing_key_of(entry.document) is None:
            # An older version did not sign; once its store was taken over, the token of the voter is recorded.
            if who.token_hash is None or (self.taken_over is not None and entry.seq < self.taken_over):
                return None
            return f"the vote of {entry.actor!r} is not signed"
        if self.signer(entry) is None:
            return f"the vote of {entry.actor!r} has no valid signature of theirs"
        if entry.document.get("digest") != digest:
            return f"the vote of {entry.actor!r} is about something else"
        return None

    def approval_problem(self, entries: Sequence[AuditEntry], *, digest: str, quorum: int) -> str | None:
        """Why the rows about a request do not prove that it was approved; None if they do."""
        if not all(has_own_hash(entry) for entry in entries):
            return "a row of the audit about it was changed"
        if not entries or entries[0].event != "submitted" or entries[0].document.get("digest") != digest:
            return "the audit does not say that it was submitted"
        ends = entries[0].document.get("expires_at")
        people: set[str] = set()
        for vote in (entry for entry in entries if entry.event == "voted"):
            if (wrong := self.vote_problem(vote, digest)) is not None:
                return wrong
            if not vote.document["approve"]:
                return f"{vote.actor!r} denied it"
            if not isinstance(ends, int | float) or vote.at >= ends:
                return f"the vote of {vote.actor!r} came too late"
            people.add(str(vote.document["person"]))
        if len(people) < quorum:
            return f"{len(people)} of {quorum} approvals are proven by a signature"
        return None

    def rule_problem(self, entry: AuditEntry, *, by_policy: Callable[[], bool]) -> str | None:
        """Why the allow-list did not approve a request; None if it did."""
        document = entry.document
        rule = document.get("rule")
        signed = self.taken_over or self.signed_since
        if rule is None and (signed is None or entry.seq < signed):
            return None
        if rule == "policy":
            return None if by_policy() else "no rule of the policy allows it"
        found = self.allowed.get(str(rule)) or self.once_allowed.get(str(rule))
        if found is None:
            return "the rule that allowed it was not made through the service"
        is_same = found["action"] == document["action"] and found["session_key"] in (None, document["session_key"])
        in_time = found["expires_at"] is None or entry.at < found["expires_at"]
        return None if is_same and in_time else "the rule that allowed it does not cover it"

    # The tables

    def credential_problem(self, row: DatabaseRow) -> str | None:
        """How a row of the table of credentials differs from the audit; None if it does not."""
        name = str(row["name"])
        known = self.people.get(name)
        if known is None:
            return f"the credential {name!r} was added outside the service: the audit does not know it"
        compared = [
            ("role", row["role"], known.role),
            ("person", row["person"], known.person),
            ("public key", row["public_key"], known.public),
            ("sealed key", _digest(row["sealed_key"]), known.sealed),
        ]
        # An older version recorded neither, until its store was taken over.
        if known.token_hash is not None:
            compared += [
                ("token", row["token_hash"], known.token_hash),
                ("passphrase", _digest(row["verifier"]), known.verifier),
            ]
        for what, in_table, recorded in compared:
            if in_table != recorded:
                return f"the {what} of {name!r} {_CHANGED}"
        if (row["revoked_at"] is not None) != known.is_revoked:
            return f"{name!r} was {'restored' if known.is_revoked else 'revoked'} outside the service"
        return None

    def differences(self) -> list[str]:
        """Every difference between the tables and the audit about people and rules."""
        found = []
        rows = self._database.rows("confirm.credentials_whole")
        found += [wrong for row in rows if (wrong := self.credential_problem(row)) is not None]
        names = {str(row["name"]) for row in rows}
        found += [
            f"the credential {name!r} was deleted outside the service" for name in self.people if name not in names
        ]
        rules = {str(row["id"]): row for row in self._database.rows("confirm.allowed")}
        for key in sorted(rules.keys() | self.allowed.keys()):
            row, known = rules.get(key), self.allowed.get(key)
            if known is None and row is not None:
                found.append(f"the allow rule for {row['action']!r} was added outside the service")
            elif row is None and known is not None:
                found.append(f"the allow rule for {known['action']!r} was removed outside the service")
            elif row is not None and known is not None and any(row[name] != known[name] for name in _RULE):
                found.append(f"the allow rule for {known['action']!r} {_CHANGED}")
        return found

    def public_keys(self) -> dict[str, str]:
        """The keys of the people who decide, by name, for exported heads."""
        return {one.name: one.public for one in self.people.values() if one.public is not None and not one.is_revoked}

    # One method for each event

    def _credential_made(self, entry: AuditEntry) -> str | None:
        document = entry.document
        made = RecordedCredential(
            name=str(document["name"]),
            role=str(document["role"]),
            person=str(document["person"]),
            token_hash=document.get("token"),
            public=document.get("public"),
            sealed=document.get("sealed"),
        )
        if made.name in self.people:
            return f"makes {made.name!r} a second time"
        if self.signed_since is not None and made.role == "agent":
            who = self.signer(entry)
            # An agent belongs to the person who made it, so that no one approves what their own agent asks for.
            is_own = who is not None and who.role in _DECIDING and who.person == made.person
            asker = self.people.get(entry.actor)
            is_granted = asker is not None and asker.person == made.person and self._is_granted(entry)
            if not is_own and not is_granted:
                return f"makes the agent {made.name!r} without the signature of its person"
        elif not self._is_powerful(entry):
            return f"makes {made.name!r} an {made.role} without an admin's signature"
        self.people[made.name] = made
        return None if made.public is None else self._add_key(made, made.public, entry)

    def _add_key(self, who: RecordedCredential, public: str, entry: AuditEntry) -> str | None:
        if public in self.keys:
            return f"gives {who.name!r} a key that is in use"
        for key in self.keys.values():
            if key.name == who.name and key.until is None:
                key.until = entry.seq
        self.keys[public] = RecordedKey(who.name, entry.seq)
        who.public = public
        if who.role == "admin" and self.signed_since is None:
            self.signed_since = entry.seq
        return None

    def _passphrase_set(self, entry: AuditEntry) -> str | None:
        document = entry.document
        who, public = self.people.get(str(document["name"])), document.get("public")
        if who is None:
            return f"is about {document['name']!r}, who is not in the audit"
        if public is None:
            # An older version, which recorded only that there is one.
            return None if self.signed_since is None else f"sets a passphrase of {who.name!r} without a key"
        by = self.signer(entry)
        if by is who and public == who.public:
            who.sealed = document.get("sealed")
            return None
        by_admin = by is not None and by.role == "admin"
        if not by_admin and not self._may_have_first_key(who, public, entry):
            return f"gives {who.name!r} a new key without the old one, and without an admin's signature"
        wrong = self._add_key(who, str(public), entry)
        if wrong is None:
            who.sealed, who.verifier = document.get("sealed"), None
        return wrong

    def _may_have_first_key(self, who: RecordedCredential, public: object, entry: AuditEntry) -> bool:
        """Whether a person without a key gets one by their passphrase: before any admin has one, or when taken over."""
        if who.public is not None or signing_key_of(entry.document) != public:
            return False
        if not is_signed(entry.document, signed_bytes(entry)):
            return False
        # The row cannot show that the passphrase was typed. Once an admin can sign, it takes an admin's signature.
        return self.signed_since is None and who.verifier in (None, entry.document.get("verifier"))

    def _credential_revoked(self, entry: AuditEntry) -> str | None:
        who = self.people.get(str(entry.document["name"]))
        if who is None:
            return f"is about {entry.document['name']!r}, who is not in the audit"
        # Revoking an agent needs no proof.
        if who.role != "agent" and not self._is_powerful(entry):
            return f"revokes {who.name!r} without an admin's signature"
        who.is_revoked = True
        for key in self.keys.values():
            if key.name == who.name and key.until is None:
                key.until = entry.seq
        return None

    def _allow_added(self, entry: AuditEntry) -> str | None:
        document = entry.document
        if not self._is_powerful(entry):
            return f"allows {document['action']!r} without an admin's signature"
        self.allowed[str(document["id"])] = {name: document[name] for name in _RULE}
        return None

    def _allow_removed(self, entry: AuditEntry) -> str | None:
        if not self._is_powerful(entry):
            return f"removes an allow rule for {entry.document['action']!r} without an admin's signature"
        found = self.allowed.pop(str(entry.document["id"]), None)
        if found is not None:
            self.once_allowed[str(entry.document["id"])] = found
        return None

    def _policy_replaced(self, entry: AuditEntry) -> str | None:
        if not self._is_powerful(entry):
            return "replaces the policy without an admin's signature"
        self.policy = str(entry.document["sha256"])
        return None

    def _device_added(self, entry: AuditEntry) -> str | None:
        document, who = entry.document, self.signer(entry)
        if who is None or who.name != document["name"] or document["public"] in self.keys:
            return f"lets a device vote for {document['name']!r} without their signature"
        ends = float(document["expires_at"])
        self.keys[str(document["public"])] = RecordedKey(
            who.name, entry.seq, channels=tuple(document["channels"]), expires_at=ends
        )
        return None

    def _passkey_added(self, entry: AuditEntry) -> str | None:
        document, who = entry.document, self.signer(entry)
        added = msgspec.convert({name: document[name] for name in Passkey.__struct_fields__}, Passkey)
        if who is None or who.name != document["name"] or added.public in self.keys:
            return f"adds a passkey for {document['name']!r} without their signature"
        self.keys[added.public] = RecordedKey(who.name, entry.seq, passkey=added)
        return None

    def _passkey_removed(self, entry: AuditEntry) -> str | None:
        document, who = entry.document, self.signer(entry)
        key = self.keys.get(str(document["public"]))
        if key is None or key.passkey is None or who is None or (who.name != key.name and who.role != "admin"):
            return f"removes a passkey of {document['name']!r} without their signature"
        key.until = entry.seq
        return None

    def _taken_over(self, entry: AuditEntry) -> str | None:
        if self.taken_over is not None or self.keys:
            return "takes over a store that has keys already"
        self.taken_over = entry.seq
        for one in entry.document["credentials"]:
            if (known := self.people.get(str(one["name"]))) is not None:
                known.token_hash, known.verifier = one["token"], one["verifier"]
        return None

    def _restored(self, entry: AuditEntry) -> str | None:
        return None if self._is_powerful(entry) else "restores a backup without an admin's signature"


_RULE = ("action", "session_key", "expires_at")
_STEPS: dict[str, Callable[[RecordedState, AuditEntry], str | None]] = {
    "credential_made": RecordedState._credential_made,
    "credential_revoked": RecordedState._credential_revoked,
    "passphrase_set": RecordedState._passphrase_set,
    "allow_added": RecordedState._allow_added,
    "allow_removed": RecordedState._allow_removed,
    "policy_replaced": RecordedState._policy_replaced,
    "device_added": RecordedState._device_added,
    "passkey_added": RecordedState._passkey_added,
    "passkey_removed": RecordedState._passkey_removed,
    "taken_over": RecordedState._taken_over,
    "restored": RecordedState._restored,
}
# The kind of change, and the fields of its request that an audit row must repeat.
_GRANTED = {
    "credential_made": ("make_credential", ("name", "role", "person")),
    "credential_revoked": ("revoke_credential", ("name",)),
    "allow_added": ("add_allowed", _RULE),
    "allow_removed": ("remove_allowed", ("id",)),
    "policy_replaced": ("replace_policy", ("sha256",)),
}


def _is_change(entry: AuditEntry, details: object) -> bool:
    kind, names = _GRANTED.get(entry.event, ("", ()))
    if not isinstance(details, dict) or details.get("type") != kind:
        return False
    return all(details.get(name) == entry.document.get(name) for name in names)


def digest_of_sealed(sealed: str) -> str:
    """What the audit records of a sealed key or a passphrase's hash: enough to notice a change."""
    return sha256(sealed.encode()).hexdigest()


def _digest(text: str | None) -> str | None:
    return None if text is None else digest_of_sealed(text)
