"""Intervals, estimates and p values, checked counts by cluster, quantiles and tails. A None always has a reason."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

Ints = Sequence[int]  # one count for each cluster
ONE_CLUSTER = "an interval needs at least two clusters"
NO_TRIALS = "there are no trials"
NOTHING_VARIES = "all clusters have the same rate, so their spread is unknown"


class Interval(msgspec.Struct, frozen=True):
    """A confidence interval; `n` is the number of independent units behind it."""

    low: float
    high: float
    level: float
    n: int


class Estimate(msgspec.Struct, frozen=True):
    """A value and its interval. If one of them is None, `reason` says why."""

    value: float | None
    interval: Interval | None
    n: int  # trials
    clusters: int
    reason: str | None = None
    p_value: float | None = None  # of no effect, for estimates of an effect


class PValue(msgspec.Struct, frozen=True):
    """A p value. `exact`: every arrangement was counted."""

    value: float | None
    n: int
    exact: bool = True
    reason: str | None = None


def span(low: float, value: float, high: float, level: float, n: int) -> Interval:
    """An interval that contains its estimate despite rounding or an asymmetric method."""
    return Interval(min(low, value), max(high, value), level, n)


def as_counts(failures: Ints | Array, totals: Ints | Array) -> Array:
    """One row (failures, total) for each cluster with trials; empty clusters are dropped."""
    rows = raw_counts(failures, totals)
    # A cluster without trials has no rate, and would still count as a unit.
    return rows[rows[:, 1] > 0]


def as_pairs(failures_a: Ints, totals_a: Ints, failures_b: Ints, totals_b: Ints) -> Array:
    """One row (failures, total, failures, total) for each cluster that was tried under both conditions."""
    import numpy as np

    a, b = raw_counts(failures_a, totals_a), raw_counts(failures_b, totals_b)
    if len(a) != len(b):
        raise UsageError(f"Pairs need the same clusters on both sides, not {len(a)!r} and {len(b)!r}.")
    rows = np.hstack([a, b])
    return rows[(rows[:, 1] > 0) & (rows[:, 3] > 0)]


def raw_counts(failures: Ints | Array, totals: Ints | Array) -> Array:
    """One row for each cluster, also empty ones."""
    import numpy as np

    if len(failures) != len(totals):
        raise UsageError(
            f"Each cluster needs failures and a total; there are {len(failures)!r} and {len(totals)!r} of them."
        )
    rows = np.column_stack([np.asarray(failures, dtype=float), np.asarray(totals, dtype=float)])
    # Negated, so that NaN is refused as well: every comparison with it is false.
    wrong = ~((rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 1]) & np.isfinite(rows[:, 1]))
    if wrong.any():
        first = rows[wrong][0].tolist()
        raise UsageError(f"Failures must be between 0 and the total, not {first[0]!r} of {first[1]!r}.")
    return rows


_NORMAL = NormalDist()


def normal_quantile(probability: float) -> float:
    """The quantile of the standard normal distribution."""
    return _NORMAL.inv_cdf(probability)


def normal_below(value: float) -> float:
    """The cumulative probability of the standard normal distribution."""
    return _NORMAL.cdf(value)


def two_sided_z(level: float) -> float:
    """The normal quantile of a two-sided interval: 1.96 for 0.95."""
    return normal_quantile((1 + level) / 2)


def two_sided_t(level: float, freedom: float) -> float:
    """The quantile of Student's t (1908) for a two-sided interval."""
    return float(_special().stdtrit(freedom, (1 + level) / 2))


def t_tails(statistic: float, freedom: float) -> float:
    """The two-sided tail probability of Student's t."""
    return min(1.0, 2 * float(_special().stdtr(freedom, -abs(statistic))))


def _special() -> Any:
    """Imported on first use: the core must start without scipy."""
    import scipy.special  # type: ignore[import-untyped]  # its stubs are a package of their own

    return scipy.special


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p values in the given order, controlling the family-wise error rate (Holm 1979).

    None means that a test was not made; it stays None and does not count.
    """
    for p_value in p_values:
        if p_value is not None and not 0 <= p_value <= 1:
            raise UsageError(f"A p value must be between 0 and 1, not {p_value!r}.")
    made = sorted((p_value, index) for index, p_value in enumerate(p_values) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for place, (p_value, index) in enumerate(made):
        # Monotone, so that a larger p value never becomes more significant.
        largest = max(largest, min(1.0, (len(made) - place) * p_value))
        adjusted[index] = largest
    return tuple(adjusted)
