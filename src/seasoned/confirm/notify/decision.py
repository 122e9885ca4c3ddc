"""Turns what a person pressed or sent into a decision. Who it was is checked here, for every channel."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, TypeVar, cast

import msgspec
from starlette.requests import Request as HttpRequest

from seasoned.confirm.people.credential import Credential, find
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request, Status
from seasoned.errors import CannotDo, Conflict, NotFound, Refused, StoreError

Outcome = Literal["decided", "counted", "already", "refused", "unknown"]
STATUS: dict[Outcome, int] = {"decided": 200, "counted": 200, "already": 409, "refused": 403, "unknown": 404}
NOT_ALLOWED = "Not allowed: you may not decide here. The request is unchanged."
LOCKED = (
    "Locked: this phone may not decide yet, and nothing was changed. Decide with your passphrase, or unlock the phone: "
    "`seasoned confirm phone`, or the page of confirmations."
)
# Longer than any sender repeats a message.
_REMEMBER_SECONDS = 30 * 86_400.0
_T = TypeVar("_T")
_log = logging.getLogger("seasoned.confirm")


class Ask(Protocol):
    """Runs a function with a book, in a thread that may use one."""

    def __call__(self, do: Callable[[Book], _T], /) -> Awaitable[_T]: ...


class DecisionReply(msgspec.Struct, frozen=True):
    """The outcome of an incoming decision, and the text for the person."""

    outcome: Outcome
    sentence: str
    # The status of the request, as far as the person may know.
    status: Status | None = None


def credential_of(book: Book, channel: str, person: str) -> Credential | None:
    """The approver credential that the policy names for a person on a channel; None for others."""
    listed = book.policy.channel.get(channel)
    name = listed.people.get(person) if listed is not None else None
    if name is None:
        return None
    try:
        found = find(book.database, name)
    except NotFound:
        return None
    # `find` also takes ids, but the policy names credentials; a chat never has an admin's rights.
    is_fit = found.name == name and found.role == "approver" and found.revoked_at is None
    return found if is_fit else None


class IncomingDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What a person pressed or sent, once the channel has shown who it was."""

    channel: str
    person: str
    request_id: str
    approve: bool
    via: str
    reason: str = ""
    # The sender's id of the message, and what is compared if the same id comes again.
    message_id: str
    content: bytes


def decide_once(book: Book, given: IncomingDecision) -> DecisionReply:
    """Decide by one message: a repeated one gets the first reply, and the same id with another content is refused."""
    digest = hashlib.sha256(given.content).hexdigest()
    key = {"channel": given.channel, "message_id": given.message_id}
    row = book.database.row("notify.heard", key)
    if row is not None:
        if row["digest"] != digest:
            return DecisionReply("refused", "This id was used before with another content. Nothing was changed.")
        return msgspec.json.decode(row["answer"], type=DecisionReply)
    reply, now = _decide(book, given), book.clock()
    # A crash before this is harmless: the book accepts no second decision.
    with book.database.write():
        book.database.run("notify.forget_heard", {"before": now - _REMEMBER_SECONDS})
        heard = {**key, "digest": digest, "answer": msgspec.json.encode(reply).decode(), "heard_at": now}
        book.database.run("notify.hear", heard)
    return reply


def _decide(book: Book, given: IncomingDecision) -> DecisionReply:
    """Decide for a person whom the policy names, and who has unlocked the phone with their passphrase."""
    who = credential_of(book, given.channel, given.person)
    if who is None:
        _log.warning(
            "channel %r: person %r tried to decide %r and may not", given.channel, given.person, given.request_id
        )
        return DecisionReply("refused", NOT_ALLOWED)
    signing = book.phones.find(who.name, now=book.clock())
    if signing is None:
        return DecisionReply("refused", LOCKED)
    try:
        request = book.decide(signing, given.request_id, approve=given.approve, reason=given.reason, via=given.via)
    except NotFound:
        return DecisionReply("unknown", "Unknown request.")
    except Refused as error:
        return DecisionReply("refused", f"Not allowed: {error}")
    except StoreError:
        # This can be retried, unlike the outcomes below.
        raise
    except CannotDo as error:
        return DecisionReply("refused", f"Not possible: {error}")
    except Conflict as error:
        return DecisionReply("already", f"Nothing was changed: {error}", cast("Status", error.status))
    return _reply_for(request)


def _reply_for(request: Request) -> DecisionReply:
    if request.status == "pending":
        agreed = sum(vote.approve for vote in request.votes)
        return DecisionReply("counted", f"Counted: {agreed} of {request.quorum} approvals.", request.status)
    return DecisionReply("decided", f"{request.status.capitalize()}: {request.action}.", request.status)


async def read_body(request: HttpRequest, most: int) -> bytes | None:
    """The body, or None if it is too long."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            return None
    return bytes(found)
