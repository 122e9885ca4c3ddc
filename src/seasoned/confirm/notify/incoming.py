"""Endpoints for Telegram, Discord and webhooks. A call that does not prove its origin changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import msgspec
from fastapi import APIRouter
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse

from seasoned.confirm.notify.decision import DecisionReply
from seasoned.confirm.notify.discord import SIGNATURE_HEADER, TIMESTAMP_HEADER, is_from_discord, receive_interaction
from seasoned.confirm.notify.message import ConfiguredChannel
from seasoned.confirm.notify.telegram import SECRET_HEADER, is_from_telegram, receive_update
from seasoned.confirm.notify.webhook import receive_webhook
from seasoned.confirm.request.book import Book
from seasoned.errors import Unauthorised, UsageError

MOST_BYTES = 256_000
_STATUS = {"decided": 200, "counted": 200, "already": 409, "refused": 403, "unknown": 404}
_T = TypeVar("_T")


class Ask(Protocol):
    """Runs a function with a book, in a thread that may use one."""

    def __call__(self, do: Callable[[Book], _T], /) -> Awaitable[_T]: ...


def router(ask: Ask, channels: Callable[[], Mapping[str, ConfiguredChannel]], clock: Callable[[], float]) -> APIRouter:
    """The three endpoints. `channels` is called each time, since the policy can change."""
    routes = APIRouter(include_in_schema=False)

    def of(kind: str) -> Sequence[ConfiguredChannel]:
        return [channel for channel in channels().values() if channel.kind == kind]

    @routes.post("/confirm/telegram")
    async def receive_from_telegram(request: HttpRequest) -> JSONResponse:
        # The secret is in a header, so the body of a stranger is not even read.
        known = is_from_telegram(of("telegram"), _only(request, SECRET_HEADER))
        if not known:
            return _error(401, "Not from Telegram: the secret header is missing or wrong.")
        body = await read_body(request, MOST_BYTES)
        if body is None:
            return _error(413, "The update is too long.")
        reply = await ask(lambda book: receive_update(book, known, body, now=clock()))
        # Telegram repeats an update until it gets a 200, so a malformed one gets it too.
        return JSONResponse(reply or {})

    @routes.post("/confirm/discord")
    async def receive_from_discord(request: HttpRequest) -> JSONResponse:
        body = await read_body(request, MOST_BYTES)
        if body is None:
            return _error(413, "The interaction is too long.")
        signature, timestamp = _only(request, SIGNATURE_HEADER), _only(request, TIMESTAMP_HEADER)
        known = is_from_discord(of("discord"), signature=signature, timestamp=timestamp, body=body, now=clock())
        if not known:
            return _error(401, "Not from Discord: the signature is missing, wrong or old.")
        reply = await ask(lambda book: receive_interaction(book, known, body, now=clock()))
        return JSONResponse(reply) if reply is not None else _error(400, "Unknown kind of interaction.")

    @routes.post("/confirm/hook")
    async def receive_from_webhook(request: HttpRequest) -> JSONResponse:
        body = await read_body(request, MOST_BYTES)
        if body is None:
            return _error(413, "The webhook is too long.")
        given = {name: _only(request, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")}
        try:
            answer = await ask(lambda book: receive_webhook(book, of("webhook"), given, body, now=clock()))
        except Unauthorised as error:
            return _error(401, str(error))
        except UsageError as error:
            return _error(400, str(error))
        return _decision(answer)

    return routes


async def read_body(request: HttpRequest, most: int) -> bytes | None:
    """The body, or None if it is too long."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            return None
    return bytes(found)


def _only(request: HttpRequest, name: str) -> str:
    """The value of a header that was sent exactly once; else empty."""
    # Of two headers, a proxy and this service could each believe another one.
    given = request.headers.getlist(name)
    return given[0] if len(given) == 1 else ""


def _decision(answer: DecisionReply) -> JSONResponse:
    values: dict[str, Any] = {"schema": "seasoned/confirm-hook/1", **msgspec.to_builtins(answer)}
    return JSONResponse(values, status_code=_STATUS[answer.outcome])


def _error(status: int, sentence: str) -> JSONResponse:
    return JSONResponse({"schema": "seasoned/error/1", "error": sentence}, status_code=status)
