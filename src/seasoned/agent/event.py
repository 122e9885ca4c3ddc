"""What happens in a turn, told as it happens, and how the turn ended."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from seasoned.outcome.verdict import Verdict
from seasoned.session import SessionRef, Usage

Stop = Literal["interrupted", "steps", "time", "tokens", "error"]


class Said(msgspec.Struct, frozen=True, tag=True):
    """A piece of the agent's words."""

    text: str


class Thought(msgspec.Struct, frozen=True, tag=True):
    """A piece of what the model thinks before it speaks."""

    text: str


class Calling(msgspec.Struct, frozen=True, tag=True):
    """A call begins."""

    call_id: str
    tool: str
    arguments: dict[str, Any]


class Called(msgspec.Struct, frozen=True, tag=True):
    """A call has ended, and was judged."""

    call_id: str
    tool: str
    arguments: dict[str, Any]
    result: str
    verdict: Verdict
    seconds: float


class Compressed(msgspec.Struct, frozen=True, tag=True):
    """The context was nearly full: a child session goes on with a summary."""

    parent: SessionRef
    child: SessionRef
    kept_messages: int


Event = Said | Thought | Calling | Called | Compressed


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn: what was answered, what it took, and why it stopped where it did not end by itself."""

    text: str
    usage: Usage
    cost_usd: float | None
    requests: int
    calls: int
    failed: int
    seconds: float
    first_token_seconds: float | None = None
    stopped: Stop | None = None
    reason: str | None = None
    """What stopped it, in a sentence that says what to do."""
    notes: tuple[str, ...] = ()
    """What the user should know beside it: that nothing is being recorded, for one."""
