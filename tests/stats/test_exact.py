"""Exact tests, permutation tests and Holm's correction."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.stats.interval import holm
from seasoned.stats.permutation import permute_clusters, permute_pairs
from seasoned.stats.proportion import fisher, sign_test
from tests.stats.data import CLUSTERS, PAIRS


def test_the_lady_tasting_tea() -> None:
    """Fisher 1935: three of four cups right; 34 of 70 choices are at most as likely."""
    assert fisher(3, 4, 1, 4).value == pytest.approx(34 / 70)


def test_pairs_by_hand() -> None:
    """One of ten: 2 × (1 + 10) of 1024."""
    assert sign_test([0.5, -1, -1, -2, -0.1, -3, -1, -1, -1, -1, 0.0]).value == pytest.approx(22 / 1024)
    assert sign_test([1, -1] * 5).value == pytest.approx(1)


def test_nothing_to_test_is_none_with_a_reason() -> None:
    for found in (fisher(0, 0, 1, 3), sign_test([0.0]), permute_clusters([], [], [1], [2])):
        assert found.value is None
        assert found.reason
    assert permute_pairs([1], [2], [1], [2]).reason == "a test of pairs needs at least two"


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(UsageError):
        fisher(5, 4, 1, 4)
    with pytest.raises(UsageError):
        holm([1.2])


@given(st.integers(0, 25), st.integers(1, 25), st.integers(0, 25), st.integers(1, 25))
def test_fisher_is_the_sum_of_all_tables(a, more_a, b, more_b) -> None:
    """Against whole numbers: every table with the same margins, counted without rounding."""
    total_a, total_b = a + more_a, b + more_b
    ways = {
        k: comb(total_a, k) * comb(total_b, a + b - k) for k in range(max(0, a + b - total_b), min(a + b, total_a) + 1)
    }
    everything = comb(total_a + total_b, a + b)
    assert fisher(a, total_a, b, total_b).value == pytest.approx(
        sum(w for w in ways.values() if w <= ways[a]) / everything, rel=1e-9
    )
    assert fisher(a, total_a, b, total_b).value == pytest.approx(fisher(b, total_b, a, total_a).value, rel=1e-9)


def test_a_full_count_of_clusters_by_hand() -> None:
    """Three against three, wholly apart: 2 of the 20 choices are as extreme."""
    found = permute_clusters([1, 2, 1], [10] * 3, [7, 8, 9], [10] * 3)
    assert found.exact
    assert found.value == pytest.approx(2 / 20)


def test_a_full_count_of_pairs_by_hand() -> None:
    """Five pairs, all worse the second time: 2 of 32."""
    found = permute_pairs([1, 2, 1, 0, 2], [10] * 5, [4, 5, 6, 4, 5], [10] * 5)
    assert found.exact
    assert found.value == pytest.approx(2 / 32)


def test_draws_are_seeded_agree_with_the_full_count_and_are_never_zero() -> None:
    data = ([1, 0, 2, 3, 1, 4], [10] * 6, [3, 4, 2, 5, 1, 6], [10] * 6)
    for test, ways in ((permute_clusters, comb(12, 6)), (permute_pairs, 2**6)):
        full = test(*data, permutations=ways)
        drawn = [test(*data, permutations=ways - 1, seed=seed) for seed in (1, 1, 2)]
        assert full.exact
        assert not drawn[0].exact
        assert drawn[0] == drawn[1]
        assert drawn[0].value == pytest.approx(full.value, abs=0.12)
    apart = permute_clusters([0] * 30, [10] * 30, [10] * 30, [10] * 30, permutations=999)
    assert apart.value == pytest.approx(1 / 1000)


@given(CLUSTERS, CLUSTERS, PAIRS)
def test_any_clusters_have_a_p_value_or_a_reason(a, b, data) -> None:
    one, other = permute_clusters(*a, *b, permutations=300), permute_clusters(*b, *a, permutations=300)
    for found in (one, other, permute_pairs(*data, permutations=300)):
        assert (found.value is None) == (found.reason is not None)
        assert found.value is None or 0 < found.value <= 1
    if one.exact:
        assert one.value == (None if other.value is None else pytest.approx(other.value))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))
    assert holm([0.01, None, 0.04]) == (0.02, None, 0.04)
    assert holm([]) == ()
    assert holm([0.7, 0.8]) == (1.0, 1.0)


@given(st.lists(st.floats(0, 1) | st.none()))
def test_holm_keeps_the_order_and_never_makes_smaller(p_values) -> None:
    adjusted = holm(p_values)
    pairs = sorted((p, q) for p, q in zip(p_values, adjusted, strict=True) if p is not None)
    assert all(p <= q <= min(1.0, len(pairs) * p) + 1e-12 for p, q in pairs)
    assert [q for _, q in pairs] == sorted(q for _, q in pairs)
    assert [p is None for p in p_values] == [q is None for q in adjusted]
