"""Error rates over many sessions: by length, by position, by both, within sessions, and by who goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import UsageError
from seasoned.insight.trials import EARLY_TYPES, EarlyType, Figure, Trials
from seasoned.stats.difference import difference
from seasoned.stats.distribution import holm
from seasoned.stats.interval import Estimate
from seasoned.stats.trend import slope_of, stratified_difference

if TYPE_CHECKING:
    from seasoned.insight.trials import Codes, Flags

LENGTHS = (50, 100)  # upper ends of the length buckets, in messages: 0–50, 51–100, 100+
BLOCK = 10
# Positions are shown in blocks of ten calls; all calls beyond the tenth block form one more.
BLOCKS = 10
# Level of the intervals behind a verdict: strict, because people read a report every week.
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
    naive: Estimate  # neither


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
    by_fifth: tuple[Figure, ...]
    by_both: tuple[CohortCell, ...]
    by_early_type: tuple[EarlyTrend, ...]
    length_difference: Estimate  # the shortest bucket minus the longest
    trend: Trend
    survivors: Survivors


def cohort(trials: Trials, *, lengths: Sequence[int] = LENGTHS) -> Cohort:
    """All figures of many sessions, each with its interval and its n."""
    buckets = _buckets(trials.messages, lengths)
    names = bucket_names(lengths)
    blocks, block_names = _blocks(trials)
    fifth = trials.fifth()
    return Cohort(
        overall=trials.figure("all", trials.everything()),
        by_length=_figures(trials, buckets, names),
        by_position=_figures(trials, blocks, block_names),
        by_fifth=_figures(trials, fifth, ("first fifth", "second", "third", "fourth", "last fifth")),
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


def bucket_names(lengths: Sequence[int] = LENGTHS) -> tuple[str, ...]:
    """`0–50`, `51–100`, `100+`."""
    if not lengths or list(lengths) != sorted(set(lengths)) or lengths[0] < 1:
        raise UsageError(f"length buckets are rising numbers of messages such as 50,100, not {list(lengths)!r}")
    starts = [0, *[end + 1 for end in lengths]]
    return (*[f"{start}–{end}" for start, end in zip(starts, lengths, strict=False)], f"{lengths[-1]}+")


def _buckets(messages: Codes, lengths: Sequence[int]) -> Codes:
    import numpy as np

    return np.searchsorted(np.asarray(lengths), messages, side="left")


def _blocks(trials: Trials) -> tuple[Codes, tuple[str, ...]]:
    """The block of ten positions of each call, and the names of the blocks up to the last that has calls."""
    import numpy as np

    blocks = np.minimum(trials.position // BLOCK, BLOCKS)
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
        naive=_slope(trials, trials.everything(), by_tool=False),
    )


def _slope(trials: Trials, among: Flags, *, by_tool: bool) -> Estimate:
    return slope_of(
        trials.failed[among],
        trials.relative()[among],
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
    stratum = blocks * len(trials.tools) + trials.tool
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
