"""JSON answers of the service: each names its schema, and has times also as ISO text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.responses import Response

from seasoned.confirm.request.request import Grant, Request

# Answers contain exact arguments, which no cache may keep.
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
_encode = msgspec.json.Encoder().encode


def iso(moment: float | None) -> str | None:
    """A time as ISO 8601 text in UTC."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def say(
    name: str, values: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer with the name of its schema."""
    return as_json(_encode({"schema": f"seasoned/{name}/1", **values}), status=status, headers=headers)


def as_json(content: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON answer that is already encoded."""
    return _JsonResponse(content, status, headers)


class _JsonResponse(Response):
    """JSON with the headers that every answer has."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        more = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
        self.raw_headers = [*_HEADERS, (b"content-length", b"%d" % len(self.body)), *more]


def submitted(request: Request, base_url: str) -> dict[str, Any]:
    """The answer to a submission."""
    url = f"{base_url}/confirm/{request.id}"
    return {
        "id": request.id,
        "action": request.action,
        "status": request.status,
        "timeout_seconds": request.timeout_seconds,
        "message": _message(request),
        "approve_url": f"{url}/approve",
        "deny_url": f"{url}/deny",
        "digest": request.digest,
    }


def _message(request: Request) -> str:
    if request.status == "auto_approved":
        return "The allow-list covers this action: redeem it before you act."
    if request.is_resolved:
        return f"This was submitted before and is {request.status}."
    wait = f"GET /confirm/{request.id}?wait=60"
    return f"A person has {request.timeout_seconds:g} seconds to decide; wait with {wait}."


def decided(request: Request) -> dict[str, Any]:
    """The answer to a decision."""
    return {
        "id": request.id,
        "action": request.action,
        "status": request.status,
        "resolved_by": request.resolved_by,
        "resolved_at": request.resolved_at,
        "resolved_at_iso": iso(request.resolved_at),
    }


def redeemed(grant: Grant) -> dict[str, Any]:
    """The answer to a redemption: permission to act once."""
    return {**msgspec.structs.asdict(grant), "redeemed_at_iso": iso(grant.redeemed_at)}


def shown(request: Request) -> dict[str, Any]:
    """A request with everything that the service shows of it."""
    values = with_iso(msgspec.structs.asdict(request))
    values["votes"] = [with_iso(msgspec.structs.asdict(vote)) for vote in request.votes]
    values["is_unused"] = request.is_unused
    return values


# The last request that was encoded: when many clients wait for one, all get the same bytes.
_written: dict[str, tuple[Request, bytes]] = {}


def look_of(request: Request) -> bytes:
    """One request as a JSON answer."""
    known, content = _written.get("last", (None, b""))
    if known is not request:
        content = _encode({"schema": "seasoned/confirm-request/1", **shown(request)})
        _written["last"] = (request, content)
    return content


def with_iso(values: dict[str, Any]) -> dict[str, Any]:
    """The values, with every time also as ISO text."""
    return values | {f"{name}_iso": iso(values[name]) for name in _TIMES if name in values}


_TIMES = ("created_at", "expires_at", "resolved_at", "redeem_before", "redeemed_at", "at")


def event(request: Request) -> bytes:
    """One server-sent event with the request as it is now."""
    return b"event: status\ndata: " + look_of(request) + b"\n\n"
