"""Tests that count every arrangement, for independent trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

from seasoned.errors import UsageError
from seasoned.stats.interval import PValue

Alternative = Literal["two-sided", "less", "greater"]
_TIE = 1e-9
"""Arrangements as likely as the one seen, up to rounding, are as extreme."""


def fisher(
    failures_a: int, total_a: int, failures_b: int, total_b: int, *, alternative: Alternative = "two-sided"
) -> PValue:
    """Fisher's exact test of two proportions (Fisher 1922). `less`: the first fails less than the second.

    Two-sided sums every table that is no more likely than the one seen.
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
    """Whether differences of pairs lie on both sides of zero alike (Arbuthnot 1710); zeros are left out."""
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
