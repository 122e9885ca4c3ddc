"""Which sources are independent, and how much of a block few of them get."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.source_share import SessionSources, SourcedItem, SourceShare
from tests.each_case import each_case

LONG = "Please move the parcels of the depot in Hull to the one in Leeds by noon today"
CALLS = tuple(f"Bash make step-{number}" for number in range(9))


@each_case(
    ("task", "other_task", "calls", "other_calls", "is_one"),
    [
        (LONG, LONG.upper() + "!", CALLS[:1], CALLS[:1], True),  # the words count, not how they are written
        (LONG, LONG, CALLS, CALLS[:8], True),  # a call more or less changes nothing
        (LONG, LONG, CALLS[:4], CALLS[3:7], False),  # the same task, done otherwise
        (LONG, LONG.replace("Leeds", "York"), CALLS, CALLS, False),
        ("Go on with the work in this project.", "Go on with the work in this project.", CALLS[:5], CALLS[:5], False),
        ("Go on.", "Go on.", CALLS, CALLS, True),  # nine calls in common are no coincidence
        ("", "", CALLS, CALLS, True),
        ("", "", (), (), False),
    ],
)
def test_sessions_that_copy_each_other_are_one_source(task, other_task, calls, other_calls, is_one) -> None:
    witnesses = SessionSources()
    names = {witnesses.name("a", task, calls), witnesses.name("b", other_task, other_calls)}
    assert (len(names) == 1) == is_one


def test_a_lineage_keeps_its_name_whatever_its_later_sessions_do() -> None:
    witnesses = SessionSources()
    assert {witnesses.name("a", LONG, CALLS), witnesses.name("a", "Go on.", CALLS[:1])} == {"a"}


def sources(first: int, last: int) -> frozenset[str]:
    return frozenset(map(str, range(first, last)))


def shown(pool: list[SourcedItem], most: int = 12, *, total: int = 1) -> list[str]:
    """The topics of what a block takes, in the order of the pool."""
    share = SourceShare(pool, most, total=total)
    taken = []
    for item in pool:
        if len(taken) < most and share.allows(item):
            share.take(item)
            taken.append(item.topic)
    return taken


HONEST = [SourcedItem(f"tool-{number}", sources(10, 200)) for number in range(12)]
EVIL = "evil"
PLANTED = {
    "one tool, many calls": [SourcedItem(EVIL, sources(0, 10)) for _ in range(11)],
    "many tools": [SourcedItem(f"{EVIL}-{number}", sources(0, 10)) for number in range(11)],
    "a tool for each": [SourcedItem(f"{EVIL}-{number}", sources(number, number + 1)) for number in range(10)],
    "a tool for two": [SourcedItem(f"{EVIL}-{number}", sources(2 * number, 2 * number + 2)) for number in range(5)],
    "unusual calls of a usual tool": [SourcedItem("tool-0", sources(0, 10 - number)) for number in range(5)],
}


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_ten_of_two_hundred_get_one_item_of_a_block(planted: list[SourcedItem]) -> None:
    share = SourceShare([*HONEST, *planted], 12)
    theirs = 0
    for item in planted:
        if share.allows(item):
            share.take(item)
            theirs += 1
    assert theirs == 1
    assert all(share.allows(item) for item in HONEST)


def test_unusual_ways_to_use_usual_tools_are_one_item_together() -> None:
    planted = [SourcedItem(f"tool-{number}", sources(number, number + 1)) for number in range(10)]
    share = SourceShare([*HONEST, *planted], 12, has_ways=True)
    theirs = 0
    for item in [*planted, *HONEST]:
        if share.allows(item):
            share.take(item)
            theirs += item in planted
    assert theirs == 1


def test_where_each_source_is_known_for_something_nothing_is_held_back() -> None:
    parts = [SourcedItem(f"tool-{number}", sources(10 * number, 10 * number + 10)) for number in range(18)]
    assert len(shown(parts)) == 12
    every = SourceShare(parts, 12, has_ways=True)
    assert all(every.allows(item) for item in parts)


def test_few_sources_among_few_are_heard() -> None:
    assert shown([SourcedItem("a", sources(0, 1)), SourcedItem("b", sources(1, 3))]) == ["a", "b"]
    assert shown([SourcedItem("a", sources(0, 1)), SourcedItem("b", sources(0, 1))], 8, total=100) == ["a"]


def test_what_names_no_source_is_not_held_back() -> None:
    assert len(shown([SourcedItem("a", frozenset())] * 3)) == 3


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdef"), st.frozensets(st.integers(0, 30), min_size=1)), min_size=1, max_size=30
    ),
    st.integers(1, 12),
)
def test_a_block_is_never_empty_and_never_over_its_limits(found: list[tuple[str, frozenset[int]]], most: int) -> None:
    pool = [SourcedItem(topic, frozenset(map(str, who))) for topic, who in found]
    everyone = frozenset[str]().union(*(one.sources for one in pool))
    taken = shown(pool, most)
    assert 1 <= len(taken) <= most
    for topic in set(taken):
        knows = frozenset[str]().union(*(one.sources for one in pool if one.topic == topic))
        assert taken.count(topic) <= -(-most * len(knows) // len(everyone))
