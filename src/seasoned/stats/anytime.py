"""Intervals that stay valid under continuous monitoring: after every cluster, with optional stopping.

They are confidence sequences by betting (Waudby-Smith & Ramdas 2024, hedged capital): a bettor
who multiplies the stake by 2/α has evidence against a rate, and fair bets do so with a probability of at most α/2 at
any time (Ville 1939). Nothing is asymptotic. The unit is the cluster, in the order of arrival.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from seasoned.errors import UsageError
from seasoned.stats.interval import Estimate, span

if TYPE_CHECKING:
    from seasoned.stats.interval import Array

# The largest share of the capital at risk on one cluster. Less would loosen the upper bound of low rates.
_STAKE = 0.9
# 2^-40 is far below any digit that is shown.
_HALVINGS = 40
CONTRADICTION = "the data is inconsistent: the rate has probably changed along the way"
NO_VALUES = "there are no values"


def mean_sequence(values: Sequence[float], *, level: float = 0.95) -> Estimate:
    """The mean of values in [0, 1], one for each cluster (Waudby-Smith & Ramdas 2024)."""
    x = _bounded(values)
    if not len(x):
        return Estimate(None, None, 0, 0, NO_VALUES)
    return _estimate(x, len(x), level)


def difference_sequence(values_a: Sequence[float], values_b: Sequence[float], *, level: float = 0.95) -> Estimate:
    """First mean minus second, one value in [0, 1] for each cluster; the k-th value of one side is paired
    with the k-th of the other; the rest waits. The p value is also valid at any time.
    """
    pairs = min(len(values_a), len(values_b))
    a, b = _bounded(values_a)[:pairs], _bounded(values_b)[:pairs]
    if not pairs:
        return Estimate(None, None, 0, 0, f"{NO_VALUES} on one side")
    # Mapped from [-1, 1] to [0, 1], where the bets are defined.
    x = (a - b + 1) / 2
    half = _estimate(x, 2 * pairs, level)
    assert half.value is not None  # there are pairs
    value = float(a.mean() - b.mean())
    bets = _bets(x, level)
    p_value = min(1.0, 2 * math.exp(-max(_largest(x, bets, 0.5, sign) for sign in (1, -1))))
    if half.interval is None:
        return Estimate(value, None, half.n, 2 * pairs, half.reason, p_value)
    interval = span(2 * half.interval.low - 1, value, 2 * half.interval.high - 1, level, 2 * pairs)
    return Estimate(value, interval, half.n, 2 * pairs, p_value=p_value)


def _estimate(x: Array, n: int, level: float) -> Estimate:
    """The mean with the intersection of all intervals so far."""
    value = float(x.mean())
    low, high = _end(x, 1, level), _end(x, -1, level)
    if low > high:
        return Estimate(value, None, n, len(x), CONTRADICTION)
    return Estimate(value, span(low, value, high, level, len(x)), n, len(x))


def _end(x: Array, sign: int, level: float) -> float:
    """The outermost rate that was never refuted, by bisection: the capital falls as the rate moves inwards."""
    enough, bets = math.log(2 / (1 - level)), _bets(x, level)
    refuted, open_ = (0.0, 1.0) if sign > 0 else (1.0, 0.0)
    if _largest(x, bets, refuted, sign) < enough:
        return refuted
    for _ in range(_HALVINGS):
        middle = (refuted + open_) / 2
        if _largest(x, bets, middle, sign) >= enough:
            refuted = middle
        else:
            open_ = middle
    # The refuted neighbour, so that bisection never makes the interval too narrow.
    return refuted


def _largest(x: Array, bets: Array, rate: float, sign: int) -> float:
    """The logarithm of the largest capital ever reached by betting that the mean is above (+1) or below (−1) a rate."""
    import numpy as np

    reach = rate if sign > 0 else 1 - rate
    # Never more than the bettor has: the capital must stay positive for the bound to hold.
    stakes = np.minimum(bets, _STAKE / reach if reach > 0 else math.inf)
    return float(np.cumsum(np.log1p(sign * stakes * (x - rate))).max())


def _bets(x: Array, level: float) -> Array:
    """Bets that know only the clusters before (predictable plug-in: Waudby-Smith & Ramdas 2024, eq. 26)."""
    import numpy as np

    times = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (1 + times)
    squares = np.cumsum((x - means) ** 2)
    # Shifted by one: a bet that knew its own outcome would not be fair.
    variance = (0.25 + np.concatenate([[0.0], squares[:-1]])) / times
    return np.sqrt(2 * math.log(2 / (1 - level)) / (variance * times * np.log(times + 1)))


def _bounded(values: Sequence[float]) -> Array:
    import numpy as np

    x = np.asarray(values, dtype=float)
    wrong = ~((x >= 0) & (x <= 1))
    if wrong.any():
        raise UsageError(f"Values must be between 0 and 1, not {float(x[wrong][0])!r}.")
    return x
