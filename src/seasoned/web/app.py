"""Everything that is served in one application: the services by their own parts, and the pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

import seasoned
from seasoned.confirm.service import ConfirmService, attach
from seasoned.web import login
from seasoned.web.browser_session import BrowserSessions, load_pages_key
from seasoned.web.history_store import HistoryStore, PageCache
from seasoned.web.response import HEADERS, STATIC, message_page, static_version
from seasoned.web.view import confirmations, inbox, insight, live, overview, projects, sessions, usage

# Every page that people can go to, in the order of the head.
PAGES = tuple(
    (module.PAGE, module.router)
    for module in (overview, inbox, sessions, live, projects, usage, insight, confirmations)
)


def create_web(service: ConfirmService, *, histories: Path | None = None) -> FastAPI:
    """The confirmation service and the pages. `app.state.visits` makes login links.

    `histories` is a store of samples, shown instead of the sessions of the configured store.
    """
    history_store = HistoryStore(histories or service.config.store_path, is_sample=histories is not None)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        history_store.start()
        try:
            async with service.running():
                yield
        finally:
            if (live := getattr(app.state, "live", None)) is not None:
                live.stop()
            await history_store.stop()

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
    app.state.visits = BrowserSessions(service.clock, load_pages_key(service.config.home))
    app.state.page_cache = PageCache()
    app.state.histories = history_store
    app.state.pages = tuple(page for page, _ in PAGES)
    app.include_router(login.router)
    for router in (login.visit_router, *(router for _, router in PAGES)):
        app.include_router(router)
        app.include_router(router, prefix="/visit/{number}")
    app.add_api_route("/static/{name}", _static, include_in_schema=False)
    _show_missing_as_page(app)
    return app


async def _static(name: str, v: str = "") -> Response:
    # Only listed names, so that no path can be asked for.
    if name not in STATIC:
        raise HTTPException(404)
    path, kind = STATIC[name]
    # An address with the current version never changes its content; any other must be checked again.
    caching = "max-age=31536000, immutable" if v == static_version(name) else "no-cache"
    return Response(path.read_bytes(), media_type=kind, headers=HEADERS | {"cache-control": caching})


def _show_missing_as_page(app: FastAPI) -> None:
    """Browsers get a page where programs get JSON, for addresses that do not exist."""
    in_json = app.exception_handlers[HTTPException]

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if "text/html" not in request.headers.get("accept", "") or error.status_code not in (404, 405):
            answered: Response = await in_json(request, error)  # type: ignore[misc]
            return answered
        return message_page("Not found", "There is no page at this address.", status=error.status_code)

    app.add_exception_handler(HTTPException, answer)
