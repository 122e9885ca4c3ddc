"""Strategies: any clusters at all, degenerate ones first of all."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from seasoned.stats.interval import Estimate

CLUSTER = st.integers(0, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CLUSTERS = st.lists(CLUSTER, max_size=12).map(lambda rows: ([f for f, _ in rows], [n for _, n in rows]))
PAIRS = st.lists(st.tuples(CLUSTER, CLUSTER), max_size=10).map(
    lambda rows: tuple([pair[side][column] for pair in rows] for side in (0, 1) for column in (0, 1))
)


def check_sound(estimate: Estimate) -> None:
    """No number that is none, an interval around the value, and a reason exactly where something is missing."""
    numbers = [estimate.value, estimate.p_value]
    if estimate.interval is not None:
        assert estimate.value is not None
        assert estimate.interval.low <= estimate.value <= estimate.interval.high
        numbers += [estimate.interval.low, estimate.interval.high]
    assert all(math.isfinite(number) for number in numbers if number is not None)
    assert (estimate.reason is None) == (estimate.value is not None and estimate.interval is not None)
    assert estimate.p_value is None or 0 <= estimate.p_value <= 1
