"""All requests of a store. Every change is one short transaction, together with its audit row and notifications."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, get_args

import msgspec

from seasoned.command.action import check_action
from seasoned.command.rows import Finding
from seasoned.confirm.audit.chain import AuditEntry, Chain, RecordedState, newest_entries, read_head, writing
from seasoned.confirm.audit.verify import check_proven
from seasoned.confirm.people.credential import (
    Credential,
    UnlockedCredential,
    UnlockedPhones,
    check_key,
    check_pending,
    current,
    deciding_refusal,
    no_such_request,
    redeeming_refusal,
)
from seasoned.confirm.policy import MOST_TIMEOUT_SECONDS, Policy, RateLimit
from seasoned.confirm.request.request import (
    APPROVED,
    BY_ALLOW_LIST,
    BY_TIMEOUT,
    Grant,
    NewRequest,
    Request,
    Status,
    Submitted,
    canonical,
    check_text,
    digest_of,
    new_id,
    request_bytes,
    request_digest,
)
from seasoned.confirm.request.row import Seal, kept_details, need_in, request_from_row, unsealed, votes_of
from seasoned.errors import Conflict, Denied, NotFound, Refused, TooMany, UsageError
from seasoned.redact.key import Secrecy
from seasoned.redact.redactor import Redactor
from seasoned.store import Database, DatabaseRow

# What an agent sends is stored, shown to people and repeated in the audit, which is never shortened.
MOST_DESCRIPTION = 10_000
MOST_LABEL = 200
MOST_SESSION_KEY = 500
MOST_IDEMPOTENCY_KEY = 255
MOST_REASON = 2_000
MOST_LISTED = 500
# Requests that expire in one transaction, so that other writers get a turn in between.
BATCH = 100


class PreparedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A submission that was checked, redacted and hashed; only the store can still refuse it."""

    # The canonical bytes that the digest is made of.
    written: bytes
    need: Finding | None
    # What the audit says too: action and digest, and description, label and session key without secrets.
    facts: dict[str, str]
    # The details without secrets, in JSON.
    details: str
    idempotency_hash: str | None


def _prepare(asked: NewRequest, who: Credential, redactor: Redactor) -> PreparedRequest:
    """Do everything that needs no store before a lock is taken; UsageError names the field that is wrong."""
    check_text(asked.description, "description", most=MOST_DESCRIPTION, least=1)
    check_text(asked.label, "requester", most=MOST_LABEL)
    check_text(asked.session_key, "session_key", most=MOST_SESSION_KEY)
    key = asked.idempotency_key
    if key is not None:
        check_text(key, "idempotency key", most=MOST_IDEMPOTENCY_KEY, least=1)
    action = check_action(check_text(asked.action, "action", least=1))
    written = request_bytes(asked, who.name)
    return PreparedRequest(
        written=written,
        need=need_in(asked.details),
        facts={
            "action": action,
            "digest": digest_of(written),
            "description": redactor.text(asked.description),
            "label": redactor.text(asked.label),
            "session_key": redactor.text(asked.session_key),
        },
        details=msgspec.json.encode(redactor.value(kept_details(asked.details))).decode(),
        idempotency_hash=None if key is None else sha256(key.encode()).hexdigest(),
    )


def _check_rate(database: Database, policy: Policy, who: Credential, action: str, now: float) -> None:
    """Raise TooMany if a limit is reached."""
    for limit in policy.rate_limits(action):
        bounds = {"since": now - limit.window_seconds, "most": limit.most}
        whose = {"action": action if limit.of_action else None, "requester": who.id if limit.of_requester else None}
        if _count(database, "confirm.recent", {**whose, **bounds}) >= limit.most:
            raise TooMany(_limit_message(limit, who, action), remaining=0, window_seconds=limit.window_seconds)
    most = 6 * policy.rate.count
    if _count(database, "confirm.pending_of_person", {"person": who.person, "now": now, "most": most}) >= most:
        raise TooMany(
            f"{most} requests of {who.person!r} are already pending: wait until some are decided",
            remaining=0,
            window_seconds=MOST_TIMEOUT_SECONDS,
        )


def _count(database: Database, query: str, key: dict[str, Any]) -> int:
    row = database.row(query, key)
    return 0 if row is None else int(row["count"])


def _limit_message(limit: RateLimit, who: Credential, action: str) -> str:
    asked = f"asked for {action!r}" if limit.of_action else "made requests"
    whose = repr(who.name) if limit.of_requester else "all requesters together"
    often = f"{limit.most} times in {limit.window_seconds:g} seconds"
    return f"{whose} {asked} {often}: wait, or put several into one request"


Requests = list[Request]
Changes = list[tuple[int, str]]
Entries = list[AuditEntry]
_STATUSES: tuple[Status, ...] = get_args(Status)


class Book:
    """All requests of one store. Use one in each thread: a connection belongs to the thread that opened it."""

    def __init__(
        self,
        database: Database,
        *,
        policy: Policy,
        seal: Seal,
        secrecy: Secrecy,
        clock: Callable[[], float] = time.time,
        phones: UnlockedPhones | None = None,
    ) -> None:
        self.database = database
        self.policy = policy
        self.seal = seal
        self.redactor = secrecy.redactor()
        self.clock = clock
        # Phones that people unlocked; none where no service runs.
        self.phones = phones or UnlockedPhones()
        self._recorded = RecordedState(database)

    def recorded(self) -> RecordedState:
        """The permissions that the audit proves so far. Call it before a transaction adds rows about permissions."""
        return self._recorded.update()

    def prepare(self, who: Credential, asked: NewRequest) -> PreparedRequest:
        """Check, judge, redact and hash a submission: what takes time and changes nothing."""
        return _prepare(asked, who, self.redactor)

    def submit(self, who: Credential, asked: NewRequest, *, prepared: PreparedRequest | None = None) -> Submitted:
        """Submit a request. An allow-listed one is auto_approved (never one of the ten); else TooMany beyond the limit.

        UsageError names the field that is wrong. The same idempotency key gives the same request (is_new False);
        with another content: Conflict.
        """
        ready = prepared or self.prepare(who, asked)
        action, need = ready.facts["action"], ready.need
        with writing(self.database) as chain:
            # After the lock was obtained, so that the times in the audit follow its order.
            now = self.clock()
            who = self._requester(who)
            if (again := self._submitted_before(who, ready)) is not None:
                return Submitted(again, False)
            # An allow-listed action must not carry a command that needs one of the ten.
            by_list = need is None and self.policy.allows(action, asked.session_key)
            if not by_list:
                # The limits keep the questions to people few; an allow-listed request asks no one.
                _check_rate(self.database, self.policy, who, action, now)
            request_id = new_id()
            timeout = self.policy.timeout_seconds(action, asked.timeout_seconds)
            facts = {
                **ready.facts,
                "timeout_seconds": timeout,
                "expires_at": now + timeout,
                "redeem_before": now + self.policy.redeem_seconds if by_list else None,
                "quorum": self.policy.quorum(action),
            }
            row = {
                **facts,
                "id": request_id,
                "details": ready.details,
                # The original is kept only until the decision, and this request may already be final.
                "sealed": None if by_list else self.seal.close(request_id, ready.written),
                "requester": who.id,
                "requester_name": who.name,
                "person": who.person,
                "single_operator": int(self.policy.single_operator),
                "status": "auto_approved" if by_list else "pending",
                "created_at": now,
                "resolved_at": now if by_list else None,
                "resolved_by": BY_ALLOW_LIST if by_list else None,
                "reason": "",
                "idempotency_hash": ready.idempotency_hash,
            }
            self.database.run("confirm.add_request", row)
            event, actor = ("auto_approved", BY_ALLOW_LIST) if by_list else ("submitted", who.name)
            noted = {"requester": who.name} | ({} if need is None else {"needs": need.action})
            chain.append(event, facts | noted, at=now, actor=actor, request_id=request_id)
            if not by_list:
                self._notify(request_id, "submitted", now)
            return Submitted(self._request(self._row(request_id)), True)

    def open_request(self, who: Credential, asked: NewRequest) -> Request | None:
        """The newest request for exactly this, if it can still be decided or redeemed, or was denied just now."""
        key = {"requester": who.id, "digest": request_digest(asked, who.name)}
        row = self.database.row("confirm.newest_alike", key)
        if row is None or row["redeemed_at"] is not None:
            return None
        found, now = self.look(who, str(row["id"])), self.clock()
        is_approved = found.is_unused and not found.is_lapsed(now)
        # A no stands as long as a yes would: the agent sees the reason, and the person is not asked again at once.
        is_denied = found.status == "denied" and now < (found.resolved_at or now) + self.policy.redeem_seconds
        return found if is_approved or is_denied or not found.is_resolved else None

    def decide(
        self, who: Credential, request_id: str, *, approve: bool, reason: str = "", via: str = "http"
    ) -> Request:
        """Cast a vote. One denial decides; with a larger quorum the request may still be pending after an approval.

        NotFound; Refused: not an approver, the requester itself, the same person again, a revoked credential;
        Conflict(status) when it is already resolved or expired; CannotDo when what was asked cannot be opened.
        `who` must be unlocked with the passphrase: the vote is signed. A token is never enough.
        """
        reason = self.redactor.text(check_text(reason, "reason", most=MOST_REASON))
        via = check_text(via, "via", most=40)
        # In an earlier transaction than the next one, which the Conflict below would roll back.
        self._expire_if_due(self._row(request_id), self.clock())
        with writing(self.database) as chain:
            now = self.clock()
            found = current(self.database, who)
            row = self._row(request_id)
            if found.role == "agent" and row["requester"] != found.id:
                raise no_such_request(request_id)
            wrong = deciding_refusal(found, row, self.policy)
            if wrong is None:
                check_pending(row, now)
                wrong = self._has_voted(found, row) or self._signing_problem(who)
            voted = None
            if wrong is None and isinstance(who, UnlockedCredential):
                voted = self._vote(chain, who, row, approve=approve, reason=reason, via=via, now=now)
            else:
                self._note_refusal(chain, found, request_id, str(wrong), via=via, now=now)
        if voted is None:
            # Raised after the transaction: inside it, the audit row about the refusal would be undone.
            raise Refused(str(wrong))
        return voted

    def redeem(self, who: Credential, request_id: str, *, digest: str) -> Grant:
        """Use an approval, once: only by the credential that asked, for the digest that was approved, in time.

        NotFound: not this requester's. Refused: digest differs, or credential revoked. Conflict(status): not
        approved, already redeemed, or too late.
        """
        check_text(digest, "digest", most=128)
        self._expire_if_due(self._row(request_id), self.clock())
        with writing(self.database) as chain:
            now = self.clock()
            who = current(self.database, who)
            wrong = self._redeeming_refusal(who, request_id, digest, now)
            if wrong is None:
                key = {"id": request_id, "requester": who.id, "digest": digest, "now": now}
                # The update repeats every condition: of two redemptions at once, one gets a row.
                if not self.database.rows("confirm.redeem", key):
                    status = self._row(request_id)["status"]
                    raise Conflict(f"request {request_id!r} can no longer be redeemed", status=status)
                chain.append("redeemed", {"digest": digest}, at=now, actor=who.name, request_id=request_id)
            elif isinstance(wrong, Refused):
                self._note_refusal(chain, who, request_id, str(wrong), via="", now=now)
        # After the transaction, so that the audit keeps the refusal.
        if wrong is not None:
            raise wrong
        return Grant(request_id, digest, now)

    def _redeeming_refusal(self, who: Credential, request_id: str, digest: str, now: float) -> Denied | NotFound | None:
        """Why this credential may not redeem this request now; also if its approval is not proven."""
        row = self._row(request_id)
        wrong = redeeming_refusal(who, row, digest, now)
        if wrong is not None:
            return wrong
        try:
            check_proven(self.database, self.recorded(), row, self.policy, now=now)
        except Refused as error:
            return error
        return None

    def look(self, who: Credential, request_id: str) -> Request:
        """One request; an agent sees only its own (NotFound for others). Expires it if its time has come."""
        who = current(self.database, who)
        row = self._row(request_id)
        if who.role == "agent" and row["requester"] != who.id:
            raise no_such_request(request_id)
        if self._expire_if_due(row, self.clock()):
            row = self._row(request_id)
        return self._request(row)

    def list(
        self,
        who: Credential,
        *,
        status: Status | None = None,
        unused: bool = False,
        limit: int = 50,
        before: str | None = None,
    ) -> Requests:
        """Requests, newest first; for an agent only its own. `unused`: approved and never redeemed; `before`: an id."""
        if not 1 <= limit <= MOST_LISTED:
            raise UsageError(f"limit must be between 1 and {MOST_LISTED}, not {limit!r}")
        if status is not None and status not in _STATUSES:
            raise UsageError(f"status must be one of {', '.join(_STATUSES)}, not {status!r}")
        if before is not None:
            self._row(before)
        who = current(self.database, who)
        self.expire_due()
        key = {"requester": who.id if who.role == "agent" else None, "status": status, "unused": int(unused)}
        rows = self.database.rows("confirm.requests", {**key, "limit": limit, "before": before})
        return [self._request(row) for row in rows]

    def expire_due(self) -> Requests:
        """Expire every pending request whose time has come. Returns those that this call expired."""
        now = self.clock()
        due = [str(row["id"]) for row in self.database.rows("confirm.due", {"now": now})]
        batches = [due[start : start + BATCH] for start in range(0, len(due), BATCH)]
        return [self._request(self._row(one)) for batch in batches for one in self._expire(batch, now)]

    def next_expiry(self) -> float | None:
        """When the next pending request expires."""
        row = self.database.row("confirm.next_expiry")
        return None if row is None or row["at"] is None else float(row["at"])

    def pending_count(self) -> int:
        """The number of pending requests that have not run out of time."""
        return _count(self.database, "confirm.pending_count", {"now": self.clock()})

    def changes_since(self, seq: int, *, limit: int = 1000) -> Changes:
        """Changes after an audit sequence number: (seq, request id), oldest first."""
        rows = self.database.rows("confirm.audit_since", {"seq": seq, "limit": limit})
        return [(int(row["seq"]), str(row["request_id"])) for row in rows]

    def last_seq(self) -> int:
        """The newest audit sequence number, to start `changes_since` with."""
        return read_head(self.database).seq

    def audit(self, limit: int = 50) -> Entries:
        """The newest audit entries, newest first (limit 1 to 500)."""
        return newest_entries(self.database, limit)

    def _row(self, request_id: str) -> DatabaseRow:
        row = None
        # PostgreSQL fails on a NUL instead of finding nothing.
        if isinstance(request_id, str) and request_id.isascii() and "\0" not in request_id:
            row = self.database.row("confirm.request", {"id": request_id})
        if row is None:
            raise no_such_request(request_id)
        return row

    def _request(self, row: DatabaseRow) -> Request:
        return request_from_row(self.database, row, self.seal)

    def _requester(self, who: Credential) -> Credential:
        """The current credential; its name must still be the one that the digest contains."""
        found = current(self.database, who)
        if found.name != who.name:
            raise Refused(f"the credential {who.name!r} does not belong to this store")
        return found

    def _submitted_before(self, who: Credential, ready: PreparedRequest) -> Request | None:
        if ready.idempotency_hash is None:
            return None
        key = {"requester": who.id, "idempotency_hash": ready.idempotency_hash}
        row = self.database.row("confirm.request_by_idempotency", key)
        if row is None:
            return None
        if row["digest"] != ready.facts["digest"]:
            raise Conflict(
                f"this idempotency key belongs to request {row['id']!r}, which asks for something else: use a new key",
                status=row["status"],
            )
        return self._request(row)

    def _has_voted(self, who: Credential, row: DatabaseRow) -> str | None:
        if any(vote.person == who.person for vote in votes_of(self.database, str(row["id"]))):
            return f"{who.person!r} has already voted on {row['id']!r}: another person must approve"
        return None

    def _signing_problem(self, who: Credential) -> str | None:
        """Why the vote cannot be signed; None if it can."""
        if not isinstance(who, UnlockedCredential):
            return f"a token is not enough to decide: the passphrase of {who.name!r} is needed as well"
        try:
            check_key(self.recorded(), who)
        except Refused as error:
            return str(error)
        return None

    def _vote(
        self,
        chain: Chain,
        who: UnlockedCredential,
        row: DatabaseRow,
        *,
        approve: bool,
        reason: str,
        via: str,
        now: float,
    ) -> Request:
        if approve:
            # A person must not approve what cannot be shown, or what was changed after it was submitted.
            unsealed(row, self.seal)
        request_id = str(row["id"])
        vote_row = {"person": who.person, "approve": int(approve), "reason": reason}
        cast = {"request_id": request_id, "voter": who.id, "voter_name": who.name, "role": who.role}
        self.database.run("confirm.add_vote", {**cast, **vote_row, "via": via, "at": now})
        # The row has the id, the decision and the time; with the digest, the signature is about exactly this.
        facts = {**vote_row, "approve": bool(approve), "digest": row["digest"]}
        chain.append("voted", facts, at=now, actor=who.name, request_id=request_id, via=via, signer=who.key)
        votes = votes_of(self.database, request_id)
        if not approve:
            self._resolve(chain, request_id, "denied", by=who.name, reason=reason, via=via, now=now)
        elif sum(vote.approve for vote in votes) >= int(row["quorum"]):
            self._resolve(chain, request_id, "approved", by=who.name, reason=reason, via=via, now=now)
        return self._request(self._row(request_id))

    def _resolve(
        self, chain: Chain, request_id: str, status: Status, *, by: str, reason: str, via: str, now: float
    ) -> bool:
        """The one step from pending to a final status. Of several attempts, one wins."""
        redeem_before = now + self.policy.redeem_seconds if status in APPROVED else None
        rows = self.database.rows(
            "confirm.resolve",
            {
                "id": request_id,
                "status": status,
                "now": now,
                "resolved_by": by,
                "reason": reason,
                "redeem_before": redeem_before,
            },
        )
        if not rows:
            return False
        facts = {"reason": reason, "redeem_before": redeem_before}
        chain.append(status, facts, at=now, actor=by, request_id=request_id, via=via)
        self._notify(request_id, "expired" if status == "expired" else "decided", now)
        return True

    def _expire_if_due(self, row: DatabaseRow, now: float) -> bool:
        return row["status"] == "pending" and now >= float(row["expires_at"]) and bool(self._expire([row["id"]], now))

    def _expire(self, ids: Sequence[str], now: float) -> Sequence[str]:
        with writing(self.database) as chain:
            return [
                one for one in ids if self._resolve(chain, one, "expired", by=BY_TIMEOUT, reason="", via="", now=now)
            ]

    def _notify(self, request_id: str, event: str, now: float) -> None:
        """Store notifications in the same transaction, so that a crash loses none; they are sent later."""
        for channel in self.policy.channel:
            key = {"id": new_id(), "request_id": request_id, "event": event}
            self.database.run("confirm.add_outbox", {**key, "channel": channel, "now": now})

    def _note_refusal(
        self, chain: Chain, who: Credential, request_id: str, reason: str, *, via: str, now: float
    ) -> None:
        """Record a refused attempt, once for each reason: repeating one must not fill the audit or hide another."""
        facts = {"reason": reason}
        key = {"request_id": request_id, "actor": who.name, "document": canonical(facts, field="document").decode()}
        if self.database.row("confirm.refusal", key) is None:
            chain.append("refused", facts, at=now, actor=who.name, request_id=request_id, via=via)
