"""HTTP routes: submit, look, wait, decide, redeem; lists, audit, health and metrics. GET changes nothing but expiry.

The caller is identified by a bearer token, or by the user id at the other end of the Unix socket.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security.base import SecurityBase
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

import seasoned
from seasoned.confirm.notify.notifier import unsent
from seasoned.confirm.people.credential import (
    CHANNELS,
    Credential,
    UnlockedCredential,
    authenticate,
    authenticate_passphrase,
    credentials,
)
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request, Status
from seasoned.confirm.service import answer
from seasoned.confirm.service.answer import answers, as_json, shown_as, takes
from seasoned.confirm.service.body import (
    DecisionBody,
    PhoneBody,
    RedeemBody,
    SubmitBody,
    read_decision,
    read_json,
    read_new_request,
    values_of,
)
from seasoned.confirm.service.service import CONTENT_TYPE, ConfirmService, service_of
from seasoned.errors import CannotDo, Denied, NotFound, Refused, Unauthorised

_MOST_TOKEN = 200
_phone = msgspec.json.Decoder(PhoneBody)
_redemption = msgspec.json.Decoder(RedeemBody)


class Bearer(SecurityBase):
    """The credential of a request; without a valid one, 401 before anything else is read."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(description="A token from `seasoned confirm token make`.")
        self.scheme_name = "token"

    async def __call__(self, request: HTTPRequest) -> Credential:
        service = service_of(request)
        given = token_of(request)
        ask: Callable[[Book], Credential]
        if given is not None:
            token = given

            def ask(book: Book) -> Credential:
                return authenticate(book.database, token)
        elif (uid := peer_of(request)) is not None:
            name = service.policy.listen.peers.get(str(uid))

            def ask(book: Book) -> Credential:
                return _peer(book, uid, name)
        else:
            raise Unauthorised("No credential: send the header 'Authorization: Bearer <token>'.")
        found = await service.store.read(ask)
        request.state.credential = found.name
        return found


def token_of(request: HTTPRequest) -> str | None:
    """The token in the header; two such headers are an error."""
    given = values_of(request, b"authorization")
    if not given:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    token = token.strip()
    if len(given) > 1 or scheme.lower() != "bearer" or not 0 < len(token) <= _MOST_TOKEN or not token.isascii():
        raise Unauthorised("The Authorization header is not valid: send exactly one, as 'Bearer <token>'.")
    return token


def peer_of(request: HTTPRequest) -> int | None:
    """The user id of the process at the other end of a Unix socket; None for other connections."""
    uid = request.scope.get("state", {}).get("peer_uid")
    return uid if isinstance(uid, int) else None


def _peer(book: Book, uid: int, name: str | None) -> Credential:
    if name is None:
        raise Unauthorised(
            f"The policy has no credential for user id {uid}: add it under listen.peers, or send a token."
        )
    found = next((one for one in credentials(book.database) if one.name == name and one.revoked_at is None), None)
    if found is None:
        raise Unauthorised(f"The credential {name!r} of user id {uid} does not exist or is revoked.")
    if uid == os.getuid() and found.role != "agent":
        # Every program of the service's own user, agents included, could use it.
        raise Refused(f"User id {uid} is the service's own: it may ask but not decide. Use a token or another user.")
    return found


router = APIRouter(tags=["confirm"], responses=answer.ERROR_ANSWERS)
overview = APIRouter(tags=["overview"], responses=answer.ERROR_ANSWERS)
authenticated = Bearer()
Who = Annotated[Credential, Depends(authenticated)]
RequestId = Annotated[str, Path(description="The id from the submission.")]
Wait = Annotated[float, Query(ge=0, le=3600, description="Seconds to wait for the decision.")]
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@router.post(
    "/confirm",
    status_code=202,
    responses=answers(
        on_200=(answer.SubmittedAnswer, "The allow-list covers it: approved without asking."),
        on_202=(answer.SubmittedAnswer, "Stored: a person decides."),
        on_409=(answer.ConflictAnswer, "The idempotency key was used for something else."),
        on_429=(answer.TooManyAnswer, "A rate limit is reached; the message says which."),
    ),
    openapi_extra=takes(SubmitBody, parameters=[answer.IDEMPOTENCY_KEY]),
)
async def submit(request: HTTPRequest, who: Who) -> Response:
    """Ask a person to approve one action."""
    service = service_of(request)
    asked = await read_new_request(request)
    done = await service.store.write(lambda book: book.submit(who, asked))
    if done.is_new:
        service.metrics.submitted(done.request)
        service.notices.wake()
    status = 200 if done.request.status == "auto_approved" else 202
    return as_json(answer.show_submitted(done.request, service.base_url), status=status)


_DECIDED = answers(
    on_200=(answer.DecidedAnswer, "The vote is stored; `status` says whether that decides it."),
    on_409=answer.CONFLICT,
)


@router.post("/confirm/{request_id}/approve", responses=_DECIDED, openapi_extra=takes(DecisionBody, required=False))
async def approve(request: HTTPRequest, request_id: RequestId, who: Who) -> Response:
    """Approve exactly this action."""
    return await _decide(request, who, request_id, approve=True)


@router.post("/confirm/{request_id}/deny", responses=_DECIDED, openapi_extra=takes(DecisionBody, required=False))
async def deny(request: HTTPRequest, request_id: RequestId, who: Who) -> Response:
    """Deny it; one denial decides."""
    return await _decide(request, who, request_id, approve=False)


async def _decide(request: HTTPRequest, who: Credential, request_id: str, *, approve: bool) -> Response:
    given, service = await read_decision(request), service_of(request)
    # An agent has no passphrase: it is refused below, and cannot fill the audit with wrong ones.
    if given.passphrase and who.role != "agent":
        who = await unlock(service, who, given.passphrase)
    reason = given.reason or ""
    decided = await decide(service, who, request_id, approve=approve, reason=reason, via="http")
    return as_json(shown_as(answer.DecidedAnswer, decided))


async def unlock(service: ConfirmService, who: Credential, passphrase: str) -> UnlockedCredential:
    """The person of a credential, if the passphrase is theirs."""
    # Not by the thread that writes: argon2 is slow on purpose, and every submission would wait.
    return await service.store.read(
        lambda book: authenticate_passphrase(book.database, who.name, passphrase, now=service.clock())
    )


@router.post(
    "/confirm/phone",
    responses=answers(on_200=(answer.PhoneAnswer, "The buttons on the phone of this person decide now.")),
    openapi_extra=takes(PhoneBody),
)
async def unlock_phone(request: HTTPRequest, who: Who) -> Response:
    """Let the phone of this person decide for a time."""
    given, service = await read_json(request, _phone), service_of(request)
    until = await service.unlock_phone(await unlock(service, who, given.passphrase), given.seconds)
    return as_json(shown_as(answer.PhoneAnswer, who, channels=CHANNELS, expires_at=until))


async def decide(
    service: ConfirmService, who: Credential, request_id: str, *, approve: bool, reason: str, via: str
) -> Request:
    """Cast a vote, and wake the clients that wait for it."""
    checked = check_id(request_id)
    decided = await service.store.write(lambda book: book.decide(who, checked, approve=approve, reason=reason, via=via))
    service.metrics.voted(approve=approve)
    service.waiting.tell(decided)
    service.notices.wake()
    return decided


@router.post(
    "/confirm/{request_id}/redeem",
    responses=answers(
        on_200=(answer.RedeemedAnswer, "The grant: do it now, once."),
        on_409=answer.CONFLICT,
    ),
    openapi_extra=takes(RedeemBody),
)
async def redeem(request: HTTPRequest, request_id: RequestId, who: Who) -> Response:
    """Use an approval, once, for exactly what was approved."""
    service = service_of(request)
    digest = (await read_json(request, _redemption)).digest
    checked = check_id(request_id)
    grant = await service.store.write(lambda book: book.redeem(who, checked, digest=digest))
    service.metrics.redeemed()
    return as_json(shown_as(answer.RedeemedAnswer, grant))


_SHOWN = (answer.RequestAnswer, "The request.")


@router.get("/confirm/{request_id}", responses=answers(on_200=_SHOWN))
async def look(request: HTTPRequest, request_id: RequestId, who: Who, wait: Wait = 0.0) -> Response:
    """One request; with `wait`, as soon as it is resolved or when the seconds are over."""
    service = service_of(request)
    checked = check_id(request_id)
    if wait == 0:
        found = await service.waiting.look(who, checked)
    else:
        # Its time is left out of the histogram of answer times.
        request.state.waited = True
        found = await service.waiting.until_resolved(who, checked, wait, lambda: _gone(request))
    return as_json(answer.encode_request(found))


async def _gone(request: HTTPRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def check_id(request_id: str) -> str:
    """An id of the right form; anything else is NotFound, before it reaches a database."""
    if not _ID.match(request_id):
        raise NotFound("No request has this id: see `GET /confirm`.")
    return request_id


_SEES_ALL = ("approver", "admin")
_MOST_UNSENT = 20
Limit = Annotated[int, Query(ge=1, le=500, description="At most this many.")]


@overview.get("/confirm", responses=answers(on_200=(answer.RequestsAnswer, "Requests; for an agent only its own.")))
async def requests(
    request: HTTPRequest,
    who: Who,
    status: Annotated[Status | None, Query(description="Only with this status.")] = None,
    unused: Annotated[bool, Query(description="Only approved ones that were never redeemed.")] = False,
    limit: Limit = 50,
    before: Annotated[str | None, Query(description="Only those older than the request with this id.")] = None,
) -> Response:
    """Requests, newest first."""
    older = None if before is None else check_id(before)
    found = await service_of(request).store.read(
        lambda book: book.list(who, status=status, unused=unused, limit=limit, before=older)
    )
    shown = [answer.show_request(answer.RequestItem, one) for one in found]
    return as_json(answer.RequestsAnswer(count=len(shown), requests=shown))


@overview.get("/audit", responses=answers(on_200=(answer.AuditAnswer, "Entries of the audit.")))
async def audit(request: HTTPRequest, who: Who, limit: Limit = 50) -> Response:
    """What happened, newest first; for approvers and admins."""
    if who.role not in _SEES_ALL:
        raise Refused("The audit is for approvers and admins: ask one of them.")
    found = await service_of(request).store.read(lambda book: book.audit(limit=limit))
    entries = [shown_as(answer.AuditItem, entry) for entry in found]
    return as_json(answer.AuditAnswer(count=len(entries), entries=entries))


@overview.get(
    "/health",
    responses=answers(
        on_200=(answer.HealthAnswer, "It works."),
        on_503=(answer.HealthAnswer, "It does not; restart it, or see its log."),
    ),
)
async def health(request: HTTPRequest) -> Response:
    """Whether the service works. Needs no credential, and says more with one."""
    service = service_of(request)
    try:
        pending = await service.pending_count()
        works = service.broken is None
    except CannotDo:
        pending, works = None, False
    more: dict[str, Any] = {}
    who = await _recognised(request) if works else None
    if who is not None:
        more |= {
            "version": seasoned.__version__,
            "database": "postgres" if service.config.database_url else "sqlite",
            "waiting": service.waiting.count,
            "single_operator": service.policy.gives_up(),
        }
    if who is not None and who.role == "admin":
        more["unsent"] = await service.store.read(_unsent)
    now = service.clock()
    shown = answer.HealthAnswer(
        status="ok" if works else "failing",
        pending_count=pending,
        timestamp=now,
        timestamp_iso=str(answer.iso(now)),
        **more,
    )
    return as_json(shown, status=200 if works else 503)


async def _recognised(request: HTTPRequest) -> Credential | None:
    try:
        return await authenticated(request)
    except (Denied, CannotDo):
        return None


def _unsent(book: Book) -> list[dict[str, object]]:
    """Notifications that have not arrived, without their contents."""
    return [msgspec.structs.asdict(one) for one in unsent(book.database, limit=_MOST_UNSENT)]


@overview.get(
    "/metrics",
    responses={
        200: {"description": "Counters for Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    },
)
async def metrics(request: HTTPRequest, who: Who) -> Response:
    """Metrics without names. Any credential may read them, so a collector needs no more rights than an agent."""
    service = service_of(request)
    pending = await service.pending_count()
    return Response(service.metrics.text(pending), media_type=CONTENT_TYPE, headers={"cache-control": "no-store"})


@overview.get("/openapi.json", include_in_schema=False)
async def openapi_document(request: HTTPRequest, who: Who) -> Response:
    """The OpenAPI document."""
    return Response(msgspec.json.encode(answer.document(request.app)), media_type="application/json")
