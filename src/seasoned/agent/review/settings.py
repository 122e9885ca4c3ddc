"""What can be set about reviews. Each is a setting `review_…` of the configuration."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.config import Config

_PREFIX = "review_"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """When a review is due, how far it may go, and what it may cost."""

    memory_turns: int = 10
    """Turns of the user after which memory is reviewed; 0 switches it off."""
    skill_calls: int = 10
    """Calls of tools after which skills are reviewed; 0 switches it off."""
    iterations: int = 16
    """Requests to the model in one review."""
    seconds: float = 600.0
    tokens_per_day: int | None = 2_000_000
    """Tokens that all reviews of a day may take, in and out; None is no limit."""
    usd_per_day: float | None = 2.0
    """What they may cost; requests whose price nobody knows count by their tokens alone."""
    staging: bool = False
    """Whether what a review writes waits until a person accepts it."""
    allow_person_skills: bool = False
    """Whether a review may change skills that a person wrote."""
    model: str | None = None
    """Another, cheaper model. It is given a digest, since it could not use the conversation's cached prefix."""


def settings_of(config: Config) -> Settings:
    """The settings of reviews that a configuration holds; the rest are defaults."""
    found: dict[str, Any] = {
        name: getattr(config, _PREFIX + name) for name in Settings.__struct_fields__ if hasattr(config, _PREFIX + name)
    }
    return Settings(**found)
