"""Error rates over many sessions (by length, by position, within sessions, by ending), and the verdict on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from seasoned.report.trials import EARLY_TYPES, EarlyType, Figure, Trials, points, points_between, share
from seasoned.stats.difference import difference
from seasoned.stats.interval import Estimate, holm, normal_quantile
from seasoned.stats.trend import slope_of, stratified_difference

if TYPE_CHECKING:
    from seasoned.report.trials import Codes, Flags

LENGTHS = (50, 100)  # upper ends of the length buckets, in messages
LENGTH_NAMES = ("0–50", "51–100", "100+")
BLOCK = 10
# Positions are shown in blocks of ten calls; all calls beyond the tenth block form one more.
BLOCKS = 10
# Level of the intervals behind a verdict: strict, because people read reports repeatedly.
LEVEL = 0.99
# The last counted call of a session is left out of trends: where failures end sessions, they come last.
ENDING = 1
LONG_ENDING = 3  # a trend must also hold with this many left out


class CohortCell(msgspec.Struct, frozen=True):
    """One field of the map of lengths and positions."""

    length: str
    position: str
    figure: Figure


class Trend(msgspec.Struct, frozen=True):
    """The change of the error rate from the first to the last call of a session, each session compared with itself."""

    within: Estimate  # the tool mix held fixed, endings left out. Negative is improvement.
    short: Estimate  # the same with longer endings left out
    any_tool: Estimate  # endings left out, but the tool mix not held fixed


class Survival(msgspec.Struct, frozen=True):
    """Sessions that ended in a block of positions and those that went on, by their calls in that block."""

    position: str
    ended: Figure
    survivors: Figure


class Survivors(msgspec.Struct, frozen=True):
    """Those that ended minus those that went on, at equal positions and with equal tools."""

    blocks: tuple[Survival, ...]
    ended: Estimate  # all calls in the block in which a session ended
    # The last call of a session alone, against calls at equal positions that were not the last.
    last_call: Estimate


class EarlyTrend(msgspec.Struct, frozen=True):
    """The trend within sessions whose first turns were of one type."""

    early: EarlyType
    figure: Figure
    within: Estimate
    adjusted_p: float | None  # for testing each type (Holm)


class Cohort(msgspec.Struct, frozen=True):
    """All error rates of many sessions."""

    overall: Figure
    by_length: tuple[Figure, ...]
    by_position: tuple[Figure, ...]
    by_both: tuple[CohortCell, ...]
    by_early_type: tuple[EarlyTrend, ...]
    length_difference: Estimate  # the shortest bucket minus the longest
    trend: Trend
    survivors: Survivors


def cohort(trials: Trials) -> Cohort:
    """All figures of many sessions, each with its interval and its n."""
    buckets = _buckets(trials.messages_of)[trials.session]
    names = LENGTH_NAMES
    blocks, block_names = _blocks(trials)
    return Cohort(
        overall=trials.figure("all", trials.everything()),
        by_length=_figures(trials, buckets, names),
        by_position=_figures(trials, blocks, block_names),
        by_both=tuple(
            CohortCell(name, position, trials.figure(f"{name}, calls {position}", (buckets == i) & (blocks == j)))
            for i, name in enumerate(names)
            for j, position in enumerate(block_names)
            if ((buckets == i) & (blocks == j)).any()
        ),
        by_early_type=_by_early_type(trials),
        length_difference=_between(trials, buckets == 0, buckets == len(names) - 1),
        trend=_trend(trials),
        survivors=_survivors(trials, blocks, block_names),
    )


def _buckets(messages: Codes) -> Codes:
    import numpy as np

    return np.searchsorted(np.asarray(LENGTHS), messages, side="left").astype(np.int16)


def _blocks(trials: Trials) -> tuple[Codes, tuple[str, ...]]:
    """The block of ten positions of each call, and the names of the blocks up to the last that has calls."""
    import numpy as np

    blocks = np.minimum(trials.position // BLOCK, BLOCKS).astype(np.int16)
    count = int(blocks.max()) + 1 if len(trials) else 0
    names = [f"{BLOCK * i + 1}–{BLOCK * (i + 1)}" for i in range(min(count, BLOCKS))]
    return blocks, (*names, *([f"{BLOCK * BLOCKS + 1}+"] if count > BLOCKS else []))


def _figures(trials: Trials, codes: Codes, names: Sequence[str]) -> tuple[Figure, ...]:
    return tuple(trials.figure(name, codes == number, fixed_mix=True) for number, name in enumerate(names))


def _between(trials: Trials, first: Flags, second: Flags) -> Estimate:
    """The rate of some calls minus that of others, from different sessions."""
    import numpy as np

    def counts(among: Flags) -> tuple[list[int], list[int]]:
        clusters = trials.cluster[among]
        failures = np.bincount(clusters, trials.failed[among]).astype(int)
        return failures.tolist(), np.bincount(clusters).tolist()

    return difference(*counts(first), *counts(second))


def _trend(trials: Trials) -> Trend:
    from_end = trials.from_end()
    trimmed = from_end >= ENDING
    return Trend(
        within=_slope(trials, trimmed, by_tool=True),
        short=_slope(trials, from_end >= LONG_ENDING, by_tool=True),
        any_tool=_slope(trials, trimmed, by_tool=False),
    )


def _slope(trials: Trials, among: Flags, *, by_tool: bool) -> Estimate:
    return slope_of(
        trials.failed[among],
        trials.relative(among),
        trials.session[among],
        trials.tool[among] if by_tool else None,
        group=trials.cluster[among],
        level=LEVEL,
    )


def _by_early_type(trials: Trials) -> tuple[EarlyTrend, ...]:
    trimmed = trials.from_end() >= ENDING
    early = trials.early_of[trials.session]
    slopes = [_slope(trials, trimmed & (early == code), by_tool=True) for code in range(len(EARLY_TYPES))]
    adjusted = holm([estimate.p_value for estimate in slopes])
    return tuple(
        EarlyTrend(name, trials.figure(name, early == code), slopes[code], adjusted[code])
        for code, name in enumerate(EARLY_TYPES)
    )


def _survivors(trials: Trials, blocks: Codes, names: Sequence[str]) -> Survivors:
    import numpy as np

    is_last = trials.from_end() == 0
    last_block = np.zeros(len(trials.cluster_of), dtype=np.intp)
    last_block[trials.session[is_last]] = blocks[is_last]
    ended = blocks == last_block[trials.session]
    # In the open last block positions are not equal, so nothing is compared there.
    equal = blocks < BLOCKS
    stratum = blocks.astype(np.int32) * len(trials.tools) + trials.tool
    comparisons = [
        stratified_difference(trials.failed[equal], group[equal], stratum[equal], trials.cluster[equal], level=LEVEL)
        for group in (ended, is_last)
    ]
    return Survivors(
        tuple(
            Survival(name, trials.figure("ended here", here & ended), trials.figure("went on", here & ~ended))
            for name, here in ((name, blocks == number) for number, name in enumerate(names[:BLOCKS]))
        ),
        *comparisons,
    )


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
    # A trend takes precedence over selection: each session is its own control.
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
        f"Without holding the tool mix fixed the change would have seemed to be {points(mixed.value, has_sign=True)}: "
        "other tools are used late in a session than early."
    )
