"""Headers as they came: every request has several looked at, and each look through a mapping of texts would cost."""

from __future__ import annotations

from starlette.requests import Request


def values_of(request: Request, name: bytes) -> list[bytes]:
    """Every value of a header, whose name is given in small letters, in the order in which they came."""
    return [value for key, value in request.scope["headers"] if key == name]
