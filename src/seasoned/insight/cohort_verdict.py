"""The verdict of the report: one answer from a fixed set, with its reasons."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from seasoned.insight.cohort import LEVEL, Cohort
from seasoned.insight.rate_text import points, points_between, share
from seasoned.stats.distribution import holm, normal_quantile
from seasoned.stats.interval import Estimate

CohortAnswer = Literal[
    "improves with experience",
    "degrades",
    "no detectable change",
    "the difference between lengths is selection",
    "not enough data",
]
# The smallest change worth reporting: three points, or half the error rate if that is more.
LEAST_CHANGE = 0.03
GAP_ALPHA = 0.1  # one-sided, for the difference between lengths that selection explains
POWER = 0.8
# Below these, one unusual session decides the trend.
FEWEST_SESSIONS = 10
FEWEST_CALLS = 100


class CohortVerdict(msgspec.Struct, frozen=True):
    """One answer, its reasons, and how much data would be needed if there is not enough."""

    answer: CohortAnswer
    sentence: str
    reasons: tuple[str, ...]
    sessions_needed: int | None = None
    # The change within sessions that would be found with a power of 0.8.
    smallest_detectable: float | None = None


def verdict(found: Cohort) -> CohortVerdict:
    """The verdict on a cohort. A trend within sessions outranks differences between sessions."""
    reasons = _reasons(found)
    within = found.trend.within
    smallest = _smallest_detectable(within)
    worth = _worth(found)
    sessions, calls = found.overall.sessions, found.overall.calls
    if within.value is None or within.interval is None or sessions < FEWEST_SESSIONS or calls < FEWEST_CALLS:
        why = within.reason or f"{sessions} sessions with {calls} counted calls are too few for a trend"
        needed = _needed(smallest, worth, sessions)
        return CohortVerdict("not enough data", _not_enough(why, needed), reasons, needed, smallest)
    # A trend is claimed before selection is looked for: within a session, the session is its own control.
    if _is_claimed(found):
        answer: CohortAnswer = "improves with experience" if within.value < 0 else "degrades"
        return CohortVerdict(answer, _claim(found), reasons, smallest_detectable=smallest)
    if _is_selection(found):
        sentence = (
            "Sessions of different lengths differ because of which sessions end early, not because of what happens "
            "along the way: within sessions no change is visible."
        )
        return CohortVerdict(
            "the difference between lengths is selection", sentence, reasons, smallest_detectable=smallest
        )
    if smallest is None or smallest > worth:
        needed = _needed(smallest, worth, sessions)
        why = f"a change of {points(worth)} from first to last call could be missed here"
        return CohortVerdict("not enough data", _not_enough(why, needed), reasons, needed, smallest)
    sentence = (
        f"Within sessions the error rate shows no detectable change; a change of {points(smallest)} "
        "from first to last call would have been found four times in five."
    )
    return CohortVerdict("no detectable change", sentence, reasons, smallest_detectable=smallest)


def _is_claimed(found: Cohort) -> bool:
    """The interval excludes zero, also with longer endings left out."""
    within, short = found.trend.within, found.trend.short
    if within.value is None or within.interval is None or within.interval.low <= 0 <= within.interval.high:
        return False
    # A failure that ends a session makes late calls look worse; what remains without endings is a change.
    return short.value is not None and short.value * within.value > 0 and (short.p_value or 1.0) < 0.05


def _is_selection(found: Cohort) -> bool:
    """Sessions that end differ from those that go on at equal positions, and lengths differ in the implied direction.

    The first test is strict and fixes the direction, so the second is one-sided.
    """
    gap = found.length_difference
    if gap.value is None or gap.p_value is None or gap.p_value / 2 > GAP_ALPHA:
        return False
    ended, last_call = found.survivors.ended, found.survivors.last_call
    adjusted = holm([ended.p_value, last_call.p_value])
    return any(
        p is not None and p < 1 - LEVEL and (estimate.value or 0.0) * gap.value > 0
        for p, estimate in zip(adjusted, (ended, last_call), strict=True)
    )


def _worth(found: Cohort) -> float:
    return max(LEAST_CHANGE, (found.overall.rate.value or 0.0) / 2)


def _smallest_detectable(within: Estimate) -> float | None:
    """The smallest detectable change, from the width of the interval and the power."""
    if within.interval is None:
        return None
    half = (within.interval.high - within.interval.low) / 2
    deviate = normal_quantile((1 + LEVEL) / 2)
    return half * (deviate + normal_quantile(POWER)) / deviate


def _needed(smallest: float | None, worth: float, sessions: int) -> int | None:
    """How many sessions like these would show a change worth reporting; errors shrink with the square root."""
    if smallest is None:
        return None
    return max(FEWEST_SESSIONS, math.ceil(sessions * (smallest / worth) ** 2))


def _not_enough(why: str, needed: int | None) -> str:
    how_much = f"about {needed} sessions like these would be needed" if needed else "more sessions are needed"
    return f"There is not enough data to tell: {why}; {how_much}."


def _claim(found: Cohort) -> str:
    value = found.trend.within.value or 0.0
    way = "falls" if value < 0 else "rises"
    return (
        f"Within sessions the error rate {way} by {points(abs(value))} from the first call to the last, each session "
        "compared with itself and the tool mix held fixed."
    )


def _reasons(found: Cohort) -> tuple[str, ...]:
    sentences = [_trend_reason(found), _length_reason(found), _ending_reason(found), _mix_reason(found)]
    return tuple(sentence for sentence in sentences if sentence)


def _trend_reason(found: Cohort) -> str:
    within = found.trend.within
    if within.value is None or within.interval is None:
        return f"The change within sessions is unknown: {within.reason}."
    return (
        f"Change within sessions from first call to last, tool mix held fixed and endings left out: "
        f"{points_between(within)} over {within.clusters} lineages."
    )


def _length_reason(found: Cohort) -> str:
    first, last = found.by_length[0], found.by_length[-1]
    gap = found.length_difference
    if gap.value is None or gap.interval is None:
        return f"Lengths cannot be compared: {gap.reason}."
    return (
        f"Sessions of {first.label} messages fail on {share(first.rate.value)} of calls, those of {last.label} on "
        f"{share(last.rate.value)} (difference {points_between(gap)}). By itself this does not tell learning from "
        "selection."
    )


def _ending_reason(found: Cohort) -> str:
    last = found.survivors.last_call
    if last.value is None or last.interval is None:
        return f"Whether failures end sessions is unknown: {last.reason}."
    more = "more" if last.value > 0 else "less"
    return (
        f"At equal positions and with equal tools, the last call of a session fails {points(abs(last.value))} {more} "
        f"often than calls after which the session went on ({points_between(last)})."
    )


def _mix_reason(found: Cohort) -> str:
    within, mixed = found.trend.within, found.trend.any_tool
    if within.value is None or mixed.value is None or mixed.interval is None:
        return ""
    if mixed.interval.low <= 0 <= mixed.interval.high or abs(mixed.value - within.value) < LEAST_CHANGE / 2:
        return ""
    return (
        f"Without holding the tool mix fixed the change would have seemed to be {points(mixed.value, signed=True)}: "
        "other tools are used late in a session than early."
    )
