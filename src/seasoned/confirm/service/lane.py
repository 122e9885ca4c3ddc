"""The short way for what comes often: the same functions as the routes, without what a framework does for any of them.

A router, its dependencies and its stacks cost more than deciding; the document is still made from the routes.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.service import routes
from seasoned.confirm.service.auth import token_of
from seasoned.errors import SeasonedError

Refusing = Callable[[Request, Exception], Awaitable[Response]]
_PATH = re.compile(r"/confirm(?:/([A-Za-z0-9_-]{1,64})(?:/(approve|deny|redeem))?)?\Z")
_WAIT = re.compile(rb"wait=([0-9]{1,3}(?:\.[0-9]{1,3})?)\Z")
_ONE = "/confirm/{request_id}"
_VERBS = {"approve": routes.approve, "deny": routes.deny, "redeem": routes.redeem}
_MOST_KNOWN = 1000


class Lane:
    """Answers submissions, decisions, redemptions and looks; everything else is for the routes."""

    def __init__(self, refuse: Refusing) -> None:
        self._refuse = refuse
        self._known: dict[bytes, Credential] = {}

    def route_of(self, scope: Scope) -> str | None:
        """The route that a call belongs to; None where it is not one of these."""
        found = _PATH.match(scope["path"])
        if found is None or scope["method"] not in ("GET", "POST"):
            return None
        request_id, verb = found.groups()
        query = scope["query_string"]
        if scope["method"] == "GET":
            is_look = request_id and not verb and (not query or _WAIT.match(query))
            return _ONE if is_look else None
        if query:
            return None
        if request_id is None:
            return "/confirm"
        return f"{_ONE}/{verb}" if verb else None

    async def answer(self, request: Request) -> Response:
        """What comes of a call that belongs to one of these routes."""
        try:
            token = token_of(request)
            key = b"" if token is None else sha256(token.encode()).digest()
            who = self._known.get(key) or await self._recognised(request, key)
            request.scope.setdefault("state", {})["credential"] = who.name
            try:
                return await _doing(request, who)
            except SeasonedError:
                # Every change and look has the credential checked again; one that was revoked is told so, and no more.
                self._known.pop(key, None)
                await routes.authenticated(request)
                raise
        except Exception as error:  # noqa: BLE001
            # Whoever asked gets an answer, whatever happened.
            return await self._refuse(request, error)

    async def _recognised(self, request: Request, key: bytes) -> Credential:
        who = await routes.authenticated(request)
        if key:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[key] = who
        return who


def _doing(request: Request, who: Credential) -> Awaitable[Response]:
    found = _PATH.match(request.scope["path"])
    assert found is not None
    request_id, verb = found.groups()
    if verb is not None:
        return _VERBS[verb](request, request_id, who)
    if request_id is not None:
        wait = _WAIT.match(request.scope["query_string"])
        return routes.look(request, request_id, who, float(wait[1]) if wait else 0.0)
    return routes.submit(request, who)
