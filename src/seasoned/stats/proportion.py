"""One or two proportions of independent trials: intervals and exact tests. For clusters see `cluster`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Literal

from seasoned.errors import UsageError
from seasoned.stats.distribution import two_sided_z
from seasoned.stats.interval import NO_TRIALS, Estimate, Interval, PValue, check_level


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
    _check(failures, total, level)
    if not total:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    low, high = score_ends(failures / total, total, two_sided_z(level))
    return Estimate(failures / total, Interval(low, high, level, total), total, total)


def proportion_difference(
    failures_a: int, total_a: int, failures_b: int, total_b: int, *, level: float = 0.95
) -> Estimate:
    """First minus second, from their score intervals (Newcombe 1998, method 10)."""
    a, b = wilson(failures_a, total_a, level=level), wilson(failures_b, total_b, level=level)
    n = total_a + total_b
    if a.value is None or a.interval is None or b.value is None or b.interval is None:
        return Estimate(None, None, n, n, f"{NO_TRIALS} on one side")
    low, high = difference_ends(a.value, a.interval, b.value, b.interval)
    return Estimate(a.value - b.value, Interval(low, high, level, n), n, n)


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


def _check(failures: int, total: int, level: float) -> None:
    check_level(level)
    if not 0 <= failures <= total:
        raise UsageError(f"failures lie between 0 and the total, not {failures!r} of {total!r}")


Alternative = Literal["two-sided", "less", "greater"]
_TIE = 1e-9  # tables as likely as the observed one, up to rounding, are as extreme


def fisher(
    failures_a: int, total_a: int, failures_b: int, total_b: int, *, alternative: Alternative = "two-sided"
) -> PValue:
    """Fisher's exact test of two proportions (Fisher 1922). `less`: the first fails less than the second.

    The two-sided p value sums all tables at most as likely as the observed one.
    """
    for failures, total in ((failures_a, total_a), (failures_b, total_b)):
        if not 0 <= failures <= total:
            raise UsageError(f"failures lie between 0 and the total, not {failures!r} of {total!r}")
    n = total_a + total_b
    if not total_a or not total_b:
        return PValue(None, n, reason="there are no trials on one side")
    failed = failures_a + failures_b

    def log_mass(k: int) -> float:
        return _log_choose(total_a, k) + _log_choose(total_b, failed - k) - _log_choose(n, failed)

    support = range(max(0, failed - total_b), min(failed, total_a) + 1)
    return PValue(_tails(support, log_mass, failures_a, alternative), n)


def mcnemar(only_a: int, only_b: int, *, alternative: Alternative = "two-sided") -> PValue:
    """McNemar's test of pairs in its exact form (McNemar 1947): pairs that failed under one condition alone."""
    if only_a < 0 or only_b < 0:
        raise UsageError(f"pairs are counted from 0, not {only_a!r} and {only_b!r}")
    n = only_a + only_b
    if not n:
        return PValue(None, 0, reason="no pair differs")

    def log_mass(k: int) -> float:
        return _log_choose(n, k) - n * math.log(2)

    return PValue(_tails(range(n + 1), log_mass, only_a, alternative), n)


def sign_test(differences: Sequence[float], *, alternative: Alternative = "two-sided") -> PValue:
    """Whether differences of pairs are symmetric around zero (Arbuthnot 1710); zeros are left out."""
    above, below = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return mcnemar(above, below, alternative=alternative)


def _tails(support: range, log_mass: Callable[[int], float], seen: int, alternative: Alternative) -> float:
    masses = {k: log_mass(k) for k in support}
    if alternative == "less":
        kept = [mass for k, mass in masses.items() if k <= seen]
    elif alternative == "greater":
        kept = [mass for k, mass in masses.items() if k >= seen]
    else:
        kept = [mass for mass in masses.values() if mass <= masses[seen] + _TIE * max(1.0, abs(masses[seen]))]
    return min(1.0, math.fsum(map(math.exp, kept)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
