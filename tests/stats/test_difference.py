"""Two rates, of different clusters and of the same ones."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.stats.difference import difference, paired_difference, paired_ratio, ratio
from tests.stats.data import CLUSTERS, PAIRS, check_sound

METHODS = ["wilson", "linear", "bootstrap"]
FIRST, SECOND = ([4, 5, 6, 5], [20] * 4), ([1, 3, 2, 2], [20] * 4)


def test_equal_clusters_are_compared_as_welch_would() -> None:
    """Means 0.25 and 0.10, standard errors 0.020412 each: t = 5.196 with 6 degrees, p = 0.00202."""
    found = difference(*FIRST, *SECOND, method="linear")
    assert found.value == pytest.approx(0.15)
    half = 2.446912 * math.sqrt(2) * 0.0204124
    assert (found.interval.low, found.interval.high) == pytest.approx((0.15 - half, 0.15 + half), abs=1e-6)
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


@pytest.mark.parametrize("method", METHODS)
def test_a_ratio_is_the_same_from_both_ends(method) -> None:
    one, other = ratio(*FIRST, *SECOND, method=method), ratio(*SECOND, *FIRST, method=method)
    assert one.value == pytest.approx(2.5)
    assert 0.7 < one.interval.low < 2.5 < one.interval.high < 9
    if method != "bootstrap":
        assert (1 / other.interval.high, 1 / other.interval.low) == pytest.approx((one.interval.low, one.interval.high))


def test_a_logarithmic_ratio_by_hand() -> None:
    found = ratio(*FIRST, *SECOND, method="linear").interval
    shares = (0.0204124 / 0.25, 0.0204124 / 0.10)
    squares = [share**2 for share in shares]
    freedom = sum(squares) ** 2 / sum(square**2 / 3 for square in squares)
    assert freedom == pytest.approx(3.937, abs=1e-3)
    half = 2.7936 * math.sqrt(sum(squares))  # t at 3.937 degrees
    assert (found.low, found.high) == pytest.approx((2.5 * math.exp(-half), 2.5 * math.exp(half)), rel=1e-3)


def test_zeros_are_said_and_nothing_is_added_to_them() -> None:
    nothing = ([0] * 4, [20] * 4)
    assert ratio(*FIRST, *nothing).value is None
    assert "no ratio" in ratio(*FIRST, *nothing).reason
    assert ratio(*nothing, *SECOND, method="linear").value == 0.0
    assert "no logarithm" in ratio(*nothing, *SECOND, method="linear").reason
    bounded = ratio(*nothing, *SECOND).interval
    assert bounded.low == 0.0 < bounded.high
    assert difference(*nothing, *nothing, method="linear").interval is None
    assert difference(*nothing, *nothing).interval.high > 0.2  # four clusters each say little
    assert paired_ratio(*FIRST, *nothing).value is None
    assert paired_ratio(*nothing, *SECOND).reason == "nothing failed in the first: a ratio of zero has no logarithm"


@pytest.mark.parametrize("compare", [difference, ratio, paired_difference, paired_ratio])
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


@given(CLUSTERS, CLUSTERS, st.sampled_from(METHODS))
def test_any_two_sides_give_sound_answers(a, b, method) -> None:
    one, other = difference(*a, *b, method=method, resamples=200), difference(*b, *a, method=method, resamples=200)
    check_sound(one)
    check_sound(ratio(*a, *b, method=method, resamples=200))
    if one.interval is not None and method != "bootstrap":
        assert other.interval.low == pytest.approx(-one.interval.high, abs=1e-9)


@given(PAIRS, st.sampled_from(["linear", "bootstrap"]))
def test_any_pairs_give_sound_answers(data, method) -> None:
    check_sound(paired_difference(*data, method=method, resamples=200))
    check_sound(paired_ratio(*data, method=method, resamples=200))
