"""Where a client works. It decides what the client is given: what belongs to the project of that folder."""

from __future__ import annotations

from contextvars import ContextVar
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Receive, Scope, Send

_asked: ContextVar[str | None] = ContextVar("seasoned_mcp_folder", default=None)


class ClientFolder:
    """The folder of a client: given with a call, else with the address of the server, else where it was started."""

    def __init__(self, started_in: str | None = None) -> None:
        self._started_in = started_in

    def get(self, given: str | None = None) -> str | None:
        """The folder; None if it is not known."""
        return given or _asked.get() or self._started_in


class FolderInAddress:
    """Takes the folder from the address, `/mcp?folder=/home/mira/app`: one server over HTTP has clients everywhere."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = parse_qs(scope.get("query_string", b"").decode("utf-8", "replace")).get("folder", [])
        # Tasks and threads that answer the request have a copy of this.
        token = _asked.set(given[-1] if given else None)
        try:
            await self._app(scope, receive, send)
        finally:
            _asked.reset(token)
