"""Two rates of the same clusters under two conditions: what the clusters share cancels out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from seasoned.stats.cluster import effective_clusters
from seasoned.stats.counts import as_pairs
from seasoned.stats.difference import NO_LOG, NO_RATIO, from_log, log_ratio, rate_difference
from seasoned.stats.distribution import t_tails, two_sided_t
from seasoned.stats.interval import (
    NOTHING_VARIES,
    ONE_CLUSTER,
    TOO_FEW_FAILURES,
    Estimate,
    Interval,
    check_level,
    span,
)
from seasoned.stats.resample import RESAMPLES, studentised_ends

if TYPE_CHECKING:
    from seasoned.stats.counts import Array

PairedMethod = Literal["linear", "bootstrap"]
NO_PAIRS = "no cluster was tried under both conditions"


def paired_difference(
    failures_a: Sequence[int],
    totals_a: Sequence[int],
    failures_b: Sequence[int],
    totals_b: Sequence[int],
    *,
    level: float = 0.95,
    method: PairedMethod = "linear",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """First rate minus second over clusters tried under both; position i is one cluster on both sides.

    linear: each pair left out in turn (Tukey 1958) and t. bootstrap: whole pairs redrawn, studentised.
    """
    check_level(level)
    rows = as_pairs(failures_a, totals_a, failures_b, totals_b)
    if not len(rows):
        return _answer(rows, None, None, NO_PAIRS)
    a, b = _rates(rows.sum(axis=0))
    value = float(a - b)
    if len(rows) < 2:
        return _answer(rows, value, None, ONE_CLUSTER)
    without_a, without_b = _rates(rows.sum(axis=0) - rows)
    error = _jackknife_error(without_a - without_b)
    if not error:
        return _answer(rows, value, None, NOTHING_VARIES)
    freedom = effective_clusters(rows[:, 1] + rows[:, 3]) - 1
    p_value = t_tails(value / error, freedom)
    if method == "linear":
        half = two_sided_t(level, freedom) * error
        ends: tuple[float, float] | None = value - half, value + half
    else:
        ends = studentised_ends([rows], rate_difference, level=level, resamples=resamples, seed=seed, symmetric=True)
    if ends is None:
        return _answer(rows, value, None, TOO_FEW_FAILURES, p_value)
    interval = span(max(-1.0, ends[0]), value, min(1.0, ends[1]), level, len(rows))
    return _answer(rows, value, interval, None, p_value)


def paired_ratio(
    failures_a: Sequence[int],
    totals_a: Sequence[int],
    failures_b: Sequence[int],
    totals_b: Sequence[int],
    *,
    level: float = 0.95,
    method: PairedMethod = "linear",
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """First rate by second over clusters tried under both, on the logarithm (Katz et al. 1978).

    Nothing failed in the second: None. Nothing failed in the first: 0.0 without an interval.
    """
    check_level(level)
    rows = as_pairs(failures_a, totals_a, failures_b, totals_b)
    if not len(rows):
        return _answer(rows, None, None, NO_PAIRS)
    a, b = map(float, _rates(rows.sum(axis=0)))
    if not b:
        return _answer(rows, None, None, NO_RATIO)
    value = a / b
    if len(rows) < 2:
        return _answer(rows, value, None, ONE_CLUSTER)
    if not a:
        return _answer(rows, value, None, NO_LOG.partition(";")[0])
    without_a, without_b = _rates(rows.sum(axis=0) - rows)
    # By shares of the rates and not by logarithms: a rate without one cluster can be zero.
    error = _jackknife_error(without_a / a - without_b / b)
    if not error:
        return _answer(rows, value, None, NOTHING_VARIES)
    freedom = effective_clusters(rows[:, 1] + rows[:, 3]) - 1
    p_value = t_tails(math.log(value) / error, freedom)
    if method == "linear":
        half = two_sided_t(level, freedom) * error
        ends: tuple[float, float] | None = math.log(value) - half, math.log(value) + half
    else:
        ends = studentised_ends([rows], log_ratio, level=level, resamples=resamples, seed=seed)
    interval = from_log(ends, value, level, len(rows))
    return _answer(rows, value, interval, None if interval else TOO_FEW_FAILURES, p_value)


def _rates(totals: Array) -> tuple[Array, Array]:
    return totals[..., 0] / totals[..., 1], totals[..., 2] / totals[..., 3]


def _jackknife_error(without: Array) -> float:
    """The standard error from values with one cluster left out each; rounding is no spread."""
    error = math.sqrt((len(without) - 1) * float(without.var()))
    return error if error > 1e-12 else 0.0


def _answer(
    rows: Array, value: float | None, interval: Interval | None, reason: str | None, p_value: float | None = None
) -> Estimate:
    return Estimate(value, interval, int(rows[:, [1, 3]].sum()), len(rows), reason, p_value)
