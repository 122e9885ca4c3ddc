"""The rule for "proficiency preserved": the ratio of the rates after and before, with an interval and a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from seasoned.outcome.error_rate import Counts
from seasoned.stats.cluster import pool, wilson_interval
from seasoned.stats.difference import paired_ratio
from seasoned.stats.difference import ratio as clustered_ratio
from seasoned.stats.distribution import two_sided_z
from seasoned.stats.interval import Estimate, Interval
from seasoned.stats.power import needed_for_ratio
from seasoned.stats.proportion import proportion_ratio, ratio_floor, wilson

TOLERANCE = 1.2  # a fifth more failures after a compression still counts as preserved
LEVEL = 0.9
LOW_RATE = 0.01  # below one failure in a hundred calls the ratio does not matter
FEWEST_CALLS = 20  # counted calls on each side; two failures in ten are an accident, not a rate

Method = Literal["calls of one lineage", "pairs of lineages", "lineages on each side"]


class BeforeAfter(msgspec.Struct, frozen=True):
    """The interval of after / before. `high` is None if nothing failed before: then the ratio has no upper end."""

    low: float
    high: float | None
    level: float
    n: int


class Judgement(msgspec.Struct, frozen=True):
    """The result of the rule. `preserved` is None if the data cannot tell, and `reason` says why."""

    preserved: bool | None
    reason: str | None
    ratio: float | None
    interval: BeforeAfter | None
    method: Method | None = None
    # Calls that would be needed to show an unchanged rate, over both sides.
    more_calls: int | None = None


def judge(before: Counts, after: Counts, *, is_cut: bool = False) -> Judgement:
    """Apply the rule to one lineage, treating its calls as independent."""
    if is_cut and not before.counted:
        return Judgement(None, "cannot tell: the session before it is missing", None, None)
    estimate = proportion_ratio(after.failed, after.counted, before.failed, before.counted, level=LEVEL)
    ends = _ends(estimate.interval)
    if ends is None and before.counted and after.counted:
        of_after = wilson(after.failed, after.counted, level=LEVEL).interval
        of_before = wilson(before.failed, before.counted, level=LEVEL).interval
        ends = _floor(after.error_rate, of_after, of_before, before.counted + after.counted)
    return _apply(before, after, estimate, ends, "calls of one lineage", 1.0)


def judge_pairs(pairs: Sequence[tuple[Counts, Counts]], before: Counts, after: Counts) -> Judgement:
    """Apply the rule over lineages: as pairs, or as clusters on each side if pairs give no interval."""
    columns = (
        [a.failed for _, a in pairs],
        [a.counted for _, a in pairs],
        [b.failed for b, _ in pairs],
        [b.counted for b, _ in pairs],
    )
    method: Method = "pairs of lineages"
    estimate = paired_ratio(*columns, level=LEVEL)
    ends = _ends(estimate.interval)
    if ends is None:
        method = "lineages on each side"
        estimate = clustered_ratio(*columns, level=LEVEL)
        ends = _ends(estimate.interval)
    if ends is None:
        of_after, of_before = (wilson_interval(pool(*side), LEVEL) for side in (columns[:2], columns[2:]))
        ends = _floor(after.error_rate, of_after, of_before, len(pairs))
    return _apply(before, after, estimate, ends, method, _spread(before, after, ends))


def _apply(
    before: Counts, after: Counts, estimate: Estimate, ends: BeforeAfter | None, method: Method, effect: float
) -> Judgement:
    """Preserved: the upper end is within the tolerance, or the rate after is low. Lost: the lower end is above it."""
    rate = after.error_rate
    if min(before.counted, after.counted) < FEWEST_CALLS or rate is None:
        reason = (
            f"cannot tell: {before.counted} calls count before and {after.counted} after, "
            f"and fewer than {FEWEST_CALLS} on a side give no rate"
        )
        return Judgement(None, reason, estimate.value, ends, method)
    if rate < LOW_RATE or (ends is not None and ends.high is not None and ends.high <= TOLERANCE):
        return Judgement(True, None, estimate.value, ends, method)
    if ends is not None and ends.low > TOLERANCE:
        return Judgement(False, None, estimate.value, ends, method)
    more, reason = _needed(before, after, effect)
    return Judgement(None, reason, estimate.value, ends, method, more)


def _needed(before: Counts, after: Counts, effect: float) -> tuple[int | None, str]:
    """How many more calls would show an unchanged rate, also as a sentence."""
    rate = (before + after).error_rate
    assert rate is not None  # there are calls on both sides
    each = needed_for_ratio(rate, TOLERANCE, design_effect=effect, level=LEVEL)
    if each.each is None:
        return None, f"cannot tell: {each.reason}"
    more = max(0, each.each - before.counted) + max(0, each.each - after.counted)
    if not more:
        return None, f"cannot tell: the ratio is too close to the tolerance of {TOLERANCE:g}"
    return more, f"cannot tell: about {_rounded(more)} more calls needed"


def _rounded(number: int) -> str:
    """Rounded to two digits: more would suggest precision."""
    digits = max(0, len(str(number)) - 2)
    return f"{round(number, -digits):,}".replace(",", " ")


def _spread(before: Counts, after: Counts, ends: BeforeAfter | None) -> float:
    """How many times the variance of the ratio's logarithm is that of as many independent calls."""
    if ends is None or ends.high is None or not ends.low or not before.failed or not after.failed:
        return 1.0
    own = sum(1 / side.failed - 1 / side.counted for side in (before, after))
    if own <= 0:
        return 1.0
    seen = math.log(ends.high / ends.low) / 2 / two_sided_z(LEVEL)
    return max(1.0, seen * seen / own)


def _ends(interval: Interval | None) -> BeforeAfter | None:
    return None if interval is None else BeforeAfter(interval.low, interval.high, interval.level, interval.n)


def _floor(rate: float | None, of_after: Interval | None, of_before: Interval | None, n: int) -> BeforeAfter | None:
    """The lower end alone, where nothing failed before and something after."""
    if not rate or of_after is None or of_before is None:
        return None
    return BeforeAfter(ratio_floor(rate, of_after, of_before), None, LEVEL, n)
