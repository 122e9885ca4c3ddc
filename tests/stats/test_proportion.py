"""One and two proportions against the values that their authors printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.stats.proportion import proportion_difference, proportion_ratio, wilson


@pytest.mark.parametrize(
    ("failures", "total", "printed"),
    [  # Newcombe 1998, Statistics in Medicine 17, table I
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_intervals_of_one_proportion_are_the_printed_ones(failures, total, printed) -> None:
    found = wilson(failures, total).interval
    assert (found.low, found.high) == pytest.approx(printed, abs=5.1e-5)
    assert (found.level, found.n) == (0.95, total)


@pytest.mark.parametrize(
    ("table", "printed"),
    [  # Newcombe 1998, Statistics in Medicine 17, table II, method 10
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
    ],
)
def test_intervals_of_a_difference_are_the_printed_ones(table, printed) -> None:
    found = proportion_difference(*table).interval
    assert (found.low, found.high) == pytest.approx(printed, abs=5.1e-5)


def test_a_ratio_to_nothing_is_none_and_a_ratio_of_nothing_is_bounded() -> None:
    none = proportion_ratio(3, 10, 0, 10)
    assert (none.value, none.interval) == (None, None)
    assert "no ratio" in none.reason
    zero = proportion_ratio(0, 50, 10, 50)
    assert zero.value == 0.0
    assert zero.interval.low == 0.0 < zero.interval.high < 1


def test_a_ratio_of_many_trials_agrees_with_the_logarithmic_interval() -> None:
    """Katz: exp(log 1.2 ± 1.96 √(1/600 − 1/10000 + 1/500 − 1/10000))."""
    found = proportion_ratio(600, 10_000, 500, 10_000).interval
    assert (found.low, found.high) == pytest.approx((1.0684, 1.3478), abs=2e-3)


def test_no_trials_give_no_rate() -> None:
    nothing = wilson(0, 0)
    assert (nothing.value, nothing.interval, nothing.reason) == (None, None, "there are no trials")


@pytest.mark.parametrize("failures", [-1, 4])
def test_impossible_numbers_are_refused(failures) -> None:
    with pytest.raises(UsageError, match="between 0"):
        wilson(failures, 3)


TABLE = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(TABLE, st.floats(0.5, 0.999))
def test_intervals_hold_the_rate_and_mirror_it(table, level) -> None:
    failures, total = table
    one, other = wilson(failures, total, level=level), wilson(total - failures, total, level=level)
    assert 0 <= one.interval.low <= one.value <= one.interval.high <= 1
    assert other.interval.low == pytest.approx(1 - one.interval.high, abs=1e-9)
    assert other.interval.high == pytest.approx(1 - one.interval.low, abs=1e-9)


@given(TABLE)
def test_intervals_grow_with_the_level_and_move_with_failures(table) -> None:
    failures, total = table
    narrow, wide = wilson(failures, total, level=0.8).interval, wilson(failures, total, level=0.99).interval
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    if failures < total:
        more = wilson(failures + 1, total, level=0.8).interval
        assert more.low >= narrow.low
        assert more.high >= narrow.high


@given(TABLE, TABLE)
def test_differences_turn_their_sign_and_ratios_hold_their_value(a, b) -> None:
    one, other = proportion_difference(*a, *b), proportion_difference(*b, *a)
    assert -1 <= one.interval.low <= one.value <= one.interval.high <= 1
    assert other.interval.low == pytest.approx(-one.interval.high, abs=1e-9)
    ratio = proportion_ratio(*a, *b)
    if b[0]:
        assert 0 <= ratio.interval.low <= ratio.value <= ratio.interval.high
    else:
        assert ratio.value is None
