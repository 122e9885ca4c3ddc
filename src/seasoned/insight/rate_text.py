"""Rates, differences and intervals as text."""

from __future__ import annotations

from seasoned.stats.interval import Estimate


def share(value: float | None) -> str:
    """`5.7 %`; a dash for what is unknown."""
    return "–" if value is None else f"{100 * value:.1f} %"


def points(value: float, *, signed: bool = False) -> str:
    """A difference of two rates: `3.1 points`."""
    return f"{_signed(value) if signed else f'{100 * value:.1f}'} points"


def points_between(estimate: Estimate) -> str:
    """`−1.2 points (99 % interval −2.0 to −0.4)`."""
    if estimate.value is None:
        return f"unknown ({estimate.reason})"
    value = points(estimate.value, signed=True)
    if estimate.interval is None:
        return f"{value} (no interval: {estimate.reason})"
    low, high, level = estimate.interval.low, estimate.interval.high, estimate.interval.level
    return f"{value} ({100 * level:g} % interval {_signed(low)} to {_signed(high)})"


def share_between(estimate: Estimate) -> str:
    """`5.7 % (95 % interval 3.1 to 9.9), 12 of 210 calls`."""
    if estimate.value is None:
        return f"unknown: {estimate.reason}"
    of = f"{round(estimate.value * estimate.n)} of {estimate.n} calls"
    if estimate.interval is None:
        return f"{share(estimate.value)}, {of} (no interval: {estimate.reason})"
    low, high, level = estimate.interval.low, estimate.interval.high, estimate.interval.level
    return f"{share(estimate.value)} ({100 * level:g} % interval {100 * low:.1f} to {100 * high:.1f}), {of}"


def _signed(value: float) -> str:
    """In hundredths with a real minus sign; zero has no sign."""
    shown = f"{100 * value:+.1f}".replace("-", "−")
    return shown[1:] if shown[1:] == "0.0" else shown
