"""Answers: the shape of each one, its JSON, and the OpenAPI document that describes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from seasoned.confirm.audit.chain import AuditEntry
from seasoned.confirm.request.request import Grant, Request, Status, Vote
from seasoned.confirm.service.body import DecisionBody, PhoneBody, RedeemBody, SubmitBody

# Answers contain exact arguments, which no cache may keep.
_HEADERS = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
_JSON = "application/json"
_T = TypeVar("_T", bound=msgspec.Struct)
_encode = msgspec.json.Encoder().encode


class ErrorAnswer(msgspec.Struct, tag_field="schema", tag="seasoned/error/1", forbid_unknown_fields=True):
    """Why a request failed; `field` names the wrong field, if there is one."""

    error: str
    field: str | None = None


class ConflictAnswer(msgspec.Struct, tag_field="schema", tag="seasoned/error/1", forbid_unknown_fields=True):
    """The request is already in another state; `status` says which."""

    error: str
    status: str


class TooManyAnswer(msgspec.Struct, tag_field="schema", tag="seasoned/error/1", forbid_unknown_fields=True):
    """A rate limit is reached."""

    error: str
    remaining: int
    window_seconds: float


class ConfirmAnswer(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", forbid_unknown_fields=True):
    """An answer with the name of its schema. A field `x_iso` is the time `x` as ISO 8601 text."""


class SubmittedAnswer(ConfirmAnswer, frozen=True, kw_only=True, tag="seasoned/confirm-submitted/1"):
    """The answer to a submission."""

    id: str
    action: str
    status: Status
    timeout_seconds: float
    message: str
    approve_url: str
    deny_url: str
    digest: str


class DecidedAnswer(ConfirmAnswer, frozen=True, kw_only=True, tag="seasoned/confirm-decided/1"):
    """The answer to a decision; still pending if more approvals are needed."""

    id: str
    action: str
    status: Status
    reason: str
    resolved_by: str | None
    resolved_at: float | None
    resolved_at_iso: str | None


class RedeemedAnswer(
    Grant, frozen=True, kw_only=True, tag_field="schema", tag="seasoned/confirm-redeemed/1", forbid_unknown_fields=True
):
    """The grant: permission to act once, now."""

    redeemed_at_iso: str


class PhoneAnswer(ConfirmAnswer, frozen=True, kw_only=True, tag="seasoned/confirm-phone/1"):
    """How long the phone of a person can decide, and over which channels."""

    name: str
    channels: tuple[str, ...]
    expires_at: float
    expires_at_iso: str


class VoteItem(Vote, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One person's vote."""

    at_iso: str


class RequestItem(Request, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request: exact while it is pending, redacted afterwards."""

    created_at_iso: str
    expires_at_iso: str
    resolved_at_iso: str | None
    redeem_before_iso: str | None
    redeemed_at_iso: str | None
    votes: tuple[VoteItem, ...]
    # Always sent; the warning is empty if there is none.
    finding: str
    is_unused: bool


class RequestAnswer(RequestItem, frozen=True, kw_only=True, tag_field="schema", tag="seasoned/confirm-request/1"):
    """One request as an answer."""


class RequestsAnswer(ConfirmAnswer, frozen=True, kw_only=True, tag="seasoned/confirm-requests/1"):
    """Requests, newest first."""

    count: int
    requests: list[RequestItem]


class AuditItem(AuditEntry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of the audit, and the present state of the request it is about."""

    at_iso: str


class AuditAnswer(ConfirmAnswer, frozen=True, kw_only=True, tag="seasoned/confirm-audit/1"):
    """Entries of the audit, newest first."""

    count: int
    entries: list[AuditItem]


class HealthAnswer(ConfirmAnswer, frozen=True, kw_only=True, tag="seasoned/health/1"):
    """Whether the service works; more for callers with a credential."""

    status: Literal["ok", "failing"]
    pending_count: int | None
    timestamp: float
    timestamp_iso: str
    version: str | UnsetType = UNSET
    database: str | UnsetType = UNSET
    waiting: int | UnsetType = UNSET
    single_operator: str | UnsetType | None = UNSET
    unsent: Annotated[
        list[dict[str, Any]] | UnsetType,
        Meta(description="For admins: the newest notifications that have not arrived, and why."),
    ] = UNSET


def iso(moment: float | None) -> str | None:
    """A time as ISO 8601 text in UTC."""
    if moment is None:
        return None
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@cache
def _shared_fields(kind: type[msgspec.Struct], source: type[msgspec.Struct]) -> tuple[list[str], list[tuple[str, str]]]:
    """The fields that an answer takes from a value, and its ISO fields with the times that they repeat."""
    names = kind.__struct_fields__
    times = [(name, name.removesuffix("_iso")) for name in names if name.endswith("_iso")]
    return [name for name in names if hasattr(source, name)], times


def shown_as(kind: type[_T], source: msgspec.Struct, **more: Any) -> _T:
    """An answer with the fields it shares with a value, each time also as ISO text, and those given by name."""
    shared, times = _shared_fields(kind, type(source))
    values = {name: getattr(source, name) for name in shared}
    values |= more
    for name, time in times:
        values[name] = iso(values[time])
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


def encode_request(request: Request) -> bytes:
    """One request as JSON."""
    return _encode(show_request(RequestAnswer, request))


class _JsonResponse(Response):
    """JSON with the headers that every answer has."""

    def init_headers(self, headers: Mapping[str, str] | None = None) -> None:
        more = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()]
        self.raw_headers = [*_HEADERS, (b"content-length", b"%d" % len(self.body)), *more]


def as_json(answer: msgspec.Struct | bytes, *, status: int = 200) -> Response:
    """An answer, or one that is already encoded, as an HTTP response."""
    return _JsonResponse(answer if isinstance(answer, bytes) else _encode(answer), status)


def say(
    name: str, values: Mapping[str, Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer without a shape here, with the name of its schema."""
    return _JsonResponse(_encode({"schema": f"seasoned/{name}/1", **values}), status, headers)


# The OpenAPI document

_ERRORS: dict[int, str] = {
    400: "A field is wrong; `field` names it.",
    401: "No valid credential.",
    403: "The credential does not allow this.",
    404: "No such request, or it belongs to another requester.",
    408: "The body did not arrive in time.",
    413: "The body has more than 1,000,000 bytes.",
    503: "The store cannot be used at the moment.",
}
CONFLICT = (ConflictAnswer, "Already resolved, redeemed or too late; `status` says which.")
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key gives the same request, however often it is submitted.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_DESCRIBED = (ErrorAnswer, ConflictAnswer, TooManyAnswer, SubmittedAnswer, DecidedAnswer, RedeemedAnswer, PhoneAnswer,
              RequestAnswer, RequestsAnswer, AuditAnswer, HealthAnswer, SubmitBody, DecisionBody, PhoneBody,
              RedeemBody)  # fmt: skip


def answers(**described: tuple[type, str]) -> dict[int | str, dict[str, Any]]:
    """The answers of one route, as `on_200=(shape, description)`."""
    return {
        int(name.removeprefix("on_")): {"description": description, "content": _content(shape)}
        for name, (shape, description) in described.items()
    }


def takes(shape: type, *, required: bool = True, **more: Any) -> dict[str, Any]:
    """The body of one route, for its `openapi_extra`."""
    return {"requestBody": {"required": required, "content": _content(shape)}, **more}


def _content(shape: type) -> dict[str, Any]:
    return {_JSON: {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}}}


# Every route with a credential may give these.
ERROR_ANSWERS = answers(**{f"on_{status}": (ErrorAnswer, said) for status, said in _ERRORS.items()})


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document. Wrong parameters give 400 here, so FastAPI's 422 is removed."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        for path in made["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
                done = operation["responses"].get("200", {}).get("content", {})
                if len(done) > 1:
                    # FastAPI adds JSON to answers that are declared as something else.
                    done.pop(_JSON, None)
        schemas = made.setdefault("components", {}).setdefault("schemas", {})
        for name in ("HTTPValidationError", "ValidationError"):
            schemas.pop(name, None)
        schemas |= msgspec.json.schema_components(_DESCRIBED, ref_template="#/components/schemas/{name}")[1]
        app.openapi_schema = made
    return app.openapi_schema
