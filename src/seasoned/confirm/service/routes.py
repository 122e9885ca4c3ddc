"""The life of a request over HTTP: submit, look, wait, decide, redeem. GET changes nothing but expiry."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response, StreamingResponse

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.request import Request
from seasoned.confirm.service import openapi, responses
from seasoned.confirm.service.auth import Bearer
from seasoned.confirm.service.openapi import answers
from seasoned.confirm.service.request_body import read_digest, read_new_request, read_reason
from seasoned.confirm.service.service import ConfirmService, service_of
from seasoned.errors import Denied, NotFound

router = APIRouter(tags=["confirm"])
authenticated = Bearer()
Who = Annotated[Credential, Depends(authenticated)]
RequestId = Annotated[str, Path(description="The id that submitting gave.")]
Wait = Annotated[float, Query(ge=0, le=3600, description="Seconds to wait for the decision.")]
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_HEARTBEAT_SECONDS = 15.0


@router.post(
    "/confirm",
    status_code=202,
    responses=answers(
        400,
        403,
        408,
        413,
        on_200=(openapi.SubmittedAnswer, "An allow-list covers it: approved without a person."),
        on_202=(openapi.SubmittedAnswer, "Taken in, and kept: a person decides."),
        on_409=(openapi.ConflictAnswer, "The idempotency key was used for something else."),
        on_429=(openapi.TooManyAnswer, "Too many requests: the sentence says of what."),
    ),
    openapi_extra={**openapi.SUBMISSION, "parameters": [openapi.KEY]},
)
async def submit(request: HTTPRequest, who: Who) -> Response:
    """Ask a person to agree to one action."""
    service = service_of(request)
    asked = await read_new_request(request)
    done = await service.store.write(lambda book: book.submit(who, asked))
    if done.is_new:
        service.metrics.submitted(done.request)
        service.notices.wake()
    status = 200 if done.request.status == "auto_approved" else 202
    return responses.say("confirm-submitted", responses.submitted(done.request, service.base_url), status=status)


_DECIDED = answers(
    400,
    403,
    404,
    408,
    413,
    on_200=(openapi.DecidedAnswer, "The vote is kept; `status` says whether that decides it."),
    on_409=openapi.CONFLICT,
)


@router.post("/confirm/{request_id}/approve", responses=_DECIDED, openapi_extra=openapi.VERDICT)
async def approve(request: HTTPRequest, request_id: RequestId, who: Who) -> Response:
    """Agree to exactly this action."""
    return await _decide(request, who, request_id, approve=True)


@router.post("/confirm/{request_id}/deny", responses=_DECIDED, openapi_extra=openapi.VERDICT)
async def deny(request: HTTPRequest, request_id: RequestId, who: Who) -> Response:
    """Refuse it; one denial decides."""
    return await _decide(request, who, request_id, approve=False)


async def _decide(request: HTTPRequest, who: Credential, request_id: str, *, approve: bool) -> Response:
    reason = await read_reason(request)
    decided = await decide(service_of(request), who, request_id, approve=approve, reason=reason, via="http")
    return responses.say("confirm-decided", responses.decided(decided))


async def decide(
    service: ConfirmService, who: Credential, request_id: str, *, approve: bool, reason: str, via: str
) -> Request:
    """Cast a vote, and tell whoever waits for it."""
    checked = check_id(request_id)
    decided = await service.store.write(lambda book: book.decide(who, checked, approve=approve, reason=reason, via=via))
    service.metrics.voted(approve=approve)
    service.waiting.tell(decided)
    service.notices.wake()
    return decided


@router.post(
    "/confirm/{request_id}/redeem",
    responses=answers(
        400,
        403,
        404,
        408,
        413,
        on_200=(openapi.RedeemedAnswer, "The grant: do it now, once."),
        on_409=openapi.CONFLICT,
    ),
    openapi_extra=openapi.REDEMPTION,
)
async def redeem(request: HTTPRequest, request_id: RequestId, who: Who) -> Response:
    """Use an approval, once, for what was approved."""
    service = service_of(request)
    digest = await read_digest(request)
    checked = check_id(request_id)
    grant = await service.store.write(lambda book: book.redeem(who, checked, digest=digest))
    service.metrics.redeemed()
    return responses.say("confirm-redeemed", responses.redeemed(grant))


_SHOWN = (openapi.RequestAnswer, "The request as it stands.")


@router.get("/confirm/{request_id}", responses=answers(400, 404, on_200=_SHOWN))
async def look(request: HTTPRequest, request_id: RequestId, who: Who, wait: Wait = 0.0) -> Response:
    """One request; with `wait`, as soon as it is resolved or when the seconds are over."""
    service = service_of(request)
    checked = check_id(request_id)
    if wait == 0:
        found = await service.waiting.look(who, checked)
    else:
        request.state.waited = True
        found = await service.waiting.until_resolved(who, checked, wait, lambda: _gone(request))
    return responses.as_json(responses.look_of(found))


async def _gone(request: HTTPRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@router.get(
    "/confirm/{request_id}/events",
    responses=answers(400, 404)
    | {
        200: {
            "description": "One event `status` for each change, each with the request; it ends when it is resolved.",
            "content": {"text/event-stream": {"schema": openapi.EVENT}},
        }
    },
)
async def events(request: HTTPRequest, request_id: RequestId, who: Who, wait: Wait = 3600.0) -> Response:
    """How a request goes on, as server-sent events."""
    service = service_of(request)
    checked = check_id(request_id)
    await service.waiting.look(who, checked)
    request.state.waited = True
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-accel-buffering": "no"}
    stream = _stream(service, request, who, checked, wait)
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _stream(
    service: ConfirmService, request: HTTPRequest, who: Credential, request_id: str, seconds: float
) -> AsyncIterator[bytes]:
    ends = service.waiting.now() + seconds
    with service.waiting.watch(who, request_id) as watch:
        found: Request = await service.waiting.look(who, request_id)
        yield responses.event(found)
        while not found.is_resolved and (left := ends - service.waiting.now()) > 0:
            news = await watch.next(min(left, _HEARTBEAT_SECONDS))
            # A stream may last for an hour: a credential that was revoked meanwhile sees no more of it.
            if news is not None:
                if not await service.waiting.is_current(who):
                    return
                found = news
                yield responses.event(found)
                continue
            if watch.is_stopping:
                return
            try:
                await authenticated(request)
            except Denied:
                return
            yield b": still waiting\n\n"


def check_id(request_id: str) -> str:
    """An id that could be one; all else is not there, whatever a database would make of it."""
    if not _ID.match(request_id):
        raise NotFound("There is no request with this id: look at `GET /confirm`.")
    return request_id
