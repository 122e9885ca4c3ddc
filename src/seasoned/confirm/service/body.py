"""Bodies of requests: read up to a limit, and decoded strictly."""

from __future__ import annotations

import asyncio
import re
from email.message import Message
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HTTPRequest

from seasoned.confirm.request.request import NewRequest
from seasoned.errors import SeasonedError, UsageError


def values_of(request: HTTPRequest, name: bytes) -> list[bytes]:
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


# The limits in `extra_json_schema` are documented here and checked later, where the messages are better.
_Passphrase = Annotated[str, Meta(description="The passphrase of the credential: a token alone decides nothing.")]


class SubmitBody(msgspec.Struct, frozen=True):
    """The body of `POST /confirm`."""

    action: Annotated[
        str,
        Meta(
            description="The action, such as `deploy_production`.",
            extra_json_schema={"minLength": 1, "maxLength": 64},
        ),
    ]
    description: Annotated[
        str, Meta(description="What it does, as a sentence for a person.", extra_json_schema={"minLength": 1})
    ]
    details: Annotated[dict[str, Any] | None, Meta(description="The exact arguments.")] = None
    requester: Annotated[str | None, Meta(description="A label; the credential says who asks.")] = None
    session_key: Annotated[str | None, Meta(description="The session that asks.")] = None
    timeout_seconds: Annotated[
        Any, Meta(description="Clamped to 30 to 3,600; anything but a number means the default, 300.")
    ] = None


class DecisionBody(msgspec.Struct, frozen=True):
    """The body of approve and deny."""

    reason: Annotated[str | None, Meta(description="Kept and shown.")] = None
    passphrase: _Passphrase | None = None

    def __repr__(self) -> str:
        return f"DecisionBody({self.reason!r}, …)"


class PhoneBody(msgspec.Struct, frozen=True):
    """The body that unlocks a phone."""

    passphrase: _Passphrase
    seconds: Annotated[float | None, Meta(description="For how long; 12 hours by default, 30 days at most.")] = None

    def __repr__(self) -> str:
        return f"PhoneBody(…, {self.seconds!r})"


class RedeemBody(msgspec.Struct, frozen=True):
    """The body of redeem."""

    digest: Annotated[str, Meta(description="SHA-256 (hex) of the canonical request that is about to be executed.")]


_submission = msgspec.json.Decoder(SubmitBody)
_decision = msgspec.json.Decoder(DecisionBody)


async def read_new_request(request: HTTPRequest) -> NewRequest:
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


async def read_decision(request: HTTPRequest) -> DecisionBody:
    """The reason for a decision, and the passphrase; no body means neither."""
    content = await _read(request, may_be_empty=True)
    return _decoded(content, _decision) if content else DecisionBody()


async def read_json(request: HTTPRequest, decoder: msgspec.json.Decoder[_T]) -> _T:
    """The body of a request, decoded strictly."""
    return _decoded(await _read(request), decoder)


def idempotency_key(request: HTTPRequest) -> str | None:
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


async def _read(request: HTTPRequest, *, may_be_empty: bool = False) -> bytes:
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


async def _discard(request: HTTPRequest) -> None:
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


def _check_type(request: HTTPRequest) -> None:
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
