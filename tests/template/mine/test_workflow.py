"""Workflows: what recurs in the same order over lineages, closed, and no going to and fro."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.example import Workflow
from seasoned.template.mine.note import LONGEST_WORKFLOW, SHORTEST_WORKFLOW, workflows


def found(*walks: str, limit: int = 10, fewest: int = 2, roots: str | None = None) -> list[tuple[str, int]]:
    """Steps written as letters, a lineage for each walk unless told."""
    pairs = [(roots[at] if roots else str(at), list(walk)) for at, walk in enumerate(walks)]
    return [("".join(one.steps), one.support) for one in workflows(pairs, fewest_lineages=fewest, limit=limit)]


def test_steps_in_the_same_order_in_two_lineages_are_a_workflow() -> None:
    assert found("xabcy", "zabcw") == [("abc", 2)]


def test_one_lineage_is_no_witness_for_itself() -> None:
    assert found("abcabc") == []
    assert found("abc", "abc", roots="ss") == []


def test_two_steps_are_too_few() -> None:
    assert found("ab", "ab") == []


def test_a_part_of_a_longer_one_with_the_same_support_is_left_out() -> None:
    assert found("abcde", "abcde") == [("abcde", 2)]


def test_a_part_with_more_support_wins_over_the_longer_one() -> None:
    assert found("abcd", "abcd", *["abc"] * 7)[0] == ("abc", 9)


def test_the_same_step_in_a_row_is_one_step() -> None:
    assert found("aaabbc", "abccc") == [("abc", 2)]


def test_going_to_and_fro_between_two_steps_is_no_workflow() -> None:
    assert found("abababab", "abababab") == []


def test_the_same_steps_in_another_order_are_kept_once() -> None:
    assert found("abc", "abc", "abc", "cab", "cab") == [("abc", 3)]


def test_no_more_are_kept_than_asked_for() -> None:
    walks = ["abc", "def", "ghi"] * 2
    assert len(found(*walks, limit=2)) == 2


def test_the_lineages_needed_are_an_option() -> None:
    assert found("abc", "abc", fewest=3) == []


@given(st.lists(st.text("abcde", max_size=14), max_size=6), st.randoms(use_true_random=False))
def test_every_workflow_is_there_and_the_order_of_sessions_does_not_matter(walks: list[str], random) -> None:
    pairs = [(str(at), list(walk)) for at, walk in enumerate(walks)]
    made = workflows(pairs, fewest_lineages=2, limit=10)
    random.shuffle(pairs)
    assert workflows(pairs, fewest_lineages=2, limit=10) == made
    for one in made:
        assert isinstance(one, Workflow)
        assert SHORTEST_WORKFLOW <= len(one.steps) <= LONGEST_WORKFLOW
        assert one.support >= 2
        assert len(set(one.steps)) >= 3
        assert sum(_has(walk, "".join(one.steps)) for walk in walks) == one.support


def _has(walk: str, steps: str) -> bool:
    plain = "".join(step for at, step in enumerate(walk) if at == 0 or walk[at - 1] != step)
    return steps in plain
