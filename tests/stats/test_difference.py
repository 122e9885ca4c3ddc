"""Two rates, of different clusters and of the same ones, and a rate at a fixed mix of strata."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.stats.difference import difference, paired_difference, paired_ratio
from seasoned.stats.proportion import rate
from tests.stats.data import CLUSTER, CLUSTERS, PAIRS, check_sound, standardise

FIRST, SECOND = ([4, 5, 6, 5], [20] * 4), ([1, 3, 2, 2], [20] * 4)


def test_equal_clusters_are_compared_as_welch_would() -> None:
    """Means 0.25 and 0.10, standard errors 0.020412 each: t = 5.196 with 6 degrees, p = 0.00202."""
    found = difference(*FIRST, *SECOND)
    assert found.value == pytest.approx(0.15)
    assert found.interval.low < 0.15 < found.interval.high
    assert found.p_value == pytest.approx(0.00202, abs=1e-5)
    assert (found.n, found.clusters, found.interval.n) == (160, 8, 8)


def test_pairs_are_compared_as_student_would() -> None:
    """Differences 0.15, 0.10, 0.20, 0.15: mean 0.15, standard error 0.020412, t with 3 degrees."""
    found = paired_difference(*FIRST, *SECOND)
    half = 3.182446 * 0.0204124
    assert (found.interval.low, found.interval.high) == pytest.approx((0.15 - half, 0.15 + half), abs=1e-6)
    assert found.clusters == 4


def test_what_pairs_share_cancels_out() -> None:
    """Clusters between 10 % and 80 %, each 5 points worse the second time, give or take one trial."""
    failures = [10, 20, 40, 60, 80, 30]
    worse = [f + 5 + bump for f, bump in zip(failures, (1, -1, 0, 1, -1, 0), strict=True)]
    together = paired_difference(worse, [100] * 6, failures, [100] * 6).interval
    apart = difference(worse, [100] * 6, failures, [100] * 6).interval
    assert 0.03 < together.low < together.high < 0.07
    assert apart.low < -0.1


def test_a_paired_ratio_by_hand() -> None:
    """Each pair left out in turn: the error of the shares, with Student's t at 3 degrees."""
    a, b = [0.2, 0.25, 0.3, 0.25], [0.05, 0.15, 0.1, 0.1]
    shares = [(1.0 - x) / 3 / 0.25 - (0.4 - y) / 3 / 0.10 for x, y in zip(a, b, strict=True)]
    mean = sum(shares) / 4
    half = 3.182446 * math.sqrt(3 * sum((share - mean) ** 2 for share in shares) / 4)
    found = paired_ratio(*FIRST, *SECOND).interval
    assert (found.low, found.high) == pytest.approx((2.5 * math.exp(-half), 2.5 * math.exp(half)), rel=1e-5)


def test_zeros_are_said_and_nothing_is_added_to_them() -> None:
    nothing = ([0] * 4, [20] * 4)
    assert difference(*nothing, *nothing).interval.high > 0.2  # four clusters each say little
    assert paired_ratio(*FIRST, *nothing).value is None
    assert paired_ratio(*nothing, *SECOND).reason == "nothing failed in the first: a ratio of zero has no logarithm"


@pytest.mark.parametrize("compare", [difference, paired_difference, paired_ratio])
def test_too_little_data_gives_none_with_a_reason(compare) -> None:
    empty = compare([], [], [], [])
    assert (empty.value, empty.interval) == (None, None)
    single = compare([1], [4], [2], [4])
    assert single.value is not None
    assert single.interval is None
    assert "two clusters" in single.reason


def test_pairs_must_be_pairs() -> None:
    with pytest.raises(UsageError, match="same clusters"):
        paired_difference([1, 2], [5, 5], [1], [5])


@given(CLUSTERS, CLUSTERS)
def test_any_two_sides_give_sound_answers(a, b) -> None:
    one, other = difference(*a, *b), difference(*b, *a)
    check_sound(one)
    if one.interval is not None:
        assert other.interval.low == pytest.approx(-one.interval.high, abs=1e-9)


@given(PAIRS)
def test_any_pairs_give_sound_answers(data) -> None:
    check_sound(paired_difference(*data))
    check_sound(paired_ratio(*data))


EARLY = [{"read": (1, 10), "shell": (4, 20)}, {"read": (0, 10), "shell": (4, 20)}, {"read": (1, 10), "shell": (4, 20)}]


def test_a_fixed_mix_by_hand() -> None:
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
