"""Strategies: any clusters at all, degenerate ones first of all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from seasoned.stats.difference import Standardised, standardise_tables
from seasoned.stats.interval import Estimate
from seasoned.stats.trend import slope_of

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


def slope(
    failed: Sequence[Sequence[bool]],
    positions: Sequence[Sequence[float]] | None = None,
    strata: Sequence[Sequence[str]] | None = None,
) -> Estimate:
    """The slope of trials listed by cluster; without positions a cluster runs from 0 to 1."""
    sizes = [len(trials) for trials in failed]
    if positions is None:
        positions = [np.linspace(0, 1, size).tolist() if size > 1 else [0.0] * size for size in sizes]
    names = None if strata is None else [name for some in strata for name in some]
    return slope_of(
        np.array([trial for trials in failed for trial in trials], dtype=bool),
        np.array([place for places in positions for place in places], dtype=float),
        np.repeat(np.arange(len(sizes)), sizes),
        None if names is None else np.unique(names, return_inverse=True)[1],
    )


def standardise(clusters: Sequence[Mapping[str, tuple[int, int]]], mix: Mapping[str, float]) -> Standardised:
    """The rate at a mix, of clusters given as failures and totals by stratum."""
    cells = np.array([[cluster.get(name, (0, 0)) for name in mix] for cluster in clusters], dtype=float)
    cells = cells.reshape(len(clusters), len(mix), 2)
    return standardise_tables(cells[:, :, 0], cells[:, :, 1], np.array(list(mix.values()), dtype=float))
