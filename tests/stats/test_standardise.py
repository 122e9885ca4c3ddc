"""A rate at a fixed mix of strata."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.stats.proportion import rate
from tests.stats.data import CLUSTER, check_sound, standardise

EARLY = [{"read": (1, 10), "shell": (4, 20)}, {"read": (0, 10), "shell": (4, 20)}, {"read": (1, 10), "shell": (4, 20)}]


def test_by_hand() -> None:
    """Half of 2/30 and half of 12/60."""
    found = standardise(EARLY, {"read": 1, "shell": 1})
    assert found.estimate.value == pytest.approx(0.5 * 2 / 30 + 0.5 * 12 / 60)
    assert (found.covered, found.estimate.clusters) == (1.0, 3)


def test_one_stratum_is_the_plain_rate() -> None:
    found = standardise([{"x": (f, 10)} for f in (1, 2, 3, 4)], {"x": 3.0}).estimate
    plain = rate([1, 2, 3, 4], [10] * 4)
    assert found.value == pytest.approx(plain.value)
    assert (found.interval.low, found.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))


def test_missing_strata_are_reported_and_not_guessed() -> None:
    other = [{"read": (1, 10), "web": (2, 4)}, {"read": (1, 10)}]
    alone = standardise(other, {"read": 0.6, "web": 0.3, "never": 0.1})
    assert alone.covered == pytest.approx(0.6)


def test_nothing_in_common_is_none_with_a_reason() -> None:
    for found in (standardise([], {"read": 1}), standardise(EARLY, {})):
        assert (found.estimate.value, found.covered) == (None, 0)
        assert "no stratum" in found.estimate.reason


SIDE = st.lists(st.dictionaries(st.sampled_from("abc"), CLUSTER), max_size=8)


@given(SIDE, st.dictionaries(st.sampled_from("abcd"), st.floats(0, 10)))
def test_any_strata_give_sound_answers(clusters, mix) -> None:
    found = standardise(clusters, mix)
    check_sound(found.estimate)
    assert 0 <= found.covered <= 1 + 1e-12
