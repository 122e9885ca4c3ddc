"""The service over HTTP: routes, their bodies and answers, errors, and the application that has them.

GET changes nothing but expiry. The caller is identified by a bearer token.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, FastAPI, Header, Query
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HTTPRequest
from starlette.responses import JSONResponse, Response

from seasoned.confirm.audit.chain import AuditEntry
from seasoned.confirm.notify.http import TooLarge, TooSlow, read_body
from seasoned.confirm.notify.notifier import incoming_router, unsent
from seasoned.confirm.people.credential import (
    CHANNELS,
    DEFAULT_SECONDS,
    Credential,
    UnlockedCredential,
    authenticate,
    authenticate_passphrase,
)
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest, Request, Status
from seasoned.confirm.service.service import ConfirmService, service_of
from seasoned.errors import (
    CannotDo,
    Conflict,
    Denied,
    NotFound,
    Refused,
    SeasonedError,
    TooMany,
    Unauthorised,
    UsageError,
)

# Answers contain exact arguments, which no cache may keep.
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_TIMES = ("at", "created_at", "expires_at", "resolved_at", "redeem_before", "redeemed_at", "timestamp")
Answer = dict[str, Any]


def iso(moment: float) -> str:
    """A time as ISO 8601 text in UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def answer(schema: str, values: Mapping[str, Any]) -> Answer:
    """An answer of this kind."""
    return {"schema": schema, **dated(values)}


def dated(values: Mapping[str, Any]) -> Answer:
    """The fields, and each time also as ISO text."""
    moments = {name: values[name] for name in _TIMES if name in values}
    return {**values, **{f"{name}_iso": None if at is None else iso(at) for name, at in moments.items()}}


def request_fields(request: Request) -> Answer:
    """A request with everything that the service shows of it: exact while it is pending, redacted afterwards."""
    values: Answer = msgspec.to_builtins(request)
    return dated({**values, "votes": [dated(vote) for vote in values["votes"]]})


def entry_fields(entry: AuditEntry) -> Answer:
    """One row of the audit, and the present state of the request it is about."""
    return dated(msgspec.to_builtins(entry))


def submitted_answer(request: Request, base_url: str) -> Answer:
    """The answer to a submission."""
    url = f"{base_url}/confirm/{request.id}"
    values = {name: getattr(request, name) for name in ("id", "action", "status", "timeout_seconds", "digest")}
    links = {"approve_url": f"{url}/approve", "deny_url": f"{url}/deny"}
    return answer("seasoned/confirm-submitted/1", {**values, "message": _message(request), **links})


def decided_answer(request: Request) -> Answer:
    """The answer to a decision; still pending if more approvals are needed."""
    names = ("id", "action", "status", "reason", "resolved_by", "resolved_at")
    return answer("seasoned/confirm-decided/1", {name: getattr(request, name) for name in names})


def _message(request: Request) -> str:
    if request.status == "auto_approved":
        return "The allow-list covers this action: redeem it before you act."
    if request.is_resolved:
        return f"This was submitted before and is {request.status}."
    wait = f"GET /confirm/{request.id}?wait=60"
    return f"A person has {request.timeout_seconds:g} seconds to decide; wait with {wait}."


def error_answer(
    status: int, error: str, more: Mapping[str, object] | None = None, *, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as every caller gets it: one sentence, and what belongs to its kind."""
    values = answer("seasoned/error/1", {"error": error, **(more or {})})
    return JSONResponse(values, status, headers={**HEADERS, **(headers or {})})


_JSON = ("application/json", "application/json;charset=utf-8")
_Passphrase = Annotated[SecretStr, Field(strict=False)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class SubmitBody(_Body):
    """The body of `POST /confirm`. Lengths are checked where the messages are better."""

    action: str
    description: str
    details: dict[str, Any] | None = None
    # A label: the credential says who asks.
    requester: str | None = None
    session_key: str | None = None
    # Clamped to 30 to 3,600; anything but a number means the default.
    timeout_seconds: Any = None

    def new_request(self, idempotency_key: str | None) -> NewRequest:
        """The request that is submitted."""
        return NewRequest(
            action=self.action,
            description=self.description,
            details=self.details or {},
            label=self.requester or "",
            session_key=self.session_key or "",
            timeout_seconds=self.timeout_seconds,
            idempotency_key=idempotency_key,
        )


class DecisionBody(_Body):
    """The body of approve and deny."""

    reason: str | None = None
    passphrase: _Passphrase | None = None


class PhoneBody(_Body):
    """The body that unlocks a phone."""

    passphrase: _Passphrase
    # 12 hours by default, 30 days at most.
    seconds: float | None = None


class RedeemBody(_Body):
    """The body of redeem."""

    # SHA-256 (hex) of the canonical request that is about to be executed.
    digest: str


async def read_json_body(request: HTTPRequest) -> HTTPRequest:
    """The same request with its whole body, which is JSON if there is one."""
    body = await read_body(request)
    kind = request.headers.get("content-type", "").lower().replace(" ", "")
    if body and (kind not in _JSON or "content-encoding" in request.headers):
        raise UsageError("Content-Type: expected 'application/json', in UTF-8 and not compressed.")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return HTTPRequest(request.scope, receive)


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


# The HTTP status of an error; the nearest class counts.
STATUS: dict[type[SeasonedError], int] = {
    UsageError: 400,
    Unauthorised: 401,
    Refused: 403,
    NotFound: 404,
    TooSlow: 408,
    Conflict: 409,
    TooLarge: 413,
    TooMany: 429,
    CannotDo: 503,
}
# How the errors of the book begin.
_NAMED = re.compile(
    r"(?:an )?'?(action|description|details|requester|session_key|reason|digest|limit|status|Content-Type)\b"
)
_log = logging.getLogger("seasoned.confirm")


def create_app(service: ConfirmService) -> FastAPI:
    """The service alone."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(lifespan=lifespan, openapi_url=None, redirect_slashes=False)
    attach(app, service)
    return app


def attach(app: FastAPI, service: ConfirmService) -> None:
    """Add the service to an application, which must also run `service.running()`."""
    app.state.confirm = service
    incoming = incoming_router(service.store.write, lambda: service.notifier.channels, service.clock)
    for each in (incoming, router, public):
        app.include_router(each)
    app.add_exception_handler(SeasonedError, on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(ClientDisconnect, _on_gone)
    app.add_exception_handler(Exception, _on_unexpected)


def status_of(error: SeasonedError) -> int:
    """The HTTP status of an error."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


async def on_error(_: HTTPRequest, error: Exception) -> Response:
    """An error of ours as an answer."""
    assert isinstance(error, SeasonedError)
    status, said = status_of(error), str(error)
    more: dict[str, object] = {}
    headers = {"www-authenticate": 'Bearer realm="seasoned"'} if status == 401 else {}
    if isinstance(error, UsageError):
        found = _NAMED.match(said)
        more["field"] = found[1] if found else None
    elif isinstance(error, Conflict):
        more["status"] = error.status
    elif isinstance(error, TooMany):
        more |= {"remaining": error.remaining, "window_seconds": error.window_seconds}
    elif isinstance(error, TooLarge | TooSlow):
        headers["connection"] = "close"
    if status >= 500:
        # The message may name paths or a database, which only the operator should see.
        _log.error("%s", error)
        said = "The store cannot be used at the moment: try again later, and see the service's log."
    return error_answer(status, said, more, headers=headers)


async def _on_invalid(_: HTTPRequest, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    # Where it was sent, and its name; a body that is not an object has no name.
    place = [part for part in first["loc"] if isinstance(part, str)]
    field = place[min(1, len(place) - 1)]
    return error_answer(400, f"{field}: {first['msg']}.", {"field": field})


async def _on_http(_: HTTPRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    # FastAPI could not decode a body.
    if error.status_code == 400:
        return error_answer(400, "body: it cannot be read; send one JSON object in UTF-8.", {"field": "body"})
    messages = {
        404: "Not found: check the address; docs/reference/http.md lists them.",
        405: "Method not allowed here.",
    }
    said = messages.get(error.status_code, str(error.detail))
    return error_answer(error.status_code, said, headers=error.headers)


async def _on_gone(_: HTTPRequest, __: Exception) -> Response:
    return Response(status_code=400)


async def _on_unexpected(_: HTTPRequest, __: Exception) -> Response:
    return error_answer(500, "Unexpected error: see the service's log.")
