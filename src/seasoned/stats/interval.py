"""The vocabulary: an interval, an estimate with its interval, a p value. None comes with a reason."""

from __future__ import annotations

from typing import Literal

import msgspec

from seasoned.errors import UsageError

Method = Literal["wilson", "linear", "bootstrap"]

ONE_CLUSTER = "an interval needs at least two clusters"
NO_TRIALS = "there are no trials"
NOTHING_VARIES = "all clusters have the same rate, so their spread is unknown"
TOO_FEW_FAILURES = "failures lie in too few clusters to resample them"


class Interval(msgspec.Struct, frozen=True):
    """Where a value lies at a level of confidence; `n` counts the independent units it rests on."""

    low: float
    high: float
    level: float
    n: int


class Estimate(msgspec.Struct, frozen=True):
    """A value and its interval. Where one of them is None, `reason` says why."""

    value: float | None
    interval: Interval | None
    n: int
    """Trials."""
    clusters: int
    reason: str | None = None
    p_value: float | None = None
    """Of no effect, for estimates of an effect."""


class PValue(msgspec.Struct, frozen=True):
    """How often chance alone would give as much as was seen. `exact`: every arrangement was counted."""

    value: float | None
    n: int
    exact: bool = True
    reason: str | None = None


def check_level(level: float) -> None:
    """Refuses a level that is no probability, such as 95."""
    if not 0 < level < 1:
        raise UsageError(f"a level lies between 0 and 1, not {level!r}: say 0.95 for 95 %")


def span(low: float, value: float, high: float, level: float, n: int) -> Interval:
    """An interval that holds its estimate, whatever rounding or an asymmetric method did to its ends."""
    return Interval(min(low, value), max(high, value), level, n)
