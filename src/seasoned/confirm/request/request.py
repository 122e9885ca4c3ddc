"""The values of a confirmation: the new request, its state, its votes, and the grant."""

from __future__ import annotations

import math
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import msgspec

from seasoned.command.action import check_action
from seasoned.errors import UsageError

# Far below Python's recursion limit: deep nesting gives a message and no RecursionError.
MOST_DEPTH = 64
MOST_BYTES = 1_000_000
# Most readers of JSON use doubles; beyond this, two integers can become the same one.
_MOST_INTEGER = 2**53 - 1
_encode = msgspec.json.Encoder().encode


def canonical(value: Any, *, field: str) -> bytes:
    """The canonical bytes of a JSON value. UsageError names the part that JSON cannot represent exactly."""
    return _write(value, field, 0).encode()


def request_bytes(asked: NewRequest, requester: str) -> bytes:
    """The canonical bytes of a request. `requester` is the name of the credential that submits it."""
    texts = {"description": asked.description, "session_key": asked.session_key, "requester": requester}
    members = {field: _text(check_text(text, field), field) for field, text in texts.items()}
    if not isinstance(asked.details, dict):
        raise UsageError(f"details must be an object with named arguments, not {type(asked.details).__name__}")
    members |= {"action": _text(check_action(asked.action), "action"), "details": _write(asked.details, "details", 0)}
    written = _object(members, "details").encode()
    if len(written) > MOST_BYTES:
        raise UsageError(f"details and description have {len(written)} bytes; the limit is {MOST_BYTES}")
    return written


def digest_of(written: bytes) -> str:
    """SHA-256 of canonical bytes, in hexadecimal."""
    return sha256(written).hexdigest()


def request_digest(asked: NewRequest, requester: str) -> str:
    """The digest that an approval is bound to. The executor computes it from what it is about to do."""
    return digest_of(request_bytes(asked, requester))


def check_text(text: object, field: str, *, most: int | None = None, least: int = 0) -> str:
    """The text, if every database and reader can hold it. UsageError names the field otherwise."""
    if not isinstance(text, str):
        raise UsageError(f"{field} must be a string, not {type(text).__name__}")
    if len(text.strip()) < least:
        raise UsageError(f"{field} is empty: say what a person needs to know")
    if most is not None and len(text) > most:
        raise UsageError(f"{field} has {len(text)} characters; the limit is {most}")
    if "\0" in text:
        # PostgreSQL cannot store it.
        raise UsageError(f"{field} contains a NUL character: remove it")
    # Only a lone surrogate can fail here, and it is not ASCII.
    if not text.isascii():
        _text(text, field)
    return text


def _write(value: Any, place: str, depth: int) -> str:
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if depth > MOST_DEPTH:
        raise UsageError(f"{place} is nested deeper than {MOST_DEPTH} levels: flatten it")
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, int | float):
        return _number(value, place)
    if isinstance(value, list | tuple):
        return f"[{','.join([_write(inner, f'{place}[{at}]', depth + 1) for at, inner in enumerate(value)])}]"
    if isinstance(value, dict):
        for name in value:
            if not isinstance(name, str):
                raise UsageError(f"{place} has the key {name!r}: keys must be strings")
        return _object({name: _write(inner, f"{place}.{name}", depth + 1) for name, inner in value.items()}, place)
    raise UsageError(f"{place} is a {type(value).__name__}, which JSON does not have: send strings and numbers")


def _object(members: dict[str, str], place: str) -> str:
    # The standard sorts names by their UTF-16 code units, which is not the order of Python's strings.
    names = sorted(members, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return f"{{{','.join([f'{_text(name, place)}:{members[name]}' for name in names])}}}"


def _text(text: str, place: str) -> str:
    try:
        return _encode(text).decode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{place!r} contains a lone surrogate, half of a character: send whole characters") from error


def _number(value: float, place: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{place} is {value!r}, which JSON does not have: send a string, or leave it out")
    # Whole floats too: they are written as integers, and a reader could not be sure of the value.
    if abs(value) > _MOST_INTEGER:
        raise UsageError(f"{place} is beyond 2**53 - 1, which JSON does not keep exactly: send a string")
    return _float(value) if isinstance(value, float) else str(int(value))


def _float(value: float) -> str:
    """As ECMAScript writes it: plain down to 1e-6, with an exponent below."""
    if value == 0:
        return "0"
    if abs(value) >= 1e-4:
        # Python writes the same digits here, except for the `.0` of a whole number.
        return repr(value).removesuffix(".0")
    mantissa, _, exponent = repr(abs(value)).partition("e")
    digits = mantissa.replace(".", "").strip("0")
    # Python uses an exponent for everything below 1e-4, so the first digit comes before the point.
    zeros = -int(exponent) - 1
    sign = "-" if value < 0 else ""
    if zeros < 6:
        return f"{sign}0.{'0' * zeros}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{int(exponent)}"


# `redeemed_at` tells whether an approved one was used.
Status = Literal["pending", "approved", "denied", "expired", "auto_approved"]
APPROVED: tuple[Status, ...] = ("approved", "auto_approved")
# A file in the home folder, locked while a service runs, so that no backup is restored under it.
SERVICE_LOCK = "confirm-service.lock"
BY_TIMEOUT = "system:timeout"
BY_ALLOW_LIST = "system:allow-list"


class NewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a requester submits. The credential says who it is; `label` is only the name it gives itself."""

    action: str
    description: str
    details: dict[str, Any] = {}
    label: str = ""
    session_key: str = ""
    # Clamped to 30 to 3,600; anything that is not a number means the default, 300.
    timeout_seconds: Any = None
    idempotency_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Vote:
    """One person's vote. It is never changed or withdrawn."""

    # Name of the credential.
    voter: str
    person: str
    approve: bool
    reason: str
    # Where it came from: http, page, terminal, telegram, discord, webhook, link.
    via: str
    at: float


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request. Description and details are exact while it is pending, and redacted afterwards."""

    # Made by `new_id`.
    id: str
    action: str
    description: str
    details: dict[str, Any]
    # Name of the credential that asked.
    requester: str
    label: str
    session_key: str
    status: Status
    timeout_seconds: float
    created_at: float
    expires_at: float
    resolved_at: float | None
    # Name of the deciding credential, `system:timeout` or `system:allow-list`.
    resolved_by: str | None
    reason: str
    # SHA-256 (hex) of the canonical request, before anything was redacted.
    digest: str
    # An approved request can be redeemed until then.
    redeem_before: float | None
    redeemed_at: float | None
    votes: tuple[Vote, ...]
    # How many different people must approve.
    quorum: int
    # Whether description and details are exact, not redacted.
    is_exact: bool
    # Approved, and not redeemed (yet).
    is_unused: bool
    # While pending: a warning that the details contain another risky action than the one named; else empty.
    finding: str = ""

    @property
    def is_resolved(self) -> bool:
        return self.status != "pending"

    # The template of the page asks for it.
    def is_lapsed(self, now: float) -> bool:
        """Approved, never redeemed, and too late for it."""
        return self.is_unused and self.redeem_before is not None and now >= self.redeem_before


class Submitted(msgspec.Struct, frozen=True):
    """The request that a submission led to; not new if the idempotency key was used before."""

    request: Request
    is_new: bool


@dataclass(frozen=True)
class Grant:
    """Permission to run one approved action once, given when the request is redeemed."""

    id: str
    digest: str
    redeemed_at: float


def new_id() -> str:
    """The current millisecond, then 128 random bits; safe in a URL and as an argument."""
    # Ordered by time, so that new rows lie together in every index instead of touching a page each.
    return f"{time.time_ns() // 1_000_000:011x}{secrets.token_urlsafe(16)}"


def finite_number(given: object) -> float | None:
    """The given number; None for anything else, such as True, "60", NaN or infinity."""
    # A bool is an int in Python, and is not meant as a number of seconds.
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        seconds = float(given)
    # An integer too large for a float.
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None
