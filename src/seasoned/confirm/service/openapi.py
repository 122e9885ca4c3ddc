"""Shapes of bodies and answers for the OpenAPI document. `body.py` builds the answers; tests compare the two."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field

Status = Literal["pending", "approved", "denied", "expired", "auto_approved"]


class _Answer(BaseModel):
    # So that the tests notice a field that is not described.
    model_config = ConfigDict(extra="forbid")


class Problem(_Answer):
    """Why a request failed; `field` names the wrong field, if it is one."""

    schema_: Literal["seasoned/error/1"] = Field(alias="schema")
    error: str
    field: str | None = Field(default=None)


class ConflictAnswer(_Answer):
    """The request is in another state already; `status` says which."""

    schema_: Literal["seasoned/error/1"] = Field(alias="schema")
    error: str
    status: str


class TooManyAnswer(_Answer):
    """A rate limit is reached."""

    schema_: Literal["seasoned/error/1"] = Field(alias="schema")
    error: str
    remaining: int
    window_seconds: float


class SubmittedAnswer(_Answer):
    """The answer to a submission."""

    schema_: Literal["seasoned/confirm-submitted/1"] = Field(alias="schema")
    id: str
    action: str
    status: Status
    timeout_seconds: float
    message: str
    approve_url: str
    deny_url: str
    digest: str


class DecidedAnswer(_Answer):
    """The answer to a decision; still pending if more approvals are needed."""

    schema_: Literal["seasoned/confirm-decided/1"] = Field(alias="schema")
    id: str
    action: str
    status: Status
    reason: str
    resolved_by: str | None
    resolved_at: float | None
    resolved_at_iso: str | None


class RedeemedAnswer(_Answer):
    """The grant: permission to act once, now."""

    schema_: Literal["seasoned/confirm-redeemed/1"] = Field(alias="schema")
    id: str
    digest: str
    redeemed_at: float
    redeemed_at_iso: str


class PhoneAnswer(_Answer):
    """Until when the phone of a person decides, and over which channels."""

    schema_: Literal["seasoned/confirm-phone/1"] = Field(alias="schema")
    name: str
    channels: list[str]
    expires_at: float
    expires_at_iso: str


class VoteShown(_Answer):
    """One person's vote."""

    voter: str
    person: str
    approve: bool
    reason: str
    via: str
    at: float
    at_iso: str


class RequestShown(_Answer):
    """One request: exact while it is pending, redacted afterwards."""

    id: str
    action: str
    description: str
    details: dict[str, Any]
    requester: str
    label: str
    session_key: str
    status: Status
    timeout_seconds: float
    created_at: float
    created_at_iso: str
    expires_at: float
    expires_at_iso: str
    resolved_at: float | None
    resolved_at_iso: str | None
    resolved_by: str | None
    reason: str
    digest: str
    redeem_before: float | None
    redeem_before_iso: str | None
    redeemed_at: float | None
    redeemed_at_iso: str | None
    votes: list[VoteShown]
    quorum: int
    is_exact: bool
    finding: str = Field(description="While pending: a warning that the details contain another risky action.")
    is_unused: bool


class RequestAnswer(RequestShown):
    """One request as an answer."""

    schema_: Literal["seasoned/confirm-request/1"] = Field(alias="schema")


class RequestsAnswer(_Answer):
    """Requests, newest first."""

    schema_: Literal["seasoned/confirm-requests/1"] = Field(alias="schema")
    count: int
    requests: list[RequestShown]


class AuditAnswer(_Answer):
    """Entries of the audit, newest first."""

    schema_: Literal["seasoned/confirm-audit/1"] = Field(alias="schema")
    count: int
    entries: list[dict[str, Any]]


class HealthAnswer(_Answer):
    """Whether the service works; more for callers with a credential."""

    schema_: Literal["seasoned/health/1"] = Field(alias="schema")
    status: Literal["ok", "failing"]
    pending_count: int | None
    timestamp: float
    timestamp_iso: str
    version: str | None = None
    database: str | None = None
    waiting: int | None = None
    single_operator: str | None = None
    unsent: list[dict[str, Any]] | None = Field(
        None, description="For admins: the newest notifications that have not arrived, and why."
    )
    export: dict[str, Any] | None = Field(
        None, description="For admins: where the head of the audit is exported, the last success, and the last error."
    )


_WORDS: dict[int, str] = {
    400: "A field is wrong; `field` names it.",
    401: "No valid credential.",
    403: "The credential does not allow this.",
    404: "No such request, or it belongs to another requester.",
    408: "The body did not arrive in time.",
    413: "The body has more than 1,000,000 bytes.",
    503: "The store cannot be used at the moment.",
}
_JSON = "application/json"


def answers(*statuses: int, **models: Any) -> dict[int | str, dict[str, Any]]:
    """The answers of one route: errors by status, others as `on_200=(model, description)`."""
    found: dict[int | str, dict[str, Any]] = {
        status: {"model": Problem, "description": _WORDS[status]} for status in (*statuses, 401, 503)
    }
    for name, (model, words) in models.items():
        found[int(name.removeprefix("on_"))] = {"model": model, "description": words}
    return found


CONFLICT = (ConflictAnswer, "Already resolved, redeemed or too late; `status` says which.")


def _body(schema: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": {_JSON: {"schema": schema}}}}


def _text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": words, **more}


SUBMISSION = _body(
    {
        "type": "object",
        "required": ["action", "description"],
        "properties": {
            "action": _text("The action, such as `deploy_production`.", minLength=1, maxLength=64),
            "description": _text("What it does, as a sentence for a person.", minLength=1),
            "details": {"type": ["object", "null"], "description": "The exact arguments."},
            "requester": _text("A label; the credential says who asks.", type=["string", "null"]),
            "session_key": _text("The session that asks.", type=["string", "null"]),
            "timeout_seconds": {
                "description": "Clamped to 30 to 3,600; anything but a number means the default, 300.",
                "default": 300,
            },
        },
    }
)
_PASSPHRASE = "The passphrase of the credential: a token alone decides nothing."
VERDICT = _body(
    {
        "type": "object",
        "properties": {
            "reason": _text("Kept and shown.", type=["string", "null"]),
            "passphrase": _text(_PASSPHRASE, type=["string", "null"]),
        },
    },
    required=False,
)
PHONE = _body(
    {
        "type": "object",
        "required": ["passphrase"],
        "properties": {
            "passphrase": _text(_PASSPHRASE),
            "seconds": {
                "type": ["number", "null"],
                "description": "For how long; 12 hours by default, 30 days at most.",
            },
        },
    }
)
REDEMPTION = _body(
    {
        "type": "object",
        "required": ["digest"],
        "properties": {"digest": _text("SHA-256 (hex) of the canonical request that is about to be executed.")},
    }
)
EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {"event": {"const": "status"}, "data": _text("The request, in JSON as elsewhere.")},
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key gives the same request, however often it is submitted.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}


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
        for name in ("HTTPValidationError", "ValidationError"):
            made.get("components", {}).get("schemas", {}).pop(name, None)
        app.openapi_schema = made
    return app.openapi_schema
