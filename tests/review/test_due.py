"""Who reviews, and when a review is due."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.config import Config, load
from seasoned.errors import UsageError
from seasoned.review.due import ReviewCount, Reviewer, ReviewSettings, day_of_reviews, is_due, reviewer_of, settings_of
from tests.each_case import each_case

HOME = Path("/nowhere")


@given(st.lists(st.integers(0, 8), max_size=200), st.integers(0, 12), st.integers(0, 12))
def test_so_many_turns_or_calls_are_due_and_each_counts_towards_one_review(
    calls: list[int], memory_turns: int, skill_calls: int
) -> None:
    settings = ReviewSettings(memory_turns=memory_turns, skill_calls=skill_calls)
    count, reviews = ReviewCount(), 0
    for number in calls:
        count = ReviewCount(count.turns + 1, count.calls + number)
        if is_due(count, settings):
            assert count.turns >= memory_turns > 0 or count.calls >= skill_calls > 0
            count, reviews = ReviewCount(), reviews + 1
    turns = len(calls) // memory_turns if memory_turns else 0
    assert reviews <= turns + (sum(calls) // skill_calls if skill_calls else 0)
    assert reviews >= (turns if not skill_calls else 0)


@each_case(
    ("settings", "agent", "reviewer"),
    [
        ({}, "claude-code", Reviewer("claude-code", "haiku")),
        ({}, "codex", Reviewer("codex")),
        ({}, "cursor", None),
        ({"review_agent": "off"}, "codex", None),
        ({"review_agent": "gemini"}, "cursor", Reviewer("gemini", "flash-lite")),
        ({"review_agent": "same", "review_model": "opus"}, "claude-code", Reviewer("claude-code", "opus")),
        ({"review_model": "openai:gpt-5.4-mini"}, "codex", Reviewer("model", "openai:gpt-5.4-mini")),
        ({"base_url": "http://127.0.0.1:1"}, "codex", Reviewer("model")),
        ({"review_agent": "same", "base_url": "http://127.0.0.1:1"}, "codex", Reviewer("codex")),
    ],
)
def test_the_agent_of_the_session_reviews_it_unless_the_settings_say_otherwise(
    settings: dict[str, Any], agent: str, reviewer: Reviewer | None
) -> None:
    assert reviewer_of(Config(home=HOME, **settings), agent) == reviewer


def test_a_reviewer_that_is_not_known_is_named_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"'clippy', which is not known\. Use one of same, off, model, claude-code"):
        reviewer_of(Config(home=HOME, review_agent="clippy"), "codex")


def test_a_day_of_reviews_is_told_with_its_limits_and_its_price() -> None:
    said = day_of_reviews(Config(home=HOME, review_agent="same", review_model="claude-haiku-4-5"), "claude-code")
    assert said.startswith(
        "Claude Code looks back on finished sessions with claude-haiku-4-5: at most 5 times and 20,000"
    )
    assert "about $0.0" in said
    assert day_of_reviews(Config(home=HOME), "codex").endswith("a day, at its own price or quota.")
    assert day_of_reviews(Config(home=HOME), "cursor") == "Its sessions are not reviewed."


def test_settings_come_from_the_configuration_where_it_has_them() -> None:
    assert settings_of(load()) == ReviewSettings()
    assert settings_of(Config(home=HOME, review_per_day=2)).per_day == 2
