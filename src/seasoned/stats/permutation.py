"""Permutation tests of two rates: labels are exchanged between clusters or within pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from seasoned.stats.interval import Ints, PValue, as_counts, as_pairs

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from numpy.random import Generator

    from seasoned.stats.interval import Array

    Labels = npt.NDArray[np.bool_]

# With the observed arrangement these are 10,000, so the smallest p value is 0.0001.
PERMUTATIONS = 9999
# Labels held in memory at a time.
_AT_ONCE = 500_000


def permute_clusters(
    failures_a: Ints,
    totals_a: Ints,
    failures_b: Ints,
    totals_b: Ints,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> PValue:
    """Two-sided test that two sets of clusters have one rate: labels are permuted between whole clusters.

    The statistic is studentised, so that it holds for unlike spreads too (Chung & Romano 2013). All arrangements
    are counted when there are at most `permutations` of them, else drawn, with one added (Phipson & Smyth 2010).
    """
    import numpy as np

    a, b = as_counts(failures_a, totals_a), as_counts(failures_b, totals_b)
    rows, chosen = np.vstack([a, b]), len(a)
    if not len(a) or not len(b):
        return PValue(None, len(rows), reason="there are no trials on one side")
    if math.comb(len(rows), chosen) <= permutations:
        return _p_value(_all_choices(len(rows), chosen), lambda labels: _between(rows, labels), len(rows), exact=True)
    draws = _shuffles(len(rows), chosen, permutations, np.random.default_rng(seed))
    return _p_value(draws, lambda labels: _between(rows, labels), len(rows), exact=False)


def permute_pairs(
    failures_a: Ints,
    totals_a: Ints,
    failures_b: Ints,
    totals_b: Ints,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> PValue:
    """Two-sided test that the conditions do not matter: they are exchanged within clusters (Fisher 1935)."""
    import numpy as np

    rows = as_pairs(failures_a, totals_a, failures_b, totals_b)
    if len(rows) < 2:
        return PValue(None, len(rows), reason="a test of pairs needs at least two")
    if 2 ** len(rows) <= permutations:
        return _p_value(_all_flips(len(rows)), lambda labels: _within(rows, labels), len(rows), exact=True)
    draws = _flips(len(rows), permutations, np.random.default_rng(seed))
    return _p_value(draws, lambda labels: _within(rows, labels), len(rows), exact=False)


def _p_value(draws: Iterator[Labels], statistic: Callable[[Labels], Array], n: int, *, exact: bool) -> PValue:
    """The share of arrangements at least as extreme as the first one, which is the observed one."""
    import numpy as np

    seen: float | None = None
    extreme = count = 0
    for labels in draws:
        values = np.abs(statistic(labels))
        if seen is None:
            seen = float(values[0])
        # Tolerate rounding errors.
        extreme += int((values >= seen * (1 - 1e-9)).sum())
        count += len(values)
    return PValue(extreme / count, n, exact)


def _all_choices(clusters: int, chosen: int) -> Iterator[Labels]:
    """Every choice of the first side, beginning with the observed one."""
    import numpy as np

    # The first combination is the first indices, which is the observed arrangement.
    members = np.array(list(combinations(range(clusters), chosen)))
    labels = np.zeros((len(members), clusters), dtype=bool)
    labels[np.arange(len(members))[:, None], members] = True
    yield labels


def _shuffles(clusters: int, chosen: int, permutations: int, generator: Generator) -> Iterator[Labels]:
    """The observed choice, then random ones."""
    import numpy as np

    first = np.arange(clusters) < chosen
    yield first[None]
    step = max(1, _AT_ONCE // clusters)
    for start in range(0, permutations, step):
        yield generator.permuted(np.tile(first, (min(step, permutations - start), 1)), axis=1)


def _all_flips(pairs: int) -> Iterator[Labels]:
    import numpy as np

    yield (np.arange(2**pairs)[:, None] >> np.arange(pairs)) & 1 == 0


def _flips(pairs: int, permutations: int, generator: Generator) -> Iterator[Labels]:
    import numpy as np

    yield np.ones((1, pairs), dtype=bool)
    step = max(1, _AT_ONCE // pairs)
    for start in range(0, permutations, step):
        yield generator.random((min(step, permutations - start), pairs)) < 0.5


def _between(rows: Array, labels: Labels) -> Array:
    """Difference of the rates of labelled and other clusters, in its standard errors."""
    import numpy as np

    failures, totals = rows[:, 0], rows[:, 1]
    products = np.stack([failures, totals, failures**2, failures * totals, totals**2], axis=1)
    first = labels.astype(float) @ products
    chosen = int(labels[0].sum())
    difference = np.zeros(len(labels))
    variance = np.zeros(len(labels))
    for sums, clusters, sign in ((first, chosen, 1.0), (products.sum(axis=0) - first, len(rows) - chosen, -1.0)):
        failed, total, square, product, total_square = sums.T
        rate = failed / total
        difference += sign * rate
        # A single cluster has no spread; use the other side's alone.
        if clusters > 1:
            spread = np.maximum(square - 2 * rate * product + rate**2 * total_square, 0.0)
            variance += clusters / (clusters - 1) * spread / total**2
    return _studentised(difference, variance)


def _within(rows: Array, labels: Labels) -> Array:
    """Difference of the rates of two conditions, in its standard errors, where unlabelled pairs are exchanged."""
    import numpy as np

    first, second = rows[None, :, :2], rows[None, :, 2:]
    kept = labels[:, :, None]
    a, b = np.where(kept, first, second), np.where(kept, second, first)
    totals_a, totals_b = a.sum(axis=1), b.sum(axis=1)
    rate_a, rate_b = totals_a[:, :1] / totals_a[:, 1:], totals_b[:, :1] / totals_b[:, 1:]
    influence = (a[..., 0] - rate_a * a[..., 1]) / totals_a[:, 1:] - (b[..., 0] - rate_b * b[..., 1]) / totals_b[:, 1:]
    clusters = len(rows)
    variance = clusters / (clusters - 1) * (influence**2).sum(axis=1)
    return _studentised((rate_a - rate_b)[:, 0], variance)


def _studentised(difference: Array, variance: Array) -> Array:
    """Infinite where there is a difference and no spread at all, zero where there is neither."""
    import numpy as np

    close = np.abs(difference) < 1e-12
    with np.errstate(divide="ignore", invalid="ignore"):
        value = difference / np.sqrt(np.where(variance < 1e-24, 0.0, variance))
    return np.where(close, 0.0, value)
