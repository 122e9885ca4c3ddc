"""The redactor of a running server, made once: pages show files that no part of Seasoned wrote."""

from __future__ import annotations

from starlette.requests import Request

from seasoned.confirm.service.service import service_of
from seasoned.redact import Redactor


def redactor_of(request: Request) -> Redactor:
    """What takes secrets out of whatever is shown."""
    state = request.app.state
    if not hasattr(state, "redactor"):
        state.redactor = service_of(request).secrecy.redactor()
    found: Redactor = state.redactor
    return found
