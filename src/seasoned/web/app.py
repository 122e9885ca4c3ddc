"""Everything that is served in one application: the services by their own parts, and the pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import seasoned
from seasoned.confirm.service import Service, attach
from seasoned.insight.page import frame as report
from seasoned.web import confirmations, login
from seasoned.web.frame import FOLDER, HEADERS, Page, say
from seasoned.web.visit import Visits

PAGES: tuple[tuple[Page, APIRouter], ...] = ((confirmations.PAGE, confirmations.router),)
"""Every page that people can go to, in the order of the head; further rooms add theirs here."""
HAS_SCHEDULE = find_spec("cronsim") is not None
if HAS_SCHEDULE:
    from seasoned.web import schedule

    PAGES = (*PAGES, (schedule.PAGE, schedule.router))
_STATIC: dict[str, tuple[Path, str]] = {
    # The report and these pages look alike, because they have one style.
    "page.css": (Path(report.__file__).parent / "page.css", "text/css"),
    "web.css": (FOLDER / "web.css", "text/css"),
    "web.js": (FOLDER / "web.js", "text/javascript"),
    "icon.svg": (FOLDER / "icon.svg", "image/svg+xml"),
}


def create_web(service: Service) -> FastAPI:
    """The confirmation service and the pages; `visits` in its state invites browsers."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="Seasoned",
        version=seasoned.__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    attach(app, service)
    if HAS_SCHEDULE:
        schedule.measure(service)
    app.state.visits = Visits(service.clock)
    app.state.pages = tuple(page for page, _ in PAGES)
    for router in (login.router, *(router for _, router in PAGES)):
        app.include_router(router)
    app.add_api_route("/static/{name}", _static, include_in_schema=False)
    _say_missing_as_page(app)
    return app


async def _static(name: str) -> Response:
    if name not in _STATIC:
        raise HTTPException(404)
    path, kind = _STATIC[name]
    return Response(path.read_bytes(), media_type=kind, headers=HEADERS | {"cache-control": "no-cache"})


def _say_missing_as_page(app: FastAPI) -> None:
    """Browsers get a page where programs get JSON, for addresses that do not exist."""
    in_json = app.exception_handlers[HTTPException]

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if "text/html" not in request.headers.get("accept", "") or error.status_code not in (404, 405):
            answered: Response = await in_json(request, error)  # type: ignore[misc]
            return answered
        return say("Not found", "There is no page at this address.", status=error.status_code)

    app.add_exception_handler(HTTPException, answer)
