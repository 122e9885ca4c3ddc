"""The values of a confirmation: what is asked, how it stands, who voted, and the grant that comes of it."""

from __future__ import annotations

import math
import secrets
import time
from typing import Any, Literal

import msgspec

Status = Literal["pending", "approved", "denied", "expired", "auto_approved"]
"""`redeemed_at` tells whether an approved one was used."""
APPROVED: tuple[Status, ...] = ("approved", "auto_approved")
BY_TIMEOUT = "system:timeout"
BY_ALLOW_LIST = "system:allow-list"


class NewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a requester hands over. Who it is comes from the credential; `label` is only what it calls itself."""

    action: str
    description: str
    details: dict[str, Any] = {}
    label: str = ""
    session_key: str = ""
    timeout_seconds: Any = None
    """Clamped to 30 to 3,600; anything that is not a number means 300."""
    idempotency_key: str | None = None


class Vote(msgspec.Struct, frozen=True, kw_only=True):
    """What one person said. A vote is never changed or taken back."""

    voter: str
    """Name of the credential."""
    person: str
    approve: bool
    reason: str
    via: str
    """The door it came through: http, page, terminal, telegram, discord, webhook, link."""
    at: float


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request as it stands. Description and details are exact while it is pending, redacted from then on."""

    id: str
    """Made by `new_id`."""
    action: str
    description: str
    details: dict[str, Any]
    requester: str
    """Name of the credential that asked."""
    label: str
    session_key: str
    status: Status
    timeout_seconds: float
    created_at: float
    expires_at: float
    resolved_at: float | None
    resolved_by: str | None
    """Name of the deciding credential, `system:timeout` or `system:allow-list`."""
    reason: str
    digest: str
    """SHA-256 (hex) of the canonical request as it was asked, before anything was redacted."""
    redeem_before: float | None
    """The second clock: an approved request can be redeemed until then."""
    redeemed_at: float | None
    votes: tuple[Vote, ...]
    quorum: int
    """Approvals of different persons that it needs."""
    is_exact: bool
    """Whether description and details are what was asked, to the letter."""
    finding: str = ""
    """While pending: that the details hold what needs another action than the one asked for; empty where not."""

    @property
    def is_resolved(self) -> bool:
        return self.status != "pending"

    @property
    def is_unused(self) -> bool:
        """Approved, and not redeemed: the action has not begun, or never will."""
        return self.status in APPROVED and self.redeemed_at is None

    def is_lapsed(self, now: float) -> bool:
        """Approved, never redeemed, and too late for it."""
        return self.is_unused and self.redeem_before is not None and now >= self.redeem_before


class Submitted(msgspec.Struct, frozen=True):
    """The request that came of a submission; not new where the idempotency key was used before."""

    request: Request
    is_new: bool


class Grant(msgspec.Struct, frozen=True):
    """The right to do one thing once, now: given out when an approved request is redeemed."""

    id: str
    digest: str
    redeemed_at: float


def new_id() -> str:
    """The millisecond in which it was made, then 128 bits by chance; safe in an address and as an argument.

    What is made together lies together in every index: ids by chance alone would touch a page of its own for each.
    """
    return f"{time.time_ns() // 1_000_000:011x}{secrets.token_urlsafe(16)}"


def finite_number(given: object) -> float | None:
    """The number that was given; None for anything that is not a finite one, such as True, "60", NaN or infinity."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    try:
        seconds = float(given)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None
