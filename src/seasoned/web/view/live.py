"""The page of running sessions, and the stream that tells pages when something happens."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from seasoned.command.brief import brief_of
from seasoned.confirm.service.service import service_of
from seasoned.errors import Denied
from seasoned.live.follow import STREAK
from seasoned.web.history_store import histories_of
from seasoned.web.live import live_of
from seasoned.web.login import Here, Visitor, visitor
from seasoned.web.response import Page, PageRoute
from seasoned.web.table import answer

PAGE = Page("Live", "live")
router = APIRouter(prefix="/visit/{number}", include_in_schema=False, route_class=PageRoute)
# Proxies close a connection on which nothing was sent for a while.
_HEARTBEAT_SECONDS = 15.0
_NEWEST_CALLS = 5
_MOST_SESSIONS = 20


@router.get("/live")
async def show(request: Request, here: Here) -> Response:
    """What runs now, the newest calls of each, and which of them fail in a row."""
    hub = live_of(request)
    # Samples are old: none of them runs.
    found = [] if histories_of(request).is_sample else await hub.running()
    return answer(
        request,
        here,
        "live.html",
        running=None if found is None else found[:_MOST_SESSIONS],
        problem=hub.problem,
        streak=STREAK,
        newest_calls=_NEWEST_CALLS,
        brief=brief_of,
    )


@router.get("/live/changes")
async def stream(request: Request, here: Here, session: str = "") -> Response:
    """Says when a running session goes on, as server-sent events; the page then asks for what is new."""
    # Its duration says nothing about the server, so it stays out of the metrics.
    request.state.waited = True
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-accel-buffering": "no"}
    return StreamingResponse(_events(request, here, session), media_type="text/event-stream", headers=headers)


async def _events(request: Request, here: Visitor, session: str) -> AsyncIterator[bytes]:
    # The signal of the service also ends when the server stops.
    with service_of(request).waiting.listen() as signal, live_of(request).listen(session or None, signal):
        yield b"retry: 1000\n\nevent: change\ndata: \n\n"
        while not signal.is_stopping:
            is_changed = await signal.wait(_HEARTBEAT_SECONDS)
            if signal.is_stopping:
                return
            try:
                # A stream may be open for hours, and its reader may have been logged out meanwhile.
                await visitor(request, here.visit.number)
            except Denied:
                yield b"event: over\ndata: \n\n"
                return
            yield b"event: change\ndata: \n\n" if is_changed else b": still here\n\n"
