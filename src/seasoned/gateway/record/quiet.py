"""Notices conversations that went quiet, and has them learned from by a background process."""

from __future__ import annotations

from collections import OrderedDict

from seasoned.learn_queue import begin, note, waiting

# Agents call their model every few seconds; after so long a turn is over, or the agent has gone.
QUIET_SECONDS = 60.0
_MOST = 10_000


class QuietConversations:
    """When each conversation that is not yet learned from was last heard. Used by the recorder's thread only."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._heard: OrderedDict[str, float] = OrderedDict()

    def hear(self, session: str, at: float) -> None:
        """Something was added to a conversation."""
        self._heard[session] = at
        self._heard.move_to_end(session)
        if len(self._heard) > _MOST:
            self._heard.popitem(last=False)

    def look(self, now: float) -> bool:
        """Have those that went quiet learned from; returns whether there were any."""
        found = False
        while self._heard and next(iter(self._heard.values())) <= now - QUIET_SECONDS:
            self._heard.popitem(last=False)
            found = True
        if found:
            # They are in the store already, so no file has to be read.
            note(self._home, "store")
            begin(self._home)
        return found

    def begin(self) -> None:
        """Have learned from what an earlier gateway left."""
        if waiting(self._home):
            begin(self._home)

    def close(self) -> None:
        """Leave a note for the next process that learns: this one is about to end."""
        if self._heard:
            note(self._home, "store")
