"""A rate over clusters with its interval. Trials of one cluster resemble each other, so clusters are the units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from seasoned.stats.interval import (
    NO_TRIALS,
    NOTHING_VARIES,
    ONE_CLUSTER,
    TOO_FEW_FAILURES,
    Estimate,
    Interval,
    Method,
    as_counts,
    check_level,
    span,
    two_sided_t,
)
from seasoned.stats.proportion import score_ends

if TYPE_CHECKING:
    from numpy.random import Generator

    from seasoned.stats.interval import Array

    # From rows of totals to the value of each row and its gradient by the totals.
    Smooth = Callable[[Array], tuple[Array, Array]]

# So that 50 draws lie beyond each end of a 95 % interval.
RESAMPLES = 2000
_AT_ONCE = 2_000_000  # numbers held in memory at a time


def studentised_ends(
    arms: Sequence[Array], smooth: Smooth, *, level: float, resamples: int, seed: int, symmetric: bool = False
) -> tuple[float, float] | None:
    """The ends of a bootstrap-t interval (Efron 1981; by clusters Davison & Hinkley 1997, 3.8).

    `symmetric` puts both ends at the same distance (Hall 1988): more stable for values around zero.

    Each arm has a row for each of its clusters; `smooth` gets the totals of all arms side by side. None if so many
    draws have no spread that an end would be infinite.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    value, error = _studentise([arm.sum(axis=0)[None] for arm in arms], [_squares(a, None) for a in arms], arms, smooth)
    if not np.isfinite(value[0]) or not error[0] > 0:
        return None
    pivots = np.concatenate(
        [
            _pivots(float(value[0]), *_studentise(sums, squares, arms, smooth))
            for sums, squares in _draws(arms, resamples, generator)
        ]
    )
    if symmetric:
        pivots = np.concatenate([pivots, -pivots])
    tail = (1 - level) / 2
    # Not interpolated: a draw without spread is infinite, and infinity cannot be averaged.
    low, high = np.quantile(pivots, [tail, 1 - tail], method="inverted_cdf").tolist()
    if not np.isfinite(low) or not np.isfinite(high):
        return None
    return float(value[0] - high * error[0]), float(value[0] - low * error[0])


def _draws(arms: Sequence[Array], resamples: int, generator: Generator) -> Iterator[tuple[list[Array], list[Array]]]:
    """Totals, and sums of squares and products, of each draw; as many draws at once as memory should hold."""
    step = max(1, _AT_ONCE // max(len(arm) for arm in arms))
    for start in range(0, resamples, step):
        count = min(step, resamples - start)
        weights = [_weights(len(arm), count, generator) for arm in arms]
        yield (
            [weight @ arm for weight, arm in zip(weights, arms, strict=True)],
            [_squares(arm, weight) for weight, arm in zip(weights, arms, strict=True)],
        )


def _weights(clusters: int, draws: int, generator: Generator) -> Array:
    """How often each draw holds each cluster."""
    import numpy as np

    # Every draw gets its own range of numbers, so that one count serves all of them.
    chosen = generator.integers(0, clusters, (draws, clusters)) + clusters * np.arange(draws)[:, None]
    return np.bincount(chosen.ravel(), minlength=draws * clusters).reshape(draws, clusters).astype(float)


def _squares(arm: Array, weights: Array | None) -> Array:
    """Sums of products of columns: one matrix for each draw, or one for the data when there are no weights."""
    import numpy as np

    columns = arm.shape[1]
    products = (arm[:, :, None] * arm[:, None, :]).reshape(len(arm), columns * columns)
    sums: Array = products.sum(axis=0)[None] if weights is None else weights @ products
    return np.asarray(sums).reshape(-1, columns, columns)


def _studentise(
    sums: Sequence[Array], squares: Sequence[Array], arms: Sequence[Array], smooth: Smooth
) -> tuple[Array, Array]:
    """Value and linearised standard error of each draw (Woodruff 1971)."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        value, gradient = smooth(np.hstack(sums))
        variance = np.zeros(len(value))
        column = 0
        for square, arm in zip(squares, arms, strict=True):
            part = gradient[:, column : column + arm.shape[1]]
            column += arm.shape[1]
            clusters = len(arm)
            variance += clusters / (clusters - 1) * np.einsum("bk,bkl,bl->b", part, square, part)
        return value, np.sqrt(np.maximum(variance, 0.0))


def _pivots(value: float, drawn: Array, error: Array) -> Array:
    """Distance of each draw from the data in its own standard errors; infinite where a draw has no spread."""
    import numpy as np

    away = drawn - value
    with np.errstate(divide="ignore", invalid="ignore"):
        known = (error > 1e-12) & np.isfinite(error) & np.isfinite(away)
        pivots = np.where(known, away / error, np.where(away > 0, np.inf, -np.inf))
    return np.where(np.isnan(away) | (away == 0), 0.0, pivots)


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


def rate(
    failures: Sequence[int] | Array,
    totals: Sequence[int] | Array,
    *,
    level: float = 0.95,
    method: Method = "wilson",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """All failures over all trials, with an interval that is valid for clustered trials."""
    check_level(level)
    rows = as_counts(failures, totals)
    pooled = pool_rows(rows)
    if pooled.rate is None:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    if pooled.clusters < 2:
        return Estimate(pooled.rate, None, pooled.n, 1, ONE_CLUSTER)
    if method == "wilson":
        return _answer(pooled, wilson_interval(pooled, level), None)
    # The other methods rest on the spread between clusters; without any they would claim certainty.
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
