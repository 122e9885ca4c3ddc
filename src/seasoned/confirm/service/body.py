"""Bodies of requests: the shape of each one, which FastAPI validates."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr
from starlette.requests import Request as HTTPRequest

from seasoned.confirm.incoming import read_body
from seasoned.confirm.request.request import NewRequest
from seasoned.errors import UsageError

_JSON = ("application/json", "application/json;charset=utf-8")
_Passphrase = Annotated[SecretStr, Field(strict=False)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class SubmitBody(_Body):
    """The body of `POST /confirm`. Lengths are checked where the messages are better."""

    action: str
    description: str
    details: dict[str, Any] | None = None
    # A label: the credential says who asks.
    requester: str | None = None
    session_key: str | None = None
    # Clamped to 30 to 3,600; anything but a number means the default.
    timeout_seconds: Any = None

    def new_request(self, idempotency_key: str | None) -> NewRequest:
        """The request that is submitted."""
        return NewRequest(
            action=self.action,
            description=self.description,
            details=self.details or {},
            label=self.requester or "",
            session_key=self.session_key or "",
            timeout_seconds=self.timeout_seconds,
            idempotency_key=idempotency_key,
        )


class DecisionBody(_Body):
    """The body of approve and deny."""

    reason: str | None = None
    passphrase: _Passphrase | None = None


class PhoneBody(_Body):
    """The body that unlocks a phone."""

    passphrase: _Passphrase
    # 12 hours by default, 30 days at most.
    seconds: float | None = None


class RedeemBody(_Body):
    """The body of redeem."""

    # SHA-256 (hex) of the canonical request that is about to be executed.
    digest: str


async def read_json_body(request: HTTPRequest) -> HTTPRequest:
    """The same request with its whole body, which is JSON if there is one."""
    body = await read_body(request)
    kind = request.headers.get("content-type", "").lower().replace(" ", "")
    if body and (kind not in _JSON or "content-encoding" in request.headers):
        raise UsageError("Content-Type: expected 'application/json', in UTF-8 and not compressed.")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return HTTPRequest(request.scope, receive)
