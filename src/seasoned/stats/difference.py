"""Differences and ratios of two rates, of different clusters or of the same clusters under two conditions.

Standardised rates are those at a fixed mix of strata, so that a different mix does not look like a change.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import msgspec

from seasoned.stats.interval import (
    NO_TRIALS,
    NOTHING_VARIES,
    ONE_CLUSTER,
    Estimate,
    Interval,
    Ints,
    as_counts,
    as_pairs,
    span,
    t_tails,
    two_sided_t,
)
from seasoned.stats.proportion import (
    Pooled,
    difference_ends,
    effective_clusters,
    pool_rows,
    wilson_interval,
)

if TYPE_CHECKING:
    from seasoned.stats.interval import Array

LEVEL = 0.95
NO_RATIO = "nothing failed in the second, so there is no ratio"
NO_LOG = "nothing failed in the first: a ratio of zero has no logarithm"
TOO_WIDE = "the ratio has no upper bound that could be written down"


def difference(failures_a: Ints, totals_a: Ints, failures_b: Ints, totals_b: Ints) -> Estimate:
    """First rate minus second from the two Wilson intervals (Zou & Donner 2008): bounded also when nothing failed.

    Its p value is of Student's t with Welch's (1947) degrees of freedom.
    """
    a, b = pool_rows(as_counts(failures_a, totals_a)), pool_rows(as_counts(failures_b, totals_b))
    if a.rate is None or b.rate is None:
        return _answer(a, b, None, None, f"{NO_TRIALS} on one side")
    if a.error is None or b.error is None:
        return _answer(a, b, a.rate - b.rate, None, f"{ONE_CLUSTER} on each side")
    of_a, of_b = wilson_interval(a, LEVEL), wilson_interval(b, LEVEL)
    assert of_a is not None and of_b is not None  # there are two clusters or more on each side
    value = a.rate - b.rate
    low, high = difference_ends(a.rate, of_a, b.rate, of_b)
    error, freedom = welch(a, b)
    # Without any spread there is no p value, although Wilson's interval exists.
    p_value = t_tails(value / error, freedom) if error else None
    return _answer(a, b, value, span(low, value, high, LEVEL, a.clusters + b.clusters), None, p_value)


def mean_difference(values_a: Sequence[float], values_b: Sequence[float]) -> Estimate:
    """First mean minus second, one value for each cluster, with the interval and p value of Welch (1947)."""
    n = len(values_a) + len(values_b)
    if min(len(values_a), len(values_b)) < 2:
        return Estimate(None, None, n, n, f"{ONE_CLUSTER} on each side")
    a, b = [
        Pooled(fmean(values), len(values), len(values), stdev(values) / math.sqrt(len(values)), len(values) - 1.0)
        for values in (values_a, values_b)
    ]
    value, (error, freedom) = fmean(values_a) - fmean(values_b), welch(a, b)
    if not error:
        return Estimate(value, None, n, n, NOTHING_VARIES)
    half = two_sided_t(LEVEL, freedom) * error
    return Estimate(
        value, Interval(value - half, value + half, LEVEL, n), n, n, p_value=t_tails(value / error, freedom)
    )


def welch(a: Pooled, b: Pooled) -> tuple[float, float]:
    """The error of a difference of independent sides, and its degrees of freedom (Welch 1947)."""
    variances = [(a.error or 0.0) ** 2, (b.error or 0.0) ** 2]
    total = sum(variances)
    if not total:
        return 0.0, 1.0
    # By shares, so that squares of very small variances do not vanish.
    shares = [variance / total for variance in variances]
    spent = sum(share**2 / (side.freedom or 1.0) for share, side in zip(shares, (a, b), strict=True))
    return math.sqrt(total), 1 / spent


def _answer(
    a: Pooled,
    b: Pooled,
    value: float | None,
    interval: Interval | None,
    reason: str | None,
    p_value: float | None = None,
) -> Estimate:
    return Estimate(value, interval, a.n + b.n, a.clusters + b.clusters, reason, p_value)


NO_PAIRS = "no cluster was tried under both conditions"


def paired_difference(
    failures_a: Ints, totals_a: Ints, failures_b: Ints, totals_b: Ints, *, level: float = 0.95
) -> Estimate:
    """First rate minus second over clusters tried under both; position i is one cluster on both sides.

    Each pair is left out in turn (Tukey 1958), with Student's t.
    """
    rows = as_pairs(failures_a, totals_a, failures_b, totals_b)
    if not len(rows):
        return _paired_answer(rows, None, None, NO_PAIRS)
    a, b = _rates(rows.sum(axis=0))
    value = float(a - b)
    if len(rows) < 2:
        return _paired_answer(rows, value, None, ONE_CLUSTER)
    without_a, without_b = _rates(rows.sum(axis=0) - rows)
    error = _jackknife_error(without_a - without_b)
    if not error:
        return _paired_answer(rows, value, None, NOTHING_VARIES)
    freedom = effective_clusters(rows[:, 1] + rows[:, 3]) - 1
    p_value = t_tails(value / error, freedom)
    half = two_sided_t(level, freedom) * error
    interval = Interval(max(-1.0, value - half), min(1.0, value + half), level, len(rows))
    return _paired_answer(rows, value, interval, None, p_value)


def paired_ratio(
    failures_a: Ints, totals_a: Ints, failures_b: Ints, totals_b: Ints, *, level: float = 0.95
) -> Estimate:
    """First rate by second over clusters tried under both, on the logarithm (Katz et al. 1978).

    Nothing failed in the second: None. Nothing failed in the first: 0.0 without an interval.
    """
    rows = as_pairs(failures_a, totals_a, failures_b, totals_b)
    if not len(rows):
        return _paired_answer(rows, None, None, NO_PAIRS)
    a, b = map(float, _rates(rows.sum(axis=0)))
    if not b:
        return _paired_answer(rows, None, None, NO_RATIO)
    value = a / b
    if len(rows) < 2:
        return _paired_answer(rows, value, None, ONE_CLUSTER)
    if not a:
        return _paired_answer(rows, value, None, NO_LOG)
    without_a, without_b = _rates(rows.sum(axis=0) - rows)
    # By shares of the rates and not by logarithms: a rate without one cluster can be zero.
    error = _jackknife_error(without_a / a - without_b / b)
    if not error:
        return _paired_answer(rows, value, None, NOTHING_VARIES)
    freedom = effective_clusters(rows[:, 1] + rows[:, 3]) - 1
    p_value = t_tails(math.log(value) / error, freedom)
    half = two_sided_t(level, freedom) * error
    # exp(710) is beyond a double.
    if math.log(value) + half > 700:
        return _paired_answer(rows, value, None, TOO_WIDE, p_value)
    ends = math.exp(math.log(value) - half), math.exp(math.log(value) + half)
    return _paired_answer(rows, value, span(ends[0], value, ends[1], level, len(rows)), None, p_value)


def _rates(totals: Array) -> tuple[Array, Array]:
    return totals[..., 0] / totals[..., 1], totals[..., 2] / totals[..., 3]


def _jackknife_error(without: Array) -> float:
    """The standard error from values with one cluster left out each; rounding errors count as 0."""
    error = math.sqrt((len(without) - 1) * float(without.var()))
    return error if error > 1e-12 else 0.0


def _paired_answer(
    rows: Array, value: float | None, interval: Interval | None, reason: str | None, p_value: float | None = None
) -> Estimate:
    return Estimate(value, interval, int(rows[:, [1, 3]].sum()), len(rows), reason, p_value)


Strata = Mapping[str, tuple[int, int]]  # one cluster: failures and total by stratum

# A stratum in only one cluster shows no spread; counting it would make the interval too narrow.
FEWEST_CLUSTERS = 2
NO_STRATUM = "no stratum of the mix has trials in at least two clusters"


class Standardised(msgspec.Struct, frozen=True):
    """A rate at a fixed mix, and the share of the mix that it covers."""

    estimate: Estimate
    # Share of the mix behind the rate; nothing is assumed about the rest.
    covered: float


def standardise_tables(failures: Array, totals: Array, weights: Array) -> Standardised:
    """The rate if trials were mixed by `weights` (Neison 1844; jackknife error: Tukey 1958). Rows of the tables are
    clusters, columns strata."""
    held = ((totals > 0).sum(axis=0) >= FEWEST_CLUSTERS) & (weights > 0)
    if not held.any():
        return Standardised(Estimate(None, None, 0, 0, NO_STRATUM), 0.0)
    some = totals[:, held].sum(axis=1) > 0
    pooled = _pool_tables(failures[some][:, held], totals[some][:, held], weights[held])
    covered = float(weights[held].sum() / weights.sum())
    return Standardised(Estimate(pooled.rate, wilson_interval(pooled, LEVEL), pooled.n, pooled.clusters), covered)


def _pool_tables(failures: Array, totals: Array, weights: Array) -> Pooled:
    weights = weights / weights.sum()
    rate = float((failures.sum(axis=0) / totals.sum(axis=0)) @ weights)
    without = ((failures.sum(axis=0) - failures) / (totals.sum(axis=0) - totals)) @ weights
    # The size of a cluster is its share in the standardised rate, not its number of trials.
    sizes = (totals / totals.sum(axis=0)) @ weights
    return Pooled(
        min(1.0, rate),
        int(totals.sum()),
        len(totals),
        _jackknife_error(without),
        effective_clusters(sizes[sizes > 0]) - 1,
    )
