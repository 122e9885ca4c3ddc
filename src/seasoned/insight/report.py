"""The report on many sessions: one value from which the page, tables and JSON are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain, islice

import msgspec

from seasoned.insight.cohort import LENGTHS, Cohort, CohortVerdict, bucket_names, cohort, verdict
from seasoned.insight.compression import PooledCheck, chains, check_many
from seasoned.insight.mistake.recurrence import Recurrence, RecurrenceCounter
from seasoned.insight.track import Track
from seasoned.insight.trials import Figure, TrialColumns, Trials
from seasoned.outcome.error_rate import NOTHING_MORE, Counts, Include
from seasoned.session import Usage, sum_usage

# Sessions of a part: few enough for progress and memory, many enough that merging costs little.
PART_SESSIONS = 1000
_DAYS_BY_DAY = 45  # a report over more days than this shows weeks
_MOST_TOOLS = 25
_MOST_MISTAKES = 40
_MOST_SIGNALS = 15


class Spending(msgspec.Struct, frozen=True):
    """Tokens and cost as the agents recorded them. None means unknown, not zero."""

    usage: Usage
    sessions_with_usage: int
    cost_usd: float | None
    sessions_with_cost: int
    sessions_without_cost: int


class Report(msgspec.Struct, frozen=True):
    """The findings about many sessions."""

    made_at: float
    title: str
    sources: tuple[str, ...]
    include: tuple[str, ...]  # counted although left out by default
    sessions: int
    messages: int
    counts: Counts
    copies: int
    first: float | None
    last: float | None
    by_agent: tuple[Figure, ...]
    by_tool: tuple[Figure, ...]  # most failures first, the first ones only
    tools: int
    # By day or by week, labelled with the first date; without sessions that have no date.
    over_time: tuple[Figure, ...]
    cohort: Cohort
    verdict: CohortVerdict
    recurrences: tuple[Recurrence, ...]  # mistakes, then signals
    recurring: int
    recurring_mistakes: int  # of `recurring`, without signals
    compression: PooledCheck
    spending: Spending


class ReportPart:
    """What a report keeps of the sessions that were added: of all of them, or of a part that others are merged with."""

    def __init__(self, *, is_part: bool = False) -> None:
        self.agents: list[str] = []
        self.dates: list[float | None] = []
        self.messages = self.copies = 0
        self.counts = Counts()
        self.first: float | None = None
        self.last: float | None = None
        self.usage = Usage()
        self.with_usage = 0
        self.costs: list[float] = []
        self.recurrences = RecurrenceCounter(is_part=is_part)
        self.columns = TrialColumns()

    def add(self, track: Track) -> None:
        self.agents.append(track.ref.agent)
        self.dates.append(track.started if track.started is not None else track.ended)
        self.messages += track.messages
        self.copies += track.copies
        self.counts += track.counts
        self._see(track.started, track.ended)
        if track.usage != Usage():
            self.usage = sum_usage([track.usage], self.usage)
            self.with_usage += 1
        if track.cost_usd is not None:
            self.costs.append(track.cost_usd)
        self.recurrences.add(track)
        self.columns.add(track)

    def merge(self, later: ReportPart) -> None:
        """Add a part whose sessions follow these: the same as adding them one by one."""
        self.agents += later.agents
        self.dates += later.dates
        self.messages += later.messages
        self.copies += later.copies
        self.counts += later.counts
        self._see(later.first, later.last)
        self.usage = sum_usage([later.usage], self.usage)
        self.with_usage += later.with_usage
        # All of them, since a sum of sums may differ in its last digit.
        self.costs += later.costs
        self.recurrences.merge(later.recurrences)
        self.columns.merge(later.columns)

    def _see(self, *times: float | None) -> None:
        known = [time for time in (self.first, self.last, *times) if time is not None]
        self.first, self.last = min(known, default=None), max(known, default=None)

    def spending(self) -> Spending:
        return Spending(
            self.usage,
            self.with_usage,
            # None and not 0.0: sessions without a recorded cost were not free.
            sum(self.costs) if self.costs else None,
            len(self.costs),
            len(self.agents) - len(self.costs),
        )


def report(
    parts: Iterable[ReportPart],
    *,
    made_at: float,
    compressed: Iterable[Track] = (),
    title: str = "Sessions",
    sources: Sequence[str] = (),
    include: Include = NOTHING_MORE,
    lengths: Sequence[int] = LENGTHS,
) -> Report:
    """The report from parts in the order of their sessions; `compressed` are the sessions for the compression check."""
    bucket_names(lengths)  # refuses wrong ones before the work begins
    facts = ReportPart()
    for part in parts:
        facts.merge(part)
    recurrences = facts.recurrences.recurring()
    # The figures need the most memory; what was counted of mistakes is not needed any more.
    del facts.recurrences
    trials = facts.columns.trials()
    figures = cohort(trials, lengths=lengths)
    by_tool = _by_tool(trials)
    mistakes = [found for found in recurrences if found.kind == "mistake"]
    return Report(
        made_at=made_at,
        title=title,
        sources=tuple(sources),
        include=include.names(),
        sessions=len(facts.agents),
        messages=facts.messages,
        counts=facts.counts,
        copies=facts.copies,
        first=facts.first,
        last=facts.last,
        by_agent=_by_name(trials, facts.agents),
        by_tool=by_tool[:_MOST_TOOLS],
        tools=len(by_tool),
        over_time=_over_time(trials, facts.dates),
        cohort=figures,
        verdict=verdict(figures),
        recurrences=(*mistakes[:_MOST_MISTAKES], *recurrences[len(mistakes) :][:_MOST_SIGNALS]),
        recurring=len(recurrences),
        recurring_mistakes=len(mistakes),
        compression=check_many(chains(compressed)),
        spending=facts.spending(),
    )


def part_of(tracks: Iterable[Track]) -> ReportPart:
    """What a report keeps of these sessions."""
    part = ReportPart(is_part=True)
    for track in tracks:
        part.add(track)
    return part


def parts_of(tracks: Iterable[Track]) -> Iterator[ReportPart]:
    """The same for many sessions, some at a time."""
    left = iter(tracks)
    for first in left:
        yield part_of(chain([first], islice(left, PART_SESSIONS - 1)))


def _by_tool(trials: Trials) -> tuple[Figure, ...]:
    found = [trials.figure(name, trials.tool == code) for code, name in enumerate(trials.tools)]
    return tuple(sorted(found, key=lambda figure: (-figure.failed, -figure.calls, figure.label)))


def _by_name(trials: Trials, names: Sequence[str]) -> tuple[Figure, ...]:
    """One figure for each name that sessions have, in the order of the names."""
    import numpy as np

    known = sorted(set(names))
    if not known:
        return ()
    numbers = {name: number for number, name in enumerate(known)}
    codes = np.array([numbers[name] for name in names], dtype=np.int32)[trials.session]
    # Sorted once: to look for the calls of each of a hundred weeks among millions takes longer.
    by_code = np.argsort(codes, kind="stable").astype(np.int32)
    ends = np.cumsum(np.bincount(codes, minlength=len(known)))[:-1]
    return tuple(trials.figure(name, some) for name, some in zip(known, np.split(by_code, ends), strict=True))


def _over_time(trials: Trials, dates: Sequence[float | None]) -> tuple[Figure, ...]:
    times = [time for time in dates if time is not None]
    if not times:
        return ()
    by_week = max(times) - min(times) > _DAYS_BY_DAY * 86400
    labels = ["" if time is None else _period(int(time // 86400), by_week=by_week) for time in dates]
    return tuple(figure for figure in _by_name(trials, labels) if figure.label and figure.calls)


@lru_cache(maxsize=4096)
def _period(days: int, *, by_week: bool) -> str:
    """The day, or the Monday of the week, in UTC: a report of the same sessions is the same everywhere."""
    day = date(1970, 1, 1) + timedelta(days=days)
    return (day - timedelta(days=day.weekday() if by_week else 0)).isoformat()
