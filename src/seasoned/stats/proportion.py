"""Rates of independent trials (one or two proportions: intervals, exact tests, power) and of clustered trials.

Trials of one cluster resemble each other, so there clusters are the units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import UsageError
from seasoned.stats.interval import (
    NO_TRIALS,
    ONE_CLUSTER,
    Estimate,
    Interval,
    Ints,
    PValue,
    as_counts,
    normal_below,
    normal_quantile,
    two_sided_t,
    two_sided_z,
)

if TYPE_CHECKING:
    from seasoned.stats.interval import Array


def difference_ends(a: float, of_a: Interval, b: float, of_b: Interval) -> tuple[float, float]:
    """Ends for a − b, the sides being independent (Zou & Donner 2008)."""
    low = a - b - sqrt((a - of_a.low) ** 2 + (of_b.high - b) ** 2)
    high = a - b + sqrt((of_a.high - a) ** 2 + (b - of_b.low) ** 2)
    return max(-1.0, low), min(1.0, high)


def ratio_ends(a: float, of_a: Interval, b: float, of_b: Interval) -> tuple[float, float]:
    """Ends for a / b, the sides being independent and b's interval above zero (Donner & Zou 2012)."""
    product = a * b
    above, below = of_a.low * (2 * a - of_a.low), of_b.high * (2 * b - of_b.high)
    # The published (product - root) / below, rearranged so that below = 0 works.
    low = above / (product + sqrt(max(0.0, product * product - above * below))) if above > 0 else 0.0
    above, below = of_a.high * (2 * a - of_a.high), of_b.low * (2 * b - of_b.low)
    high = (product + sqrt(max(0.0, product * product - above * below))) / below
    return min(low, a / b), max(high, a / b)


def ratio_floor(a: float, of_a: Interval, of_b: Interval) -> float:
    """The lower end for a / b where b is 0: the ratio has no upper end, and this one is the limit of `ratio_ends`.

    With b = 0 the product vanishes and the published root leaves √(l (2a − l)) / h, where l is the lower end of a and
    h the upper end of b (Donner & Zou 2012). Nothing is added to a count, and h > 0 as soon as b has any trials.
    """
    return sqrt(max(0.0, of_a.low * (2 * a - of_a.low))) / of_b.high


def wilson(failures: int, total: int, *, level: float = 0.95) -> Estimate:
    """The score interval of one proportion (Wilson 1927)."""
    _check(failures, total)
    if not total:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    low, high = score_ends(failures / total, total, two_sided_z(level))
    return Estimate(failures / total, Interval(low, high, level, total), total, total)


def proportion_difference(failures_a: int, total_a: int, failures_b: int, total_b: int) -> Estimate:
    """First minus second, from their score intervals (Newcombe 1998, method 10)."""
    a, b = wilson(failures_a, total_a), wilson(failures_b, total_b)
    n = total_a + total_b
    if a.value is None or a.interval is None or b.value is None or b.interval is None:
        return Estimate(None, None, n, n, f"{NO_TRIALS} on one side")
    low, high = difference_ends(a.value, a.interval, b.value, b.interval)
    return Estimate(a.value - b.value, Interval(low, high, a.interval.level, n), n, n)


def proportion_ratio(failures_a: int, total_a: int, failures_b: int, total_b: int, *, level: float = 0.95) -> Estimate:
    """First by second, from their score intervals (Donner & Zou 2012). None when nothing failed in the second."""
    a, b = wilson(failures_a, total_a, level=level), wilson(failures_b, total_b, level=level)
    n = total_a + total_b
    if a.value is None or a.interval is None or b.value is None or b.interval is None:
        return Estimate(None, None, n, n, f"{NO_TRIALS} on one side")
    if not b.value:
        return Estimate(None, None, n, n, "nothing failed in the second, so there is no ratio")
    low, high = ratio_ends(a.value, a.interval, b.value, b.interval)
    return Estimate(a.value / b.value, Interval(low, high, level, n), n, n)


def score_ends(rate: float, n: float, deviate: float) -> tuple[float, float]:
    """Wilson's ends for a rate over `n` trials; `n` may be an effective number and so a fraction."""
    square = deviate * deviate
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = deviate / (1 + square / n) * (rate * (1 - rate) / n + square / (4 * n * n)) ** 0.5
    # At rates of 0 and 1 the end is the rate itself, without rounding errors.
    low = 0.0 if rate <= 0 else max(0.0, middle - half)
    high = 1.0 if rate >= 1 else min(1.0, middle + half)
    return min(low, rate), max(high, rate)


def _check(failures: int, total: int) -> None:
    if not 0 <= failures <= total:
        raise UsageError(f"Failures must be between 0 and the total, not {failures!r} of {total!r}.")


_TIE = 1e-9  # tables as likely as the observed one, up to rounding, are as extreme


def fisher(failures_a: int, total_a: int, failures_b: int, total_b: int) -> PValue:
    """Fisher's exact test of two proportions (Fisher 1922): all tables at most as likely as the observed one."""
    _check(failures_a, total_a)
    _check(failures_b, total_b)
    n = total_a + total_b
    if not total_a or not total_b:
        return PValue(None, n, reason="there are no trials on one side")
    failed = failures_a + failures_b

    def log_mass(k: int) -> float:
        return _log_choose(total_a, k) + _log_choose(total_b, failed - k) - _log_choose(n, failed)

    support = range(max(0, failed - total_b), min(failed, total_a) + 1)
    return PValue(_tails(support, log_mass, failures_a), n)


def sign_test(differences: Sequence[float]) -> PValue:
    """Whether differences of pairs are symmetric around zero (Arbuthnot 1710); zeros are left out."""
    above, below = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    if not above + below:
        return PValue(None, 0, reason="no pair differs")
    return PValue(binomial(above, above + below, 0.5), above + below)


def binomial(successes: int, trials: int, rate: float, *, is_above: bool = False) -> float:
    """The probability of a count at least as extreme as this one, at a known rate between 0 and 1.

    `is_above`: only counts that are as large.
    """
    log_p, log_q = math.log(rate), math.log1p(-rate)

    def log_mass(k: int) -> float:
        return _log_choose(trials, k) + k * log_p + (trials - k) * log_q

    return _tails(range(trials + 1), log_mass, successes, is_above=is_above)


def _tails(support: range, log_mass: Callable[[int], float], seen: int, *, is_above: bool = False) -> float:
    masses = {k: log_mass(k) for k in support}
    if is_above:
        kept = [mass for k, mass in masses.items() if k >= seen]
    else:
        kept = [mass for mass in masses.values() if mass <= masses[seen] + _TIE * max(1.0, abs(masses[seen]))]
    return min(1.0, math.fsum(map(math.exp, kept)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


POWER = 0.8  # the chance to find a change that a comparison should have
# More halvings would be below the precision of a double.
_HALVINGS = 60


class Detectable(msgspec.Struct, frozen=True):
    """The smallest detectable change of a rate. None if even the largest possible one is not detectable."""

    rise: float | None
    fall: float | None
    reason: str | None = None


def power(rate_a: float, rate_b: float, n_a: int, n_b: int, *, design_effect: float = 1.0) -> float | None:
    """The chance that a two-sided test finds the difference (Fleiss 1981, without continuity correction).

    Variances are those of independent trials times the design effect (Kish 1965). None without trials.
    """
    if not (0 <= rate_a <= 1 and 0 <= rate_b <= 1):
        raise UsageError(f"A rate must be between 0 and 1, not {rate_a!r} or {rate_b!r}.")
    if n_a < 1 or n_b < 1:
        return None
    pooled = (rate_a * n_a + rate_b * n_b) / (n_a + n_b)
    under_null = math.sqrt(design_effect * pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    own = math.sqrt(design_effect * (rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b))
    beyond = abs(rate_a - rate_b) - two_sided_z(0.95) * under_null
    if not own:
        # Rates of 0 and 1 have no variance.
        return 1.0 if beyond > 0 else 0.0
    return normal_below(beyond / own)


def detectable(rate: float, n_a: int, n_b: int, *, design_effect: float = 1.0) -> Detectable:
    """The smallest rise and fall from a rate that are detectable with a power of 80 %."""
    if n_a < 1 or n_b < 1:
        return Detectable(None, None, "there are no trials on one side")
    rise = _smallest(rate, 1 - rate, 1.0, n_a, n_b, design_effect)
    fall = _smallest(rate, rate, -1.0, n_a, n_b, design_effect)
    blind = [name for name, found in (("rise", rise), ("fall", fall)) if found is None]
    return Detectable(rise, fall, f"too few trials to find any {' or '.join(blind)}" if blind else None)


def needed_for_ratio(rate: float, largest: float, *, level: float = 0.9) -> int | None:
    """Trials on each side until an unchanged rate is shown to be below `largest` times the first (Katz et al. 1978).

    None at a rate of 0 or 1, where no ratio can be measured.
    """
    if not 0 < rate < 1:
        return None
    deviates = two_sided_z(level) + normal_quantile(POWER)
    trials = 2 * (1 - rate) / rate * (deviates / math.log(largest)) ** 2
    # Rounded up, ignoring floating-point noise.
    return max(1, math.ceil(trials - 1e-9 * trials))


def _smallest(rate: float, reach: float, sign: float, n_a: int, n_b: int, design_effect: float) -> float | None:
    """By bisection: the power grows with the difference."""

    def found(change: float) -> bool:
        other = min(1.0, max(0.0, rate + sign * change))
        return (power(rate, other, n_a, n_b, design_effect=design_effect) or 0.0) >= POWER

    if not reach or not found(reach):
        return None
    unseen, seen = 0.0, reach
    for _ in range(_HALVINGS):
        middle = (unseen + seen) / 2
        unseen, seen = (unseen, middle) if found(middle) else (middle, seen)
    return seen


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


def pool(failures: Ints, totals: Ints) -> Pooled:
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


def rate(failures: Ints | Array, totals: Ints | Array, *, level: float = 0.95) -> Estimate:
    """All failures over all trials, with an interval that is valid for clustered trials."""
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
