"""The error rate over time from the totals by day in the store, without reading calls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta

from seasoned.insight.trials import Figure
from seasoned.stats.cluster import Pooled, wilson_interval
from seasoned.stats.interval import NO_TRIALS, ONE_CLUSTER, Estimate
from seasoned.store import DatabaseRow

MOST_POINTS = 45
FEWEST_SESSIONS = 4  # on average in a bucket, so that there are intervals
LEVEL = 0.95
_SUMS = ("sessions", "ok", "failed", "counted", "total_squared", "failed_squared", "failed_by_total")


class DaySums:
    """Sums over sessions that give a rate and its interval."""

    def __init__(self, rows: Iterable[DatabaseRow] = ()) -> None:
        self.sums = dict.fromkeys(_SUMS, 0)
        for row in rows:
            self.add(row)

    def add(self, row: DatabaseRow) -> None:
        for name in _SUMS:
            self.sums[name] += int(row[name])

    def figure(self, label: str) -> Figure:
        """The rate. Sessions are the units of its interval, since calls of one session resemble each other."""
        sums = self.sums
        return Figure(label, sums["failed"], sums["ok"] + sums["failed"], sums["counted"], self.rate())

    def rate(self) -> Estimate:
        sums = self.sums
        total, clusters = sums["ok"] + sums["failed"], sums["counted"]
        if not total:
            return Estimate(None, None, 0, 0, NO_TRIALS)
        value = sums["failed"] / total
        if clusters < 2:
            return Estimate(value, None, total, clusters, ONE_CLUSTER)
        # The variance of a ratio of totals over clusters (Woodruff 1971), written out in sums of squares.
        spread = sums["failed_squared"] - 2 * value * sums["failed_by_total"] + value**2 * sums["total_squared"]
        error = math.sqrt(max(0.0, spread) * clusters / (clusters - 1)) / total
        freedom = max(2.0, total**2 / sums["total_squared"]) - 1
        interval = wilson_interval(Pooled(value, total, clusters, error, freedom), LEVEL)
        return Estimate(value, interval, total, clusters)


def over_time(rows: Sequence[DatabaseRow]) -> tuple[Figure, ...]:
    """A figure for each day, week or month, few enough for a plot; days without sessions have none."""
    rows = [row for row in rows if row["day"]]
    if not rows:
        return ()
    buckets: dict[str, DaySums] = {}
    days = sorted({date.fromisoformat(row["day"]) for row in rows})
    to_first = _bucket(days, sum(int(row["counted"]) for row in rows))
    names = {day.isoformat(): to_first(day).isoformat() for day in days}
    for row in rows:
        buckets.setdefault(names[row["day"]], DaySums()).add(row)
    return tuple(sums.figure(first) for first, sums in buckets.items())


def _bucket(days: Sequence[date], sessions: int) -> Callable[[date], date]:
    length = (days[-1] - days[0]).days
    if len(days) <= MOST_POINTS and sessions >= FEWEST_SESSIONS * len(days):
        return lambda day: day
    if length <= 7 * MOST_POINTS:
        return lambda day: day - timedelta(days=day.weekday())
    return lambda day: day.replace(day=1)
