"""Whether the arms of a running experiment got as many sessions as they should."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from seasoned.stats.proportion import binomial

# A sample ratio less likely than this is not chance: assignment, logging or counting is broken.
ALARM = 0.001
_EXACT_SESSIONS = 20_000


class SampleRatio(msgspec.Struct, frozen=True):
    """Whether the arms got as many sessions as they should."""

    counts: dict[str, int]
    expected: dict[str, float]
    p_value: float | None
    is_alarm: bool


def sample_ratio(counts: Mapping[str, int], shares: Mapping[str, float]) -> SampleRatio:
    """Do the arms have the sessions they should? Two arms are counted exactly, more by Pearson's (1900) chi-square."""
    n = sum(counts.values())
    expected = {arm: n * part for arm, part in shares.items()}
    if not n:
        return SampleRatio(dict(counts), expected, None, False)
    if len(counts) == 2 and n <= _EXACT_SESSIONS:
        first = next(iter(counts))
        p_value = binomial(counts[first], n, shares[first])
    else:
        distance = math.fsum([(counts[arm] - expected[arm]) ** 2 / expected[arm] for arm in counts])
        p_value = _chi_square_above(distance, len(counts) - 1)
    return SampleRatio(dict(counts), expected, p_value, p_value < ALARM)


def _chi_square_above(distance: float, freedom: int) -> float:
    """The upper tail, as the finite sum that whole degrees of freedom have (Abramowitz & Stegun 26.4.4 and 26.4.5)."""
    half = distance / 2
    if not half:
        return 1.0
    start = 0.5 if freedom % 2 else 0.0
    terms = [start + step for step in range(freedom // 2)]
    tail = math.fsum([math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in terms])
    return min(1.0, tail + (math.erfc(math.sqrt(half)) if freedom % 2 else 0.0))
