"""Where turns are missing in a conversation: the gateway accounted for them, but their recording was lost."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from seasoned.history.reader.seasoned_db import NAME
from seasoned.session import Session
from seasoned.store import Database

_MOST = 1000


class Gap(msgspec.Struct, frozen=True):
    """Turns that were lost between two messages."""

    turns: int
    first_at: float
    last_at: float


def lost_turns(database: Database, session: str) -> list[float]:
    """When turns of a session went through the gateway of which nothing was written down, the oldest first."""
    return [float(row["at"]) for row in database.rows("gateway.lost_turns", {"session": session, "limit": _MOST})]


def is_recorded_here(found: Session | str) -> bool:
    """Whether the conversation is what the gateway wrote down. A file of the agent itself has all of it."""
    return isinstance(found, Session) and found.format == NAME


def find_gaps(session: Session, lost: Sequence[float]) -> dict[int, Gap]:
    """The gaps by the index of the message that each stands before; at the end that is how many messages there are."""
    times: list[float] = []
    for message in session.messages:
        # A clock may have been set back, and some say no time; both stay where they were written.
        before = times[-1] if times else 0.0
        times.append(max(before, message.time or before))
    found: dict[int, Gap] = {}
    for at in lost:
        index = _next_shown(session, bisect_right(times, at))
        known = found.get(index)
        found[index] = Gap(1, at, at) if known is None else Gap(known.turns + 1, known.first_at, at)
    return found


def _next_shown(session: Session, index: int) -> int:
    """Results stand with their calls, so nothing is shown before them."""
    while index < len(session.messages):
        message = session.messages[index]
        if message.role != "tool" or message.answers is None:
            break
        index += 1
    return index
