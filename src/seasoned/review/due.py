"""Settings of reviews, who reviews, and when a review is due: after so many turns or tool calls since the last one."""

from __future__ import annotations

import time
from typing import Any, Literal

import msgspec

from seasoned.config import Config
from seasoned.errors import UsageError
from seasoned.price import token_prices
from seasoned.runner.agent import AGENT_PROGRAMS
from seasoned.runner.run import MODEL
from seasoned.text import dollars

SAME, OFF = "same", "off"
_PREFIX = "review_"
_DAY_SECONDS = 86_400
# Of the tokens of a review, those that it answers with.
_ANSWER_SHARE = 0.1


# What the setting calls the kinds of changes.
_KINDS = {"memory": "note", "skill": "skill"}


class ReviewSettings(msgspec.Struct, frozen=True, kw_only=True):
    """When a review is due, how far it may go, and what it may cost."""

    # Review after this many turns of the user; 0 switches it off.
    memory_turns: int = 10
    # Review after this many tool calls; 0 switches it off.
    skill_calls: int = 10
    seconds: float = 600.0
    per_day: int = 5
    # Tokens that all reviews of a day may use, in and out; None means no limit.
    tokens_per_day: int | None = 20_000
    # What they may cost; requests with an unknown price count only by their tokens.
    usd_per_day: float | None = 2.0
    # Whether its writes wait if the session read web pages; what repeats a result or a page waits in any case.
    stage_pages: bool = True
    # The kinds that wait until a person accepts them.
    staged: tuple[Literal["memory", "skill"], ...] = ()


def settings_of(config: Config) -> ReviewSettings:
    """The review settings in a configuration; the rest are defaults."""
    names = [name for name in ReviewSettings.__struct_fields__ if name != "staged"]
    found: dict[str, Any] = {name: getattr(config, _PREFIX + name) for name in names}
    found["staged"] = tuple(kind for kind, name in _KINDS.items() if name not in config.inbox_accepts)
    return ReviewSettings(**found)


class Reviewer(msgspec.Struct, frozen=True):
    """Who reviews: an agent by its name, or `model` for a model API."""

    agent: str
    model: str | None = None


def reviewer_of(config: Config, agent: str) -> Reviewer | None:
    """Who reviews the sessions of an agent: itself, unless the settings name another one; None if no one does."""
    chosen = config.review_agent
    if chosen is None:
        # A key in the environment alone belongs to the connected agent.
        chosen = MODEL if config.review_model or config.model or config.base_url else SAME
    if chosen == OFF or (chosen == SAME and agent not in AGENT_PROGRAMS):
        return None
    name = agent if chosen == SAME else chosen
    if name == MODEL:
        return Reviewer(MODEL, config.review_model)
    if name not in AGENT_PROGRAMS:
        known = ", ".join((SAME, OFF, MODEL, *AGENT_PROGRAMS))
        raise UsageError(f"review_agent is {chosen!r}, which is not known. Use one of {known}.")
    return Reviewer(name, config.review_model or AGENT_PROGRAMS[name].small_model)


def day_of_reviews(config: Config, agent: str) -> str:
    """What reviews of an agent's sessions do and cost at most in a day, in one sentence."""
    reviewer, settings = reviewer_of(config, agent), settings_of(config)
    if reviewer is None:
        return "Its sessions are not reviewed."
    who = "A model" if reviewer.agent == MODEL else AGENT_PROGRAMS[reviewer.agent].title
    tokens = settings.tokens_per_day
    limit = f"{settings.per_day} times" if tokens is None else f"{settings.per_day} times and {tokens:,} tokens"
    prices = token_prices(reviewer.agent, reviewer.model or "", day=int(time.time() / _DAY_SECONDS), is_long=False)
    price = "at its own price or quota"
    if prices is not None and tokens is not None:
        most = tokens * ((1 - _ANSWER_SHARE) * prices.input + _ANSWER_SHARE * prices.output)
        price = f"about {dollars(most)}"
    named = f" with {reviewer.model}" if reviewer.model else ""
    return f"{who} looks back on finished sessions{named}: at most {limit} a day, {price}."


class ReviewCount(msgspec.Struct, frozen=True):
    """Turns and calls since the last review."""

    turns: int = 0
    calls: int = 0


def is_due(count: ReviewCount, settings: ReviewSettings) -> bool:
    """Whether a review should begin now."""
    return 0 < settings.memory_turns <= count.turns or 0 < settings.skill_calls <= count.calls
