"""What is there: the list of requests, the audit, health, counters, and the document that describes it all."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

import seasoned
from seasoned.confirm.notify.outbox import unsent
from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Status
from seasoned.confirm.service import openapi, responses
from seasoned.confirm.service.metrics import CONTENT_TYPE
from seasoned.confirm.service.openapi import answers
from seasoned.confirm.service.routes import Who, authenticated, check_id
from seasoned.confirm.service.service import service_of
from seasoned.errors import CannotDo, Denied, Refused

router = APIRouter(tags=["overview"])
_SEES_ALL = ("approver", "admin")
_MOST_UNSENT = 20
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]


@router.get("/confirm", responses=answers(400, 404, on_200=(openapi.RequestsAnswer, "Requests; an agent's own only.")))
async def requests(
    request: HTTPRequest,
    who: Who,
    status: Annotated[Status | None, Query(description="Only those that stand so.")] = None,
    unused: Annotated[bool, Query(description="Only those that were approved and never redeemed.")] = False,
    limit: Limit = 50,
    before: Annotated[str | None, Query(description="Only those older than this one: an id.")] = None,
) -> Response:
    """Requests, the newest first."""
    older = None if before is None else check_id(before)
    found = await service_of(request).store.read(
        lambda book: book.list(who, status=status, unused=unused, limit=limit, before=older)
    )
    values = {"count": len(found), "requests": [responses.shown(one) for one in found]}
    return responses.say("confirm-requests", values)


@router.get("/audit", responses=answers(400, 403, on_200=(openapi.AuditAnswer, "Entries of the audit.")))
async def audit(request: HTTPRequest, who: Who, limit: Limit = 50) -> Response:
    """What happened, the newest first; for those who may see everything."""
    if who.role not in _SEES_ALL:
        raise Refused("The audit is for approvers and admins: ask one of them.")
    found = await service_of(request).store.read(lambda book: book.audit(limit=limit))
    entries = [responses.with_iso(msgspec.structs.asdict(entry)) for entry in found]
    return responses.say("confirm-audit", {"count": len(entries), "entries": entries})


@router.get(
    "/health",
    responses={
        200: {"model": openapi.HealthAnswer, "description": "It works."},
        503: {"model": openapi.HealthAnswer, "description": "It does not; restart it or look at its log."},
    },
)
async def health(request: HTTPRequest) -> Response:
    """Whether the service works. Needs no credential, and says more to those who have one."""
    service = service_of(request)
    try:
        pending = await service.pending_count()
        works = service.broken is None
    except CannotDo:
        pending, works = None, False
    values: dict[str, object] = {
        "status": "ok" if works else "failing",
        "pending_count": pending,
        "timestamp": responses.iso(service.clock()),
    }
    who = await _recognised(request) if works else None
    if who is not None:
        values |= {
            "version": seasoned.__version__,
            "database": "postgres" if service.config.database_url else "sqlite",
            "waiting": service.waiting.count,
            "single_operator": service.policy.gives_up(),
        }
    if who is not None and who.role == "admin":
        values["unsent"] = await service.store.read(_unsent)
        exported = service.heads.exported
        values["export"] = {
            "to": service.policy.audit.export,
            "row": None if exported is None else exported.seq,
            "at": None if exported is None else responses.iso(exported.at),
            "problem": service.heads.problem,
        }
    return responses.say("health", values, status=200 if works else 503)


async def _recognised(request: HTTPRequest) -> Credential | None:
    try:
        return await authenticated(request)
    except (Denied, CannotDo):
        return None


def _unsent(book: Book) -> list[dict[str, object]]:
    """Notifications that have not arrived, without what they say."""
    return [msgspec.structs.asdict(one) for one in unsent(book.database, limit=_MOST_UNSENT)]


@router.get(
    "/metrics",
    responses=answers()
    | {200: {"description": "Counters for Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(request: HTTPRequest, who: Who) -> Response:
    """Counters without names; any credential may read them, so that a collector needs no rights beyond an agent's."""
    service = service_of(request)
    pending = await service.pending_count()
    return Response(service.metrics.text(pending), media_type=CONTENT_TYPE, headers={"cache-control": "no-store"})


@router.get("/openapi.json", include_in_schema=False)
async def openapi_document(request: HTTPRequest, who: Who) -> Response:
    """The OpenAPI document."""
    return Response(msgspec.json.encode(openapi.document(request.app)), media_type="application/json")
