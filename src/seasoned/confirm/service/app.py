"""The confirmation service as a web application, alone or as part of a larger one."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from seasoned.confirm.incoming import TooLarge, TooSlow
from seasoned.confirm.notify.notifier import incoming_router
from seasoned.confirm.service import routes
from seasoned.confirm.service.answer import error_answer
from seasoned.confirm.service.service import ConfirmService
from seasoned.errors import CannotDo, Conflict, NotFound, Refused, SeasonedError, TooMany, Unauthorised, UsageError

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
    for router in (incoming, routes.router, routes.public):
        app.include_router(router)
    app.add_exception_handler(SeasonedError, on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(ClientDisconnect, _on_gone)
    app.add_exception_handler(Exception, _on_unexpected)


def status_of(error: SeasonedError) -> int:
    """The HTTP status of an error."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


async def on_error(_: Request, error: Exception) -> Response:
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


async def _on_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    # Where it was sent, and its name; a body that is not an object has no name.
    place = [part for part in first["loc"] if isinstance(part, str)]
    field = place[min(1, len(place) - 1)]
    return error_answer(400, f"{field}: {first['msg']}.", {"field": field})


async def _on_http(_: Request, error: Exception) -> Response:
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


async def _on_gone(_: Request, __: Exception) -> Response:
    return Response(status_code=400)


async def _on_unexpected(_: Request, __: Exception) -> Response:
    return error_answer(500, "Unexpected error: see the service's log.")
