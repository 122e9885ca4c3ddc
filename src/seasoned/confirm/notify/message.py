"""A message on its way: what it says, about which request, and the id by which a second copy is known."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from seasoned.confirm.notify.wording import Wording


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One notification, the same at every attempt to send it."""

    id: str
    """The id of its row in the outbox: a receiver that saw it before can leave it."""
    event: str
    """submitted, decided or expired."""
    request_id: str
    is_open: bool
    """Whether the request still waits, so that buttons have a use."""
    wording: Wording
    data: dict[str, Any]
    """The request for machines, with secrets as tags."""
    links: dict[str, str] = {}
    """One-time links by person, where the channel is one that may carry them."""


class Sender(Protocol):
    """Something that messages can be given to."""

    is_board: bool
    """It keeps one message a request and edits it; else it is told of every event."""

    def tell(self, message: Message, place: str | None) -> str | None:
        """Deliver, or raise NotSent. The place is where an earlier message about the request stands."""
