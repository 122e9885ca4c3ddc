"""When a review is due: after so many turns of the user, or so many calls of tools, since the last one."""

from __future__ import annotations

from typing import Literal

import msgspec

from seasoned.agent.review.settings import Settings
from seasoned.store import Store

Topic = Literal["memory", "skills", "both"]


class Count(msgspec.Struct, frozen=True):
    """What a conversation has had since its memory, and since its skills were reviewed."""

    turns: int = 0
    calls: int = 0

    def after(self, *, calls: int) -> Count:
        """The count after one more turn."""
        return Count(self.turns + 1, self.calls + calls)

    def without(self, topic: Topic) -> Count:
        """The count after a review of this topic has begun."""
        return Count(0 if topic != "skills" else self.turns, 0 if topic != "memory" else self.calls)


def topic_due(count: Count, settings: Settings) -> Topic | None:
    """What should be reviewed now."""
    memory = 0 < settings.memory_turns <= count.turns
    skills = 0 < settings.skill_calls <= count.calls
    if memory and skills:
        return "both"
    return "memory" if memory else "skills" if skills else None


def load_count(store: Store, lineage_root: str) -> Count:
    """How far a conversation was when it was left."""
    row = store.row("review.count", {"lineage_root": lineage_root})
    return Count() if row is None else Count(row["turns"], row["calls"])


def save_count(store: Store, lineage_root: str, count: Count, *, now: float) -> None:
    """Keep the count, so that a conversation that is taken up again goes on counting."""
    with store.write():
        store.run(
            "review.save_count",
            {"lineage_root": lineage_root, "turns": count.turns, "calls": count.calls, "changed_at": now},
        )
