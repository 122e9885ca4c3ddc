"""Intervals that stay valid while one keeps looking. How often they hold is in test_coverage."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.stats.anytime import difference_sequence, mean_sequence
from seasoned.stats.proportion import wilson
from tests.stats.coverage import World
from tests.stats.data import check_sound


def test_the_first_bets_by_hand() -> None:
    """Three ones: bets √(2 log 40 / (v t log(t + 1))), variances 1/4, 5/32, 5/48 + 1/108; the capital against m is
    their product."""
    found = mean_sequence([1.0, 1.0, 1.0], level=0.95).interval
    log40 = np.log(40)
    squares = np.cumsum([0, 1 / 16, 1 / 36])
    bets = [np.sqrt(2 * log40 / ((0.25 + s) / t * t * np.log(t + 1))) for t, s in zip((1, 2, 3), squares, strict=True)]
    capital = np.prod([1 + min(bet, 0.9 / found.low) * (1 - found.low) for bet in bets])
    assert capital == pytest.approx(40, rel=1e-6)
    assert found.high == 1.0


def test_looks_never_widen_the_interval() -> None:
    rates = World(clusters=120, rate=0.2).rates(np.random.default_rng(3)).tolist()
    looks = [mean_sequence(rates[:k]).interval for k in range(1, 121, 7)]
    assert all(a.low <= b.low and b.high <= a.high for a, b in pairwise(looks))
    assert looks[-1].high - looks[-1].low < 0.15


def test_the_right_to_look_costs_less_than_two_and_a_half_times_the_width() -> None:
    values = (np.random.default_rng(4).random(2000) < 0.1).astype(int).tolist()
    always, once = mean_sequence(values).interval, wilson(sum(values), 2000).interval
    assert 1 < (always.high - always.low) / (once.high - once.low) < 2.5


def test_a_real_difference_is_found_and_none_is_not() -> None:
    generator = np.random.default_rng(5)
    bad, good = World(clusters=400, rate=0.2), World(clusters=400, rate=0.1)
    a, b, c = (w.rates(generator).tolist() for w in (bad, good, good))
    found, none = difference_sequence(a, b), difference_sequence(b, c)
    assert 0 < found.interval.low < 0.1 < found.interval.high
    assert found.p_value < 0.001
    assert none.interval.low < 0 < none.interval.high
    assert none.p_value > 0.05


def test_a_rate_that_changes_is_said_to_contradict_itself() -> None:
    found = mean_sequence([0.0] * 200 + [1.0] * 400)
    assert found.interval is None
    assert "inconsistent" in found.reason


def test_nothing_seen_is_none_with_a_reason() -> None:
    for found in (
        mean_sequence([]),
        difference_sequence([0.5], []),
    ):
        assert (found.value, found.interval) == (None, None)
        assert found.reason


def test_impossible_values_are_refused() -> None:
    for call in (
        lambda: mean_sequence([1.5]),
        lambda: mean_sequence([float("nan")]),
    ):
        with pytest.raises(UsageError):
            call()


VALUES = st.lists(st.floats(0, 1), max_size=40)


@given(VALUES, VALUES)
def test_any_values_give_sound_mirrored_sequences(a, b) -> None:
    one, mirrored = mean_sequence(a), mean_sequence([1 - x for x in a])
    check_sound(one)
    if one.interval is not None:
        assert 0 <= one.interval.low <= one.interval.high <= 1
        assert mirrored.interval.low == pytest.approx(1 - one.interval.high, abs=1e-6)
    check_sound(difference_sequence(a, b))
