"""Who is asking: a bearer token, or the user id at the other end of the Unix socket; never a name that is only said."""

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
    """Gives the credential of a request; with none there is a 401 before anything else is looked at."""

    def __init__(self) -> None:
        self.model = HTTPBearerModel(description="A token of `seasoned confirm token make`.")
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
            raise Unauthorised("No credential came with this: send the header 'Authorization: Bearer <token>'.")
        found = await service.store.read(ask)
        request.state.credential = found.name
        return found


def token_of(request: Request) -> str | None:
    """The token of the header, and of nowhere else; two headers are as good as a wrong one."""
    given = values_of(request, b"authorization")
    if not given:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    token = token.strip()
    if len(given) > 1 or scheme.lower() != "bearer" or not 0 < len(token) <= _MOST_TOKEN or not token.isascii():
        raise Unauthorised("The header Authorization is not of the form 'Bearer <token>': send one such header.")
    return token


def peer_of(request: Request) -> int | None:
    """The user id of the process at the other end, where the connection is one that tells it."""
    uid = request.scope.get("state", {}).get("peer_uid")
    return uid if isinstance(uid, int) else None


def _peer(book: Book, uid: int, name: str | None) -> Credential:
    if name is None:
        raise Unauthorised(
            f"The policy maps user id {uid} to no credential: add it under listen.peers, or send a token."
        )
    found = next((one for one in credentials(book.database) if one.name == name and one.revoked_at is None), None)
    if found is None:
        raise Unauthorised(f"The credential {name!r} of user id {uid} does not exist or is revoked.")
    if uid == os.getuid() and found.role != "agent":
        # Whatever runs under the service's own user id, agents too, could use it.
        raise Refused(f"User id {uid} is the service's own: it may ask, but not decide. Use a token or another user.")
    return found
