"""The power of a comparison of two rates, the smallest detectable difference, and the trials it needs."""

from __future__ import annotations

import math

import msgspec

from seasoned.errors import UsageError
from seasoned.stats.distribution import normal_below, normal_quantile, two_sided_z
from seasoned.stats.interval import check_level

# More halvings would be below the precision of a double.
_HALVINGS = 60


class Detectable(msgspec.Struct, frozen=True):
    """The smallest detectable change of a rate. None if even the largest possible one is not detectable."""

    rise: float | None
    fall: float | None
    reason: str | None = None


class NeededTrials(msgspec.Struct, frozen=True):
    """How many trials each side needs."""

    each: int | None
    reason: str | None = None


def power(
    rate_a: float, rate_b: float, n_a: int, n_b: int, *, design_effect: float = 1.0, level: float = 0.95
) -> float | None:
    """The chance that a two-sided test finds the difference (Fleiss 1981, without continuity correction).

    Variances are those of independent trials times the design effect (Kish 1965). None without trials.
    """
    _check(rate_a, rate_b, design_effect, level)
    if n_a < 1 or n_b < 1:
        return None
    pooled = (rate_a * n_a + rate_b * n_b) / (n_a + n_b)
    under_null = math.sqrt(design_effect * pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    own = math.sqrt(design_effect * (rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b))
    beyond = abs(rate_a - rate_b) - two_sided_z(level) * under_null
    if not own:
        # Rates of 0 and 1 have no variance.
        return 1.0 if beyond > 0 else 0.0
    return normal_below(beyond / own)


def detectable(
    rate: float, n_a: int, n_b: int, *, power: float = 0.8, design_effect: float = 1.0, level: float = 0.95
) -> Detectable:
    """The smallest rise and fall from a rate that are detectable with this power."""
    _check(rate, rate, design_effect, level)
    _check_power(power)
    if n_a < 1 or n_b < 1:
        return Detectable(None, None, "there are no trials on one side")
    rise = _smallest(rate, 1 - rate, 1.0, n_a, n_b, power, design_effect, level)
    fall = _smallest(rate, rate, -1.0, n_a, n_b, power, design_effect, level)
    blind = [name for name, found in (("rise", rise), ("fall", fall)) if found is None]
    return Detectable(rise, fall, f"too few trials to find any {' or '.join(blind)}" if blind else None)


def needed_for_ratio(
    rate: float, largest: float, *, power: float = 0.8, design_effect: float = 1.0, level: float = 0.9
) -> NeededTrials:
    """Trials on each side until an unchanged rate is shown to be below `largest` times the first (Katz et al. 1978)."""
    _check(rate, rate, design_effect, level)
    _check_power(power)
    if not largest > 1:
        raise UsageError(f"a tolerated ratio is larger than 1, not {largest!r}")
    if not 0 < rate < 1:
        return NeededTrials(None, f"at a rate of {rate:g} a ratio cannot be measured")
    deviates = two_sided_z(level) + normal_quantile(power)
    return NeededTrials(_whole(design_effect * 2 * (1 - rate) / rate * (deviates / math.log(largest)) ** 2))


def _smallest(
    rate: float, reach: float, sign: float, n_a: int, n_b: int, wanted: float, design_effect: float, level: float
) -> float | None:
    """By bisection: the power grows with the difference."""

    def found(change: float) -> bool:
        other = min(1.0, max(0.0, rate + sign * change))
        return (power(rate, other, n_a, n_b, design_effect=design_effect, level=level) or 0.0) >= wanted

    if not reach or not found(reach):
        return None
    unseen, seen = 0.0, reach
    for _ in range(_HALVINGS):
        middle = (unseen + seen) / 2
        unseen, seen = (unseen, middle) if found(middle) else (middle, seen)
    return seen


def _whole(trials: float) -> int:
    """Rounded up, ignoring floating-point noise."""
    return max(1, math.ceil(trials - 1e-9 * trials))


def _check(rate_a: float, rate_b: float, design_effect: float, level: float) -> None:
    check_level(level)
    if not (0 <= rate_a <= 1 and 0 <= rate_b <= 1):
        raise UsageError(f"a rate lies between 0 and 1, not {rate_a!r} or {rate_b!r}")
    if not design_effect > 0:
        raise UsageError(f"a design effect is larger than 0, not {design_effect!r}")


def _check_power(power: float) -> None:
    if not 0 < power < 1:
        raise UsageError(f"a power lies between 0 and 1, not {power!r}")
