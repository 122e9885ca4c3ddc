"""The page of running sessions, and the stream that tells pages when something happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from seasoned.command.call_text import brief_of
from seasoned.confirm.service.service import service_of
from seasoned.confirm.service.waiting import ChangeSignal
from seasoned.live.follow import STREAK
from seasoned.web.change_stream import stream_signal
from seasoned.web.history_store import histories_of
from seasoned.web.live import live_of
from seasoned.web.login import Here
from seasoned.web.response import Page, PageRoute
from seasoned.web.table import answer

PAGE = Page("Live", "live")
router = APIRouter(prefix="/visit/{number}", include_in_schema=False, route_class=PageRoute)
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
    """Says when a running session goes on; the page then asks for what is new."""
    return stream_signal(request, here, _listening(request, session))


@contextmanager
def _listening(request: Request, session: str) -> Iterator[ChangeSignal]:
    # The signal of the service also ends when the server stops.
    with service_of(request).waiting.listen() as signal, live_of(request).listen(session or None, signal):
        yield signal
