"""How far a turn may go before it is stopped."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of one turn, and of the context of a conversation."""

    steps: int = 50
    """Requests to the model."""
    turn_seconds: float = 1800.0
    output_tokens: int | None = 60_000
    """Tokens that the model may write in one turn."""
    context_tokens: int | None = None
    """The model's window; None means that nobody knows it, and nothing is compressed."""
    compress_at: float = 0.8
    """The share of the window at which the context is compressed."""
    tail: float = 0.25
    """The share of the window that is kept as it was said."""

    @property
    def fullest(self) -> int | None:
        """So many tokens may be sent before the context must be compressed."""
        return None if self.context_tokens is None else int(self.context_tokens * self.compress_at)
