"""Quantiles, tails and Holm's correction. From scipy.special: scipy.stats takes a second to import."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from seasoned.errors import UsageError

_NORMAL = NormalDist()


def normal_quantile(probability: float) -> float:
    """The value below which the standard normal lies with this probability."""
    return _NORMAL.inv_cdf(probability)


def normal_below(value: float) -> float:
    """The probability that the standard normal lies below a value."""
    return _NORMAL.cdf(value)


def two_sided_z(level: float) -> float:
    """The normal quantile of a two-sided interval: 1.96 for 0.95."""
    return normal_quantile((1 + level) / 2)


def two_sided_t(level: float, freedom: float) -> float:
    """The quantile of Student's t (1908) for a two-sided interval."""
    return float(_special().stdtrit(freedom, (1 + level) / 2))


def t_tails(statistic: float, freedom: float) -> float:
    """The probability that Student's t lies as far from zero as this, on either side."""
    return min(1.0, 2 * float(_special().stdtr(freedom, -abs(statistic))))


def _special() -> Any:
    """Import on first use: the core must start without scipy."""
    import scipy.special  # type: ignore[import-untyped]  # its stubs are a package of their own

    return scipy.special


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p values in the given order, controlling the family-wise error rate (Holm 1979).

    None means that a test was not made; it stays None and does not count.
    """
    for p_value in p_values:
        if p_value is not None and not 0 <= p_value <= 1:
            raise UsageError(f"a p value lies between 0 and 1, not {p_value!r}")
    made = sorted((p_value, index) for index, p_value in enumerate(p_values) if p_value is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for place, (p_value, index) in enumerate(made):
        # Monotone, so that a larger p value never becomes more significant.
        largest = max(largest, min(1.0, (len(made) - place) * p_value))
        adjusted[index] = largest
    return tuple(adjusted)
