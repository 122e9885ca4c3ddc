"""Answers: the shape of each one. A field `x_iso` is the time `x` as ISO 8601 text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal, NotRequired, TypeVar

from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from seasoned.confirm.audit.chain import AuditEntry
from seasoned.confirm.request.request import Grant, Request, Status, Vote

# Answers contain exact arguments, which no cache may keep.
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_T = TypeVar("_T")


class ErrorAnswer(TypedDict):
    """Why a request failed: one sentence, and what belongs to its kind."""

    schema: Literal["seasoned/error/1"]
    error: str
    # 400: the field that is wrong, if it is one.
    field: NotRequired[str | None]
    # 409: the status that the request already has.
    status: NotRequired[str]
    # 429: the limit that was reached.
    remaining: NotRequired[int]
    window_seconds: NotRequired[float]


@dataclass(frozen=True, kw_only=True)
class SubmittedAnswer:
    """The answer to a submission."""

    schema: str = "seasoned/confirm-submitted/1"
    id: str
    action: str
    status: Status
    timeout_seconds: float
    message: str
    approve_url: str
    deny_url: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class DecidedAnswer:
    """The answer to a decision; still pending if more approvals are needed."""

    schema: str = "seasoned/confirm-decided/1"
    id: str
    action: str
    status: Status
    reason: str
    resolved_by: str | None
    resolved_at: float | None
    resolved_at_iso: str | None


@dataclass(frozen=True, kw_only=True)
class RedeemedAnswer(Grant):
    """The grant: permission to act once, now."""

    schema: str = "seasoned/confirm-redeemed/1"
    redeemed_at_iso: str


@dataclass(frozen=True, kw_only=True)
class PhoneAnswer:
    """How long the phone of a person can decide, and over which channels."""

    schema: str = "seasoned/confirm-phone/1"
    name: str
    channels: tuple[str, ...]
    expires_at: float
    expires_at_iso: str


@dataclass(frozen=True, kw_only=True)
class VoteItem(Vote):
    """One person's vote."""

    at_iso: str


@dataclass(frozen=True, kw_only=True)
class RequestItem(Request):
    """One request: exact while it is pending, redacted afterwards."""

    created_at_iso: str
    expires_at_iso: str
    resolved_at_iso: str | None
    redeem_before_iso: str | None
    redeemed_at_iso: str | None
    votes: tuple[VoteItem, ...]


@dataclass(frozen=True, kw_only=True)
class RequestAnswer(RequestItem):
    """One request as an answer."""

    schema: str = "seasoned/confirm-request/1"


@dataclass(frozen=True, kw_only=True)
class RequestsAnswer:
    """Requests, newest first."""

    schema: str = "seasoned/confirm-requests/1"
    count: int
    requests: list[RequestItem]


@dataclass(frozen=True, kw_only=True)
class AuditItem(AuditEntry):
    """One row of the audit, and the present state of the request it is about."""

    at_iso: str


@dataclass(frozen=True, kw_only=True)
class AuditAnswer:
    """Entries of the audit, newest first."""

    schema: str = "seasoned/confirm-audit/1"
    count: int
    entries: list[AuditItem]


class HealthAnswer(TypedDict):
    """Whether the service works."""

    schema: Literal["seasoned/health/1"]
    status: Literal["ok", "failing"]
    pending_count: int | None
    timestamp: float
    timestamp_iso: str
    # For admins: the newest notifications that have not arrived, and why.
    unsent: NotRequired[list[dict[str, Any]]]


def iso(moment: float) -> str:
    """A time as ISO 8601 text in UTC."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def shown_as(kind: type[_T], source: object, **more: Any) -> _T:
    """An answer with the fields it shares with a value, each time also as ISO text, and those given by name."""
    names = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    values = {name: getattr(source, name) for name in names if hasattr(source, name)} | more
    for name in names:
        if name.endswith("_iso"):
            moment = values[name.removesuffix("_iso")]
            values[name] = None if moment is None else iso(moment)
    return kind(**values)


def show_request(kind: type[_T], request: Request) -> _T:
    """A request with everything that the service shows of it."""
    return shown_as(kind, request, votes=tuple(shown_as(VoteItem, vote) for vote in request.votes))


def show_submitted(request: Request, base_url: str) -> SubmittedAnswer:
    """The answer to a submission."""
    url = f"{base_url}/confirm/{request.id}"
    return shown_as(
        SubmittedAnswer, request, message=_message(request), approve_url=f"{url}/approve", deny_url=f"{url}/deny"
    )


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
    """An error as every caller gets it."""
    values = {"schema": "seasoned/error/1", "error": error, **(more or {})}
    return JSONResponse(values, status, headers={**HEADERS, **(headers or {})})
