"""Answers as JSON: the fields of each one. A field `x_iso` is the time `x` as ISO 8601 text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.responses import JSONResponse, Response

from seasoned.confirm.audit.chain import AuditEntry
from seasoned.confirm.request.request import Request

# Answers contain exact arguments, which no cache may keep.
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_TIMES = ("at", "created_at", "expires_at", "resolved_at", "redeem_before", "redeemed_at", "timestamp")
Answer = dict[str, Any]


def iso(moment: float) -> str:
    """A time as ISO 8601 text in UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def answer(schema: str, values: Mapping[str, Any]) -> Answer:
    """An answer of this kind."""
    return {"schema": schema, **dated(values)}


def dated(values: Mapping[str, Any]) -> Answer:
    """The fields, and each time also as ISO text."""
    moments = {name: values[name] for name in _TIMES if name in values}
    return {**values, **{f"{name}_iso": None if at is None else iso(at) for name, at in moments.items()}}


def request_fields(request: Request) -> Answer:
    """A request with everything that the service shows of it: exact while it is pending, redacted afterwards."""
    values: Answer = msgspec.to_builtins(request)
    return dated({**values, "votes": [dated(vote) for vote in values["votes"]]})


def entry_fields(entry: AuditEntry) -> Answer:
    """One row of the audit, and the present state of the request it is about."""
    return dated(msgspec.to_builtins(entry))


def submitted_answer(request: Request, base_url: str) -> Answer:
    """The answer to a submission."""
    url = f"{base_url}/confirm/{request.id}"
    values = {name: getattr(request, name) for name in ("id", "action", "status", "timeout_seconds", "digest")}
    links = {"approve_url": f"{url}/approve", "deny_url": f"{url}/deny"}
    return answer("seasoned/confirm-submitted/1", {**values, "message": _message(request), **links})


def decided_answer(request: Request) -> Answer:
    """The answer to a decision; still pending if more approvals are needed."""
    names = ("id", "action", "status", "reason", "resolved_by", "resolved_at")
    return answer("seasoned/confirm-decided/1", {name: getattr(request, name) for name in names})


def _message(request: Request) -> str:
    if request.status == "auto_approved":
        return "The allow-list covers this action: redeem it before you act."
    if request.is_resolved:
        return f"This was submitted before and is {request.status}."
    wait = f"GET /confirm/{request.id}?wait=60"
    return f"A person has {request.timeout_seconds:g} seconds to decide; wait with {wait}."


def error_answer(
    status: int, error: str, more: Mapping[str, object] | None = None, *, headers: Mapping[str, str] | None = None
) -> Response:
    """An error as every caller gets it: one sentence, and what belongs to its kind."""
    values = answer("seasoned/error/1", {"error": error, **(more or {})})
    return JSONResponse(values, status, headers={**HEADERS, **(headers or {})})
