"""HTTP routes: submit, look, wait, decide, redeem; lists, audit and health. GET changes nothing but expiry.

The caller is identified by a bearer token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Header, Query
from fastapi.routing import APIRoute
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned.confirm.notify.notifier import unsent
from seasoned.confirm.people.credential import (
    CHANNELS,
    DEFAULT_SECONDS,
    Credential,
    UnlockedCredential,
    authenticate,
    authenticate_passphrase,
)
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request, Status
from seasoned.confirm.service.answer import (
    HEADERS,
    Answer,
    answer,
    decided_answer,
    entry_fields,
    request_fields,
    submitted_answer,
)
from seasoned.confirm.service.body import DecisionBody, PhoneBody, RedeemBody, SubmitBody, read_json_body
from seasoned.confirm.service.service import ConfirmService, service_of
from seasoned.errors import CannotDo, Denied, NotFound, Refused, Unauthorised

_MOST_TOKEN = 200


async def authenticated(request: HTTPRequest) -> Credential:
    """The credential of a request, identified once."""
    found: Credential | None = getattr(request.state, "who", None)
    if found is None:
        found = request.state.who = await _identify(request)
    return found


async def _identify(request: HTTPRequest) -> Credential:
    token = _token_of(request)
    return await service_of(request).store.read(lambda book: authenticate(book.database, token))


def _token_of(request: HTTPRequest) -> str:
    """The token in the header; two such headers are an error."""
    given = request.headers.getlist("authorization")
    if not given:
        raise Unauthorised("No credential: send the header 'Authorization: Bearer <token>'.")
    scheme, _, token = given[0].partition(" ")
    token = token.strip()
    if len(given) > 1 or scheme.lower() != "bearer" or not 0 < len(token) <= _MOST_TOKEN or not token.isascii():
        raise Unauthorised("The Authorization header is not valid: send exactly one, as 'Bearer <token>'.")
    return token


class ConfirmRoute(APIRoute):
    """Identifies the caller before anything else of a request is read: FastAPI would parse its body first."""

    def get_route_handler(self) -> Callable[[HTTPRequest], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_known(request: HTTPRequest) -> Response:
            await authenticated(request)
            reply = await handle(request if self.body_field is None else await read_json_body(request))
            reply.headers.update(HEADERS)
            return reply

        return handle_known


router = APIRouter(include_in_schema=False, route_class=ConfirmRoute)
Who = Annotated[Credential, Depends(authenticated)]
# Seconds to wait for the decision.
Wait = Annotated[float, Query(ge=0, le=3600)]
IdempotencyKey = Annotated[
    str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200, pattern="^[!-~]+$")
]
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@router.post("/confirm", status_code=202)
async def submit(
    request: HTTPRequest, reply: Response, who: Who, body: SubmitBody, key: IdempotencyKey = None
) -> Answer:
    """Ask a person to approve one action."""
    service, asked = service_of(request), body.new_request(key)
    # Judged by one of the threads that read: the one that writes would keep all others waiting.
    prepared = await service.store.read(lambda book: book.prepare(who, asked))
    done = await service.store.write(lambda book: book.submit(who, asked, prepared=prepared))
    if done.is_new:
        service.notifier.wake()
        if not service.policy.channel and done.request.status == "pending":
            service.announce(done.request)
    if done.request.status == "auto_approved":
        reply.status_code = 200
    return submitted_answer(done.request, service.base_url)


@router.post("/confirm/{request_id}/approve")
async def approve(request: HTTPRequest, request_id: str, who: Who, body: DecisionBody | None = None) -> Answer:
    """Approve exactly this action."""
    return await _decide(request, who, request_id, body or DecisionBody(), approve=True)


@router.post("/confirm/{request_id}/deny")
async def deny(request: HTTPRequest, request_id: str, who: Who, body: DecisionBody | None = None) -> Answer:
    """Deny it; one denial decides."""
    return await _decide(request, who, request_id, body or DecisionBody(), approve=False)


async def _decide(
    request: HTTPRequest, who: Credential, request_id: str, body: DecisionBody, *, approve: bool
) -> Answer:
    service = service_of(request)
    # An agent has no passphrase: it is refused below, and cannot fill the audit with wrong ones.
    if body.passphrase and who.role != "agent":
        who = await unlock(service, who, body.passphrase.get_secret_value())
    decided = await decide(service, who, request_id, approve=approve, reason=body.reason or "", via="http")
    return decided_answer(decided)


async def unlock(service: ConfirmService, who: Credential, passphrase: str) -> UnlockedCredential:
    """The person of a credential, if the passphrase is theirs."""
    # Not by the thread that writes: argon2 is slow on purpose, and every submission would wait.
    return await service.store.read(
        lambda book: authenticate_passphrase(book.database, who.name, passphrase, now=service.clock())
    )


@router.post("/confirm/phone")
async def unlock_phone(request: HTTPRequest, who: Who, body: PhoneBody) -> Answer:
    """Let the phone of this person decide for a time."""
    service = service_of(request)
    unlocked = await unlock(service, who, body.passphrase.get_secret_value())
    until = await service.unlock_phone(unlocked, DEFAULT_SECONDS if body.seconds is None else body.seconds)
    return answer("seasoned/confirm-phone/1", {"name": who.name, "channels": CHANNELS, "expires_at": until})


async def decide(
    service: ConfirmService, who: Credential, request_id: str, *, approve: bool, reason: str, via: str
) -> Request:
    """Cast a vote, and wake the clients that wait for it."""
    checked = check_id(request_id)
    decided = await service.store.write(lambda book: book.decide(who, checked, approve=approve, reason=reason, via=via))
    service.waiting.tell(decided.id)
    service.notifier.wake()
    return decided


@router.post("/confirm/{request_id}/redeem")
async def redeem(request: HTTPRequest, request_id: str, who: Who, body: RedeemBody) -> Answer:
    """Use an approval, once, for exactly what was approved."""
    service, checked = service_of(request), check_id(request_id)
    grant = await service.store.write(lambda book: book.redeem(who, checked, digest=body.digest))
    return answer("seasoned/confirm-redeemed/1", msgspec.to_builtins(grant))


@router.get("/confirm/{request_id}")
async def look(request: HTTPRequest, request_id: str, who: Who, wait: Wait = 0.0) -> Answer:
    """One request; with `wait`, as soon as it is resolved or when the seconds are over."""
    service = service_of(request)
    checked = check_id(request_id)
    if wait == 0:
        found = await service.store.read(lambda book: book.look(who, checked))
    else:
        found = await service.waiting.until_resolved(who, checked, wait, lambda: _gone(request))
    return answer("seasoned/confirm-request/1", request_fields(found))


async def _gone(request: HTTPRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def check_id(request_id: str) -> str:
    """An id of the right form; anything else is NotFound, before it reaches a database."""
    if not _ID.match(request_id):
        raise NotFound("No request has this id: see `GET /confirm`.")
    return request_id


_MOST_UNSENT = 20
Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/confirm")
async def requests(
    request: HTTPRequest,
    who: Who,
    status: Status | None = None,
    unused: bool = False,
    limit: Limit = 50,
    before: str | None = None,
) -> Answer:
    """Requests, newest first; for an agent only its own."""
    older = None if before is None else check_id(before)
    found = await service_of(request).store.read(
        lambda book: book.list(who, status=status, unused=unused, limit=limit, before=older)
    )
    return answer(
        "seasoned/confirm-requests/1", {"count": len(found), "requests": [request_fields(one) for one in found]}
    )


@router.get("/audit")
async def audit(request: HTTPRequest, who: Who, limit: Limit = 50) -> Answer:
    """What happened, newest first; for approvers and admins."""
    if who.role == "agent":
        raise Refused("The audit is for approvers and admins: ask one of them.")
    found = await service_of(request).store.read(lambda book: book.audit(limit=limit))
    return answer("seasoned/confirm-audit/1", {"count": len(found), "entries": [entry_fields(one) for one in found]})


public = APIRouter(include_in_schema=False)


@public.get("/health")
async def health(request: HTTPRequest, reply: Response) -> Answer:
    """Whether the service works. Needs no credential; an admin also sees what has not arrived."""
    service = service_of(request)
    try:
        pending = await service.store.read(lambda book: book.pending_count())
        works = service.broken is None
    except CannotDo:
        pending, works = None, False
    values = {"status": "ok" if works else "failing", "pending_count": pending, "timestamp": service.clock()}
    shown = answer("seasoned/health/1", values)
    reply.headers.update(HEADERS)
    reply.status_code = 200 if works else 503
    if works and await _is_admin(request):
        shown["unsent"] = await service.store.read(_unsent)
    return shown


async def _is_admin(request: HTTPRequest) -> bool:
    try:
        return (await authenticated(request)).role == "admin"
    except (Denied, CannotDo):
        return False


def _unsent(book: Book) -> list[dict[str, object]]:
    """Notifications that have not arrived, without their contents."""
    return [msgspec.structs.asdict(one) for one in unsent(book.database, limit=_MOST_UNSENT)]
