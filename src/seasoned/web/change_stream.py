"""Tells an open page that something changed, as server-sent events; the page then asks for what is new."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from seasoned.confirm.service.waiting import ChangeSignal
from seasoned.errors import Denied
from seasoned.web.login import Visitor, visitor

# Proxies close a connection on which nothing was sent for a while.
_HEARTBEAT_SECONDS = 15.0


def stream_signal(request: Request, here: Visitor, listening: AbstractContextManager[ChangeSignal]) -> Response:
    """A stream of `change` and `over` for as long as the page is open; `listening` holds the signal meanwhile."""
    # Its duration says nothing about the server, so it stays out of the metrics.
    request.state.waited = True
    # The last one keeps nginx from holding events back in a buffer.
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-accel-buffering": "no"}
    return StreamingResponse(_events(request, here, listening), media_type="text/event-stream", headers=headers)


async def _events(
    request: Request, here: Visitor, listening: AbstractContextManager[ChangeSignal]
) -> AsyncIterator[bytes]:
    with listening as signal:
        # Something may have changed between the page and this stream, so the page reloads once at the start.
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
