"""Reads request bodies up to a limit, decodes them strictly, and names the field that is wrong."""

from __future__ import annotations

import asyncio
import re
from email.message import Message
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from seasoned.confirm.request.request import NewRequest
from seasoned.errors import SeasonedError, UsageError


def values_of(request: Request, name: bytes) -> list[bytes]:
    """All values of a header, in order. The name is given in lower case."""
    return [value for key, value in request.scope["headers"] if key == name]


MOST_BYTES = 1_000_000
_READ_SECONDS = 30.0
# This much of a body that is too long is read and discarded, so that the sender gets to read the answer.
_DISCARDED_BYTES = 8 * MOST_BYTES
_KEY = re.compile(rb"[!-~]{1,200}\Z")
# How msgspec names the place of a mistake, and a field that is missing.
_WHERE = re.compile(r" - at `\$\.?([^`]*)`\Z")
_MISSING = re.compile(r"missing required field `([^`]+)`")
# How the errors of the book begin.
_NAMED = re.compile(
    r"(?:an )?'?(action|description|details|requester|session_key|reason|digest|idempotency key|limit|status)\b"
)
_T = TypeVar("_T")


class FieldError(UsageError):
    """A field of a request is wrong; `field` names it."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field


class TooLarge(SeasonedError):
    """The body is too long."""


class TooSlow(SeasonedError):
    """The body did not arrive in time."""


class SubmitBody(msgspec.Struct, frozen=True):
    """The body of `POST /confirm`."""

    action: str
    description: str
    details: dict[str, Any] | None = None
    requester: str | None = None
    session_key: str | None = None
    timeout_seconds: Any = None


class DecisionBody(msgspec.Struct, frozen=True):
    """The body of approve and deny, which may be left out."""

    reason: str | None = None


class RedeemBody(msgspec.Struct, frozen=True):
    """The body of redeem."""

    digest: str


_submission = msgspec.json.Decoder(SubmitBody)
_verdict = msgspec.json.Decoder(DecisionBody)
_redemption = msgspec.json.Decoder(RedeemBody)


async def read_new_request(request: Request) -> NewRequest:
    """The request in the body, with the idempotency key of the header."""
    key = idempotency_key(request)
    given = _decoded(await _read(request), _submission)
    return NewRequest(
        action=given.action,
        description=given.description,
        details=given.details or {},
        label=given.requester or "",
        session_key=given.session_key or "",
        timeout_seconds=given.timeout_seconds,
        idempotency_key=key,
    )


async def read_reason(request: Request) -> str:
    """The reason for a decision; no body means no reason."""
    content = await _read(request, may_be_empty=True)
    return (_decoded(content, _verdict).reason or "") if content else ""


async def read_digest(request: Request) -> str:
    """The digest of the action that is about to run."""
    return _decoded(await _read(request), _redemption).digest


def idempotency_key(request: Request) -> str | None:
    """The key that makes a repeated submission the same request."""
    given = values_of(request, b"idempotency-key")
    if not given:
        return None
    if len(given) > 1 or not _KEY.match(given[0]):
        raise FieldError("Idempotency-Key", "expected one header with 1 to 200 printable ASCII characters.")
    return given[0].decode("ascii")


def field_of(error: UsageError) -> str | None:
    """The field that an error is about; messages begin with its name."""
    if isinstance(error, FieldError):
        return error.field
    found = _NAMED.match(str(error))
    return found[1] if found else None


def _decoded(content: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        message = str(error)
        if missing := _MISSING.search(message):
            raise FieldError(missing[1], "it is missing.") from error
        where = _WHERE.search(message)
        field = where[1].partition("[")[0] if where else ""
        raise FieldError(field or "body", f"{_WHERE.sub('', message).replace('`', '')}.") from error
    except UnicodeDecodeError as error:
        raise FieldError("body", f"it is not valid UTF-8 ({error.reason}).") from error
    except RecursionError as error:
        raise FieldError("body", "it is nested too deep; flatten it.") from error
    except msgspec.DecodeError as error:
        raise FieldError("body", f"{error}; send one JSON object in UTF-8.") from error


async def _read(request: Request, *, may_be_empty: bool = False) -> bytes:
    if any(length.isdigit() and int(length) > MOST_BYTES for length in values_of(request, b"content-length")):
        await _discard(request)
        raise _too_large()
    parts: list[bytes] = []
    size, is_whole = 0, False
    try:
        async with asyncio.timeout(_READ_SECONDS):
            while not is_whole and size <= MOST_BYTES:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                is_whole = not message.get("more_body")
    except TimeoutError as error:
        raise TooSlow(f"The body did not arrive within {_READ_SECONDS:g} seconds: send it again.") from error
    if size > MOST_BYTES:
        if not is_whole:
            await _discard(request)
        raise _too_large()
    content = b"".join(parts)
    if content or not may_be_empty:
        _check_type(request)
    return content


async def _discard(request: Request) -> None:
    left = _DISCARDED_BYTES
    try:
        async with asyncio.timeout(_READ_SECONDS / 6):
            while left > 0:
                message = await request.receive()
                left -= len(message.get("body", b""))
                if message["type"] != "http.request" or not message.get("more_body"):
                    return
    except (TimeoutError, ClientDisconnect):
        return


def _too_large() -> TooLarge:
    return TooLarge(f"The body has more than {MOST_BYTES:,} bytes: send less, or a reference to the rest.")


def _check_type(request: Request) -> None:
    # The usual case, without parsing.
    if values_of(request, b"content-type") == [b"application/json"] and not values_of(request, b"content-encoding"):
        return
    given = Message()
    given["content-type"] = request.headers.get("content-type", "")
    charset = given.get_param("charset", "utf-8")
    if given.get_content_type() != "application/json" or str(charset).lower() not in ("utf-8", "utf8"):
        raise FieldError("Content-Type", "expected 'application/json', in UTF-8.")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise FieldError("Content-Encoding", "send the body uncompressed.")
