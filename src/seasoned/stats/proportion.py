"""One proportion of independent trials, and two of them: no clusters here. `cluster` has those."""

from __future__ import annotations

from seasoned.errors import UsageError
from seasoned.stats.distribution import beta_quantile, two_sided_z
from seasoned.stats.interval import NO_TRIALS, Estimate, Interval, check_level
from seasoned.stats.mover import difference_ends, ratio_ends


def wilson(failures: int, total: int, *, level: float = 0.95) -> Estimate:
    """The score interval of one proportion (Wilson 1927)."""
    _check(failures, total, level)
    if not total:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    low, high = score_ends(failures / total, total, two_sided_z(level))
    return Estimate(failures / total, Interval(low, high, level, total), total, total)


def clopper_pearson(failures: int, total: int, *, level: float = 0.95) -> Estimate:
    """The exact interval of one proportion: never covers less than it says (Clopper & Pearson 1934)."""
    _check(failures, total, level)
    if not total:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    tail = (1 - level) / 2
    low = beta_quantile(tail, failures, total - failures + 1) if failures else 0.0
    high = beta_quantile(1 - tail, failures + 1, total - failures) if failures < total else 1.0
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
        return Estimate(None, None, n, n, "nothing failed in the second, so there is no ratio to it")
    low, high = ratio_ends(a.value, a.interval, b.value, b.interval)
    return Estimate(a.value / b.value, Interval(low, high, level, n), n, n)


def score_ends(rate: float, n: float, deviate: float) -> tuple[float, float]:
    """Wilson's ends for a rate over `n` trials; `n` may be an effective one and so no whole number."""
    square = deviate * deviate
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = deviate / (1 + square / n) * (rate * (1 - rate) / n + square / (4 * n * n)) ** 0.5
    # At rates of 0 and 1 the end is the rate itself; rounding must not move it.
    low = 0.0 if rate <= 0 else max(0.0, middle - half)
    high = 1.0 if rate >= 1 else min(1.0, middle + half)
    return min(low, rate), max(high, rate)


def _check(failures: int, total: int, level: float) -> None:
    check_level(level)
    if not 0 <= failures <= total:
        raise UsageError(f"failures lie between 0 and the total, not {failures!r} of {total!r}")
