"""Identifies the caller: by a bearer token, or by the user id at the other end of the Unix socket."""

from __future__ import annotations

import os
from collections.abc import Callable

from fastapi.openapi.models import HTTPBearer as HTTPBearerModel
from fastapi.security.base import SecurityBase
from starlette.requests import Request

from seasoned.confirm.people.credential import Credential, authenticate, credentials
from seasoned.confirm.request.book import Book
from seasoned.confirm.service.request_body import values_of
from seasoned.confirm.service.service import service_of
from seasoned.errors import Refused, Unauthorised

_MOST_TOKEN = 200


class Bearer(SecurityBase):
    """The credential of a request; without a valid one, 401 before anything else is read."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(description="A token from `seasoned confirm token make`.")
        self.scheme_name = "token"

    async def __call__(self, request: Request) -> Credential:
        service = service_of(request)
        given = token_of(request)
        ask: Callable[[Book], Credential]
        if given is not None:
            token, now = given, service.clock()

            def ask(book: Book) -> Credential:
                return authenticate(book.database, token, now=now)
        elif (uid := peer_of(request)) is not None:
            name = service.policy.listen.peers.get(str(uid))

            def ask(book: Book) -> Credential:
                return _peer(book, uid, name)
        else:
            raise Unauthorised("No credential: send the header 'Authorization: Bearer <token>'.")
        found = await service.store.read(ask)
        request.state.credential = found.name
        return found


def token_of(request: Request) -> str | None:
    """The token in the header; two such headers are an error."""
    given = values_of(request, b"authorization")
    if not given:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    token = token.strip()
    if len(given) > 1 or scheme.lower() != "bearer" or not 0 < len(token) <= _MOST_TOKEN or not token.isascii():
        raise Unauthorised("The Authorization header is not valid: send exactly one, as 'Bearer <token>'.")
    return token


def peer_of(request: Request) -> int | None:
    """The user id of the process at the other end of a Unix socket; None for other connections."""
    uid = request.scope.get("state", {}).get("peer_uid")
    return uid if isinstance(uid, int) else None


def _peer(book: Book, uid: int, name: str | None) -> Credential:
    if name is None:
        raise Unauthorised(
            f"The policy has no credential for user id {uid}: add it under listen.peers, or send a token."
        )
    found = next((one for one in credentials(book.database) if one.name == name and one.revoked_at is None), None)
    if found is None:
        raise Unauthorised(f"The credential {name!r} of user id {uid} does not exist or is revoked.")
    if uid == os.getuid() and found.role != "agent":
        # Every program of the service's own user, agents included, could use it.
        raise Refused(f"User id {uid} is the service's own: it may ask but not decide. Use a token or another user.")
    return found
