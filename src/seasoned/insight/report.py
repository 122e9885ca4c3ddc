"""The report on many sessions: one value from which the page, tables and JSON are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from seasoned.insight.cohort import LENGTHS, Cohort, CohortVerdict, bucket_names, cohort, verdict
from seasoned.insight.compression import PooledCheck, chains, check_many
from seasoned.insight.mistake.recurrence import Recurrence, RecurrenceCounter
from seasoned.insight.track import Track
from seasoned.insight.trials import Figure, Trials, trials_of
from seasoned.outcome.error_rate import NOTHING_MORE, Counts, Include
from seasoned.session import Usage, sum_usage

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


class _Facts:
    """Facts collected in the pass over the sessions."""

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.dates: list[float | None] = []
        self.messages = self.copies = 0
        self.counts = Counts()
        self.times: list[float] = []
        self.usages: list[Usage] = []
        self.costs: list[float] = []
        self.recurrences = RecurrenceCounter()

    def collect(self, tracks: Iterable[Track]) -> Iterator[Track]:
        for track in tracks:
            # Facts are noted while the trials are made: sessions are read from the store only once.
            self.agents.append(track.ref.agent)
            self.dates.append(track.started if track.started is not None else track.ended)
            self.messages += track.messages
            self.copies += track.copies
            self.counts += track.counts
            self.times += [time for time in (track.started, track.ended) if time is not None]
            if track.usage != Usage():
                self.usages.append(track.usage)
            if track.cost_usd is not None:
                self.costs.append(track.cost_usd)
            self.recurrences.add(track)
            yield track

    def spending(self) -> Spending:
        return Spending(
            sum_usage(self.usages),
            len(self.usages),
            # None and not 0.0: sessions without a recorded cost were not free.
            sum(self.costs) if self.costs else None,
            len(self.costs),
            len(self.agents) - len(self.costs),
        )


def report(
    tracks: Iterable[Track],
    *,
    made_at: float,
    compressed: Iterable[Track] = (),
    title: str = "Sessions",
    sources: Sequence[str] = (),
    include: Include = NOTHING_MORE,
    lengths: Sequence[int] = LENGTHS,
) -> Report:
    """The report from one pass over the sessions; `compressed` are the sessions for the compression check."""
    bucket_names(lengths)  # refuses wrong ones before the work begins
    facts = _Facts()
    trials = trials_of(facts.collect(tracks))
    figures = cohort(trials, lengths=lengths)
    by_tool = _by_tool(trials)
    recurrences = facts.recurrences.recurring()
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
        first=min(facts.times, default=None),
        last=max(facts.times, default=None),
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


def _by_tool(trials: Trials) -> tuple[Figure, ...]:
    found = [trials.figure(name, trials.tool == code) for code, name in enumerate(trials.tools)]
    return tuple(sorted(found, key=lambda figure: (-figure.failed, -figure.calls, figure.label)))


def _by_name(trials: Trials, names: Sequence[str]) -> tuple[Figure, ...]:
    """One figure for each name that sessions have, in the order of the names."""
    import numpy as np

    known = sorted(set(names))
    codes = np.array([known.index(name) for name in names], dtype=np.intp)
    return tuple(trials.figure(name, codes[trials.session] == code) for code, name in enumerate(known))


def _over_time(trials: Trials, dates: Sequence[float | None]) -> tuple[Figure, ...]:
    times = [date for date in dates if date is not None]
    if not times:
        return ()
    by_week = max(times) - min(times) > _DAYS_BY_DAY * 86400
    return tuple(
        figure
        for figure in _by_name(trials, ["" if date is None else _period(date, by_week=by_week) for date in dates])
        if figure.label and figure.calls
    )


def _period(time: float, *, by_week: bool) -> str:
    """The day, or the Monday of the week, in UTC: a report of the same sessions is the same everywhere."""
    day = datetime.fromtimestamp(time, UTC).date()
    return (day - timedelta(days=day.weekday() if by_week else 0)).isoformat()
