"""The client's side of a request: read its body within limits, answer errors in its API, notice when it leaves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from starlette.types import Message, Receive, Send

from seasoned.errors import Denied
from seasoned.gateway.settings import Api

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 408: "timeout_error"}
_KINDS |= {413: "request_too_large", 421: "misdirected_request", 426: "upgrade_not_supported", 429: "rate_limit_error"}


_PAUSES = 10


class RequestRefused(Denied):
    """A request that is refused, with the HTTP status to answer."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class ClientGone(Exception):
    """The client disconnected before its request was complete."""


async def read_body(receive: Receive, *, most: int, seconds: float) -> bytes:
    """The whole body; refused if it is too large, stops for too long, or takes ten times as long as a pause may.

    The second limit ends a client that sends a byte now and then to hold its connection.
    """
    parts: list[bytes] = []
    size = 0
    ends = time.monotonic() + _PAUSES * seconds
    while True:
        message = await _next_piece(receive, seconds)
        if time.monotonic() > ends and message.get("more_body"):
            raise RequestRefused(f"The request took over {_PAUSES * seconds:g} seconds. Send it faster.", status=408)
        if message["type"] == "http.disconnect":
            raise ClientGone
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise RequestRefused(
                f"The request is larger than {most} bytes. Raise body_bytes in gateway.toml.", status=413
            )
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


async def _next_piece(receive: Receive, seconds: float) -> Message:
    # If the event loop was late, the data and the time-out arrive together: the second try takes the data, so that
    # the client is not blamed.
    for wait in (seconds, 0):
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                return await receive()
    raise RequestRefused(f"No data arrived for {seconds:g} seconds. Send the request again.", status=408)


async def run_while_there(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Run work for a client; if it disconnects the work is cancelled, and with it the upstream's."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
            return
        working.result()
    finally:
        leaving.cancel()
        if not working.done():
            # The server itself stops.
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working


async def _left(receive: Receive) -> None:
    message: Message = await receive()
    while message["type"] != "http.disconnect":
        message = await receive()


async def refuse(send: Send, api: Api, status: int, text: str) -> None:
    """Answer an error in the form of the client's API, so that its library understands it."""
    kind = _KINDS.get(status, "api_error")
    error = {"type": kind, "message": text}
    body = (
        {"type": "error", "error": error} if api == "anthropic" else {"error": {**error, "code": f"gateway_{status}"}}
    )
    headers = [(b"x-seasoned-gateway", b"refused")]
    headers += [(b"connection", b"close")] if status in (408, 413) else []
    headers += [(b"www-authenticate", b'Bearer realm="seasoned"')] if status == 401 else []
    # Providers' libraries retry at once unless told that it would not help.
    headers += [(b"x-should-retry", b"false")] if status in (401, 413, 421, 429) else []
    await say(send, status, msgspec.json.encode(body), headers=headers)


async def say(
    send: Send,
    status: int,
    body: bytes,
    *,
    kind: bytes = b"application/json",
    headers: Sequence[tuple[bytes, bytes]] = (),
) -> None:
    """Answer a request from the gateway itself."""
    length = (b"content-length", str(len(body)).encode())
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind), length, *headers]}
    )
    await send({"type": "http.response.body", "body": body})
