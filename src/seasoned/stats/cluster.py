"""A rate over clusters: trials of one cluster resemble each other, so clusters are the units of every interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from seasoned.stats.counts import as_counts
from seasoned.stats.distribution import two_sided_t
from seasoned.stats.interval import (
    NO_TRIALS,
    NOTHING_VARIES,
    ONE_CLUSTER,
    TOO_FEW_FAILURES,
    Estimate,
    Interval,
    Method,
    check_level,
    span,
)
from seasoned.stats.proportion import score_ends
from seasoned.stats.resample import RESAMPLES, studentised_ends

if TYPE_CHECKING:
    from seasoned.stats.counts import Array


class Pooled(msgspec.Struct, frozen=True):
    """A rate over clusters with what its intervals are made of."""

    rate: float | None
    n: int
    clusters: int
    error: float | None
    """Standard error, each cluster left out in turn."""
    freedom: float | None
    """Degrees of freedom: the effective number of clusters, less one."""

    @property
    def design_effect(self) -> float | None:
        """How many times the variance is that of as many independent trials (Kish 1965)."""
        if self.rate is None or self.error is None or not 0 < self.rate < 1:
            return None
        return self.error**2 * self.n / (self.rate * (1 - self.rate))

    @property
    def effective_n(self) -> float | None:
        """Independent trials that would tell as much, never more than there are (Korn & Graubard 1998).

        Where nothing or everything failed no spread can be seen: then a cluster counts as one trial.
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
    if not 0 < failed < total or error < 1e-12:
        error = 0.0
    return Pooled(failed / total, int(total), len(rows), error, effective_clusters(rows[:, 1]) - 1)


def effective_clusters(sizes: Array) -> float:
    """Clusters of one size that would tell as much as these (Kish 1965); few long ones outweigh many short ones."""
    kish = float(sizes.sum()) ** 2 / float((sizes**2).sum())
    # With one cluster that outweighs all others Student's t would have no quantile.
    return max(2.0, kish)


def rate(
    failures: Sequence[int],
    totals: Sequence[int],
    *,
    level: float = 0.95,
    method: Method = "wilson",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """All failures over all trials, with an interval that holds when trials of one cluster resemble each other."""
    check_level(level)
    rows = as_counts(failures, totals)
    pooled = pool_rows(rows)
    if pooled.rate is None:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    if pooled.clusters < 2:
        return Estimate(pooled.rate, None, pooled.n, 1, ONE_CLUSTER)
    if method == "wilson":
        return _answer(pooled, wilson_interval(pooled, level), None)
    if not pooled.error:
        return _answer(pooled, None, NOTHING_VARIES)
    if method == "linear":
        return _answer(pooled, _linear(pooled, level), None)
    ends = studentised_ends([rows], _rate_of, level=level, resamples=resamples, seed=seed)
    if ends is None:
        return _answer(pooled, None, TOO_FEW_FAILURES)
    low, high = max(0.0, ends[0]), min(1.0, ends[1])
    return _answer(pooled, span(low, pooled.rate, high, level, pooled.clusters), None)


def wilson_interval(pooled: Pooled, level: float) -> Interval | None:
    """Wilson's interval over the effective number of trials, with Student's t (after Korn & Graubard 1998)."""
    effective = pooled.effective_n
    if pooled.rate is None or effective is None or pooled.freedom is None:
        return None
    low, high = score_ends(pooled.rate, effective, two_sided_t(level, pooled.freedom))
    return Interval(low, high, level, pooled.clusters)


def _linear(pooled: Pooled, level: float) -> Interval | None:
    """The cluster-robust interval of a ratio of totals, on the scale of log odds (Woodruff 1971; t by Kish)."""
    if pooled.rate is None or pooled.error is None or pooled.freedom is None:
        return None
    odds = math.log(pooled.rate / (1 - pooled.rate))
    half = two_sided_t(level, pooled.freedom) * pooled.error / (pooled.rate * (1 - pooled.rate))
    return span(_from_odds(odds - half), pooled.rate, _from_odds(odds + half), level, pooled.clusters)


def _from_odds(log_odds: float) -> float:
    return 0.5 * (1 + math.tanh(log_odds / 2))


def _rate_of(sums: Array) -> tuple[Array, Array]:
    """The rate and its gradient by the totals."""
    import numpy as np

    value = sums[:, 0] / sums[:, 1]
    return value, np.stack([1 / sums[:, 1], -value / sums[:, 1]], axis=1)


def _answer(pooled: Pooled, interval: Interval | None, reason: str | None) -> Estimate:
    return Estimate(pooled.rate, interval, pooled.n, pooled.clusters, reason)
