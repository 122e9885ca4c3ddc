"""Settings of reviews, and when a review is due: after a number of turns or tool calls since the last one."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from seasoned.config import Config

_PREFIX = "review_"


class ReviewSettings(msgspec.Struct, frozen=True, kw_only=True):
    """When a review is due, how far it may go, and what it may cost."""

    # Review memory after this many turns of the user; 0 switches it off.
    memory_turns: int = 10
    # Review skills after this many tool calls; 0 switches it off.
    skill_calls: int = 10
    # Requests to the model in one review.
    iterations: int = 16
    seconds: float = 600.0
    # Tokens that all reviews of a day may use, in and out; None means no limit.
    tokens_per_day: int | None = 2_000_000
    # What they may cost; requests with an unknown price count only by their tokens.
    usd_per_day: float | None = 2.0
    # Whether the writes of a review wait until a person accepts them.
    staging: bool = False
    # Whether they wait if the session read web pages; what repeats a result or a page waits in any case.
    stage_pages: bool = True
    # Whether a review may change skills that a person wrote.
    allow_person_skills: bool = False
    # Another, cheaper model than the usual one.
    model: str | None = None


def settings_of(config: Config) -> ReviewSettings:
    """The review settings in a configuration; the rest are defaults."""
    found: dict[str, Any] = {
        name: getattr(config, _PREFIX + name)
        for name in ReviewSettings.__struct_fields__
        if hasattr(config, _PREFIX + name)
    }
    return ReviewSettings(**found)


def has_model(config: Config) -> bool:
    """Whether a model for reviews is configured. A key in the environment alone belongs to the connected agent."""
    return bool(config.review_model or config.model or config.base_url)


Topic = Literal["memory", "skills", "both"]


class ReviewCount(msgspec.Struct, frozen=True):
    """Turns since the last review of memory, and calls since the last review of skills."""

    turns: int = 0
    calls: int = 0

    def after(self, *, calls: int) -> ReviewCount:
        """The count after one more turn."""
        return ReviewCount(self.turns + 1, self.calls + calls)

    def without(self, topic: Topic) -> ReviewCount:
        """The count after a review of this topic has begun."""
        return ReviewCount(0 if topic != "skills" else self.turns, 0 if topic != "memory" else self.calls)


def topic_due(count: ReviewCount, settings: ReviewSettings) -> Topic | None:
    """What should be reviewed now."""
    memory = 0 < settings.memory_turns <= count.turns
    skills = 0 < settings.skill_calls <= count.calls
    if memory and skills:
        return "both"
    return "memory" if memory else "skills" if skills else None
