"""The values of a confirmation: the new request, its state, its votes, and the grant."""

from __future__ import annotations

import math
import secrets
import time
from typing import Any, Literal

import msgspec

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


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """One person's vote. It is never changed or withdrawn."""

    # Name of the credential.
    voter: str
    person: str
    approve: bool
    reason: str
    # Where it came from: http, page, terminal, telegram, discord, webhook, link.
    via: str
    at: float


class Request(msgspec.Struct, frozen=True, kw_only=True):
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
    # While pending: a warning that the details contain another risky action than the one named; else empty.
    finding: str = ""

    @property
    def is_resolved(self) -> bool:
        return self.status != "pending"

    @property
    def is_unused(self) -> bool:
        """Approved, and not redeemed (yet)."""
        return self.status in APPROVED and self.redeemed_at is None

    # The template of the page asks for it.
    def is_lapsed(self, now: float) -> bool:
        """Approved, never redeemed, and too late for it."""
        return self.is_unused and self.redeem_before is not None and now >= self.redeem_before


class Submitted(msgspec.Struct, frozen=True):
    """The request that a submission led to; not new if the idempotency key was used before."""

    request: Request
    is_new: bool


class Grant(msgspec.Struct, frozen=True):
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
