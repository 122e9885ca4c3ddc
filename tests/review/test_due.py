"""When a review is due."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seasoned.config import load
from seasoned.review.due import ReviewCount, ReviewSettings, settings_of, topic_due


def test_ten_turns_are_due_for_memory_and_ten_calls_for_skills() -> None:
    settings = ReviewSettings()
    assert topic_due(ReviewCount(9, 9), settings) is None
    assert topic_due(ReviewCount(10, 9), settings) == "memory"
    assert topic_due(ReviewCount(9, 10), settings) == "skills"
    assert topic_due(ReviewCount(10, 10), settings) == "both"


@given(st.lists(st.integers(0, 8), max_size=200), st.integers(0, 12), st.integers(0, 12))
def test_every_turn_and_call_counts_towards_one_review_of_each_kind(
    calls: list[int], memory_turns: int, skill_calls: int
) -> None:
    settings = ReviewSettings(memory_turns=memory_turns, skill_calls=skill_calls)
    count = ReviewCount()
    memory = skills = 0
    for number in calls:
        count = count.after(calls=number)
        topic = topic_due(count, settings)
        if topic is not None:
            memory += topic in ("memory", "both")
            skills += topic in ("skills", "both")
            count = count.without(topic)
        assert topic_due(count, settings) is None
    assert memory == (len(calls) // memory_turns if memory_turns else 0)
    assert skills == 0 if skill_calls == 0 else skills <= sum(calls) / skill_calls


def test_settings_come_from_the_configuration_where_it_has_them() -> None:
    assert isinstance(settings_of(load()), ReviewSettings)
