"""A rate over clusters with its interval. Trials of one cluster resemble each other, so clusters are the units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from seasoned.stats.interval import NO_TRIALS, ONE_CLUSTER, Estimate, Interval, as_counts, check_level, two_sided_t
from seasoned.stats.proportion import score_ends

if TYPE_CHECKING:
    from seasoned.stats.interval import Array


class Pooled(msgspec.Struct, frozen=True):
    """A rate over clusters with the parts of its intervals."""

    rate: float | None
    n: int
    clusters: int
    error: float | None  # standard error, each cluster left out in turn
    freedom: float | None  # degrees of freedom: the effective number of clusters, less one

    @property
    def design_effect(self) -> float | None:
        """How many times the variance is that of as many independent trials (Kish 1965)."""
        if self.rate is None or self.error is None or not 0 < self.rate < 1:
            return None
        return self.error**2 * self.n / (self.rate * (1 - self.rate))

    @property
    def effective_n(self) -> float | None:
        """The equivalent number of independent trials, at most `n` (Korn & Graubard 1998).

        If nothing or everything failed there is no spread: then a cluster counts as one trial.
        """
        if self.rate is None or self.freedom is None:
            return None
        effect = self.design_effect
        return self.freedom + 1 if effect is None else self.n / max(1.0, effect)


def pool(failures: Sequence[int], totals: Sequence[int]) -> Pooled:
    """The rate, its jackknife error (Quenouille 1956, Tukey 1958) and its degrees of freedom."""
    return pool_rows(as_counts(failures, totals))


def pool_rows(rows: Array) -> Pooled:
    """The same from checked rows."""
    failed, total = rows.sum(axis=0).tolist() if len(rows) else (0.0, 0.0)
    if not total:
        return Pooled(None, 0, 0, None, None)
    if len(rows) < 2:
        return Pooled(failed / total, int(total), 1, None, None)
    without = (failed - rows[:, 0]) / (total - rows[:, 1])
    error = math.sqrt((len(rows) - 1) * float(without.var()))
    # Rounding leaves a tiny error where all clusters have the same rate.
    if not 0 < failed < total or error < 1e-12:
        error = 0.0
    return Pooled(failed / total, int(total), len(rows), error, effective_clusters(rows[:, 1]) - 1)


def effective_clusters(sizes: Array) -> float:
    """The equivalent number of clusters of equal size (Kish 1965): few long ones outweigh many short ones."""
    kish = float(sizes.sum()) ** 2 / float((sizes**2).sum())
    # If one cluster outweighs all others, Student's t would have no quantile.
    return max(2.0, kish)


def rate(failures: Sequence[int] | Array, totals: Sequence[int] | Array, *, level: float = 0.95) -> Estimate:
    """All failures over all trials, with an interval that is valid for clustered trials."""
    check_level(level)
    pooled = pool_rows(as_counts(failures, totals))
    if pooled.rate is None:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    if pooled.clusters < 2:
        return Estimate(pooled.rate, None, pooled.n, 1, ONE_CLUSTER)
    return Estimate(pooled.rate, wilson_interval(pooled, level), pooled.n, pooled.clusters)


def wilson_interval(pooled: Pooled, level: float) -> Interval | None:
    """Wilson's interval over the effective number of trials, with Student's t (after Korn & Graubard 1998)."""
    effective = pooled.effective_n
    if pooled.rate is None or effective is None or pooled.freedom is None:
        return None
    low, high = score_ends(pooled.rate, effective, two_sided_t(level, pooled.freedom))
    return Interval(low, high, level, pooled.clusters)
