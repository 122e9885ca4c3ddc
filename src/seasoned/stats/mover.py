"""Intervals of a difference and of a ratio from the intervals of their two sides: variance estimates recovery."""

from __future__ import annotations

from math import sqrt

from seasoned.stats.interval import Interval


def difference_ends(a: float, of_a: Interval, b: float, of_b: Interval) -> tuple[float, float]:
    """Ends for a − b, the sides being independent (Zou & Donner 2008)."""
    low = a - b - sqrt((a - of_a.low) ** 2 + (of_b.high - b) ** 2)
    high = a - b + sqrt((of_a.high - a) ** 2 + (b - of_b.low) ** 2)
    return max(-1.0, low), min(1.0, high)


def ratio_ends(a: float, of_a: Interval, b: float, of_b: Interval) -> tuple[float, float]:
    """Ends for a / b, the sides being independent and b's interval above zero (Donner & Zou 2012)."""
    product = a * b
    above, below = of_a.low * (2 * a - of_a.low), of_b.high * (2 * b - of_b.high)
    # The published (product - root) / below, turned over so that below = 0 does no harm.
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
