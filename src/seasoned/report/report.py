"""The report on a set of sessions as one value."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path

import msgspec

from seasoned.errors import NotFound
from seasoned.lesson.evidence import SessionEvidence, evidence_of
from seasoned.lesson.lesson import Lesson, hint_text
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.lesson.proposal import line_of
from seasoned.lesson.storage import kept_evidence
from seasoned.outcome.error_rate import NOTHING_MORE, Counts, Include
from seasoned.outcome.track import Track, compressed, tracks
from seasoned.project import name_of
from seasoned.report.cohort import Cohort, CohortVerdict, cohort, verdict
from seasoned.report.compression import PooledCheck, chains, check_many
from seasoned.report.trials import Figure, TrialColumns, Trials
from seasoned.store import Store, open_store

_TOLD_SESSIONS = 200  # sessions between two reports of progress
_DAYS_BY_DAY = 45  # a report over more days than this shows weeks
_MOST_TOOLS = 25
_MOST_MISTAKES = 40
_FEWEST = 2  # sessions in which an error comes back


class Recurrence(msgspec.Struct, frozen=True):
    """One error that came back in a second session, and how often."""

    tool: str
    program: str | None  # of a shell: the command that failed
    signature: str
    failures: int
    sessions: int  # lineages: a fork that keeps failing does not count twice
    last_seen: float | None
    repaired: int  # lineages that repaired it in the way that sessions see
    calls: int  # that it cost
    refs: tuple[str, ...]  # a few of the sessions
    action: str | None  # what to do instead; None if nothing is known


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
    recurrences: tuple[Recurrence, ...]  # the first ones only
    recurring: int
    compression: PooledCheck


def report(
    tracks: Iterable[Track],
    *,
    made_at: float,
    compressed: Iterable[Track] = (),
    title: str = "Sessions",
    sources: Sequence[str] = (),
    include: Include = NOTHING_MORE,
    evidence: Callable[[Track], SessionEvidence] = evidence_of,
) -> Report:
    """The report on sessions; `compressed` are those for the compression check."""
    columns, lessons, counts = TrialColumns(), dict[str | None, ProjectLessons](), Counts()
    agents, dates, times = list[str](), list[float | None](), list[float]()
    messages = copies = 0
    for track in tracks:
        agents.append(track.ref.agent)
        dates.append(track.started if track.started is not None else track.ended)
        times += [time for time in (track.started, track.ended) if time is not None]
        messages, copies, counts = messages + track.messages, copies + track.copies, counts + track.counts
        lessons.setdefault(track.project, ProjectLessons(track.project or "")).add(evidence(track))
        columns.add(track)
    recurrences = _recurrences(lessons.values())
    # Free this before computing the figures, which need the most memory.
    del lessons
    trials = columns.trials()
    figures = cohort(trials)
    by_tool = _by_tool(trials)
    return Report(
        made_at=made_at,
        title=title,
        sources=tuple(sources),
        include=include.names(),
        sessions=len(agents),
        messages=messages,
        counts=counts,
        copies=copies,
        first=min(times, default=None),
        last=max(times, default=None),
        by_agent=_by_name(trials, agents),
        by_tool=by_tool[:_MOST_TOOLS],
        tools=len(by_tool),
        over_time=_over_time(trials, dates),
        cohort=figures,
        verdict=verdict(figures),
        recurrences=tuple(recurrences[:_MOST_MISTAKES]),
        recurring=len(recurrences),
        compression=check_many(chains(compressed)),
    )


def _recurrences(found: Iterable[ProjectLessons]) -> list[Recurrence]:
    """The mistakes that came back, those in most sessions first."""
    mistakes = [_recurrence(one) for known in found for one in known.repairs() if one.among >= _FEWEST]
    return sorted(mistakes, key=lambda one: (-one.sessions, -one.failures, one.signature))


def _recurrence(lesson: Lesson) -> Recurrence:
    failed = lesson.failed
    assert failed is not None
    is_repaired = not lesson.silent and (lesson.way is None or lesson.way.kind != "expect")
    return Recurrence(
        failed.tool,
        failed.form or None,
        failed.words,
        lesson.cost.failures,
        lesson.among,
        lesson.last or None,
        lesson.lineages if is_repaired else 0,
        lesson.cost.calls,
        lesson.sessions,
        None if lesson.silent else line_of(lesson) or hint_text(lesson),
    )


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
    # Sorted once: searching millions of calls for each of a hundred weeks would be slower.
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


Tell = Callable[[int, int], None]


class Revision(msgspec.Struct, frozen=True):
    """A cheap summary of a store that shows whether it has changed."""

    sessions: int
    calls: int
    forgotten: int

    def takes_back(self, earlier: Revision) -> bool:
        """Whether something was removed since an earlier state, so that a report on it must not be shown."""
        return self.forgotten > earlier.forgotten or self.sessions < earlier.sessions or self.calls < earlier.calls


def revision(store: Store) -> Revision:
    """The current revision; it changes when sessions or calls are added or removed, and is cheap to read."""
    row = store.row("insight.revision")
    assert row is not None  # sums return one row, even over no rows
    return Revision(row["sessions"], row["calls"], row["forgotten"])


def report_on(
    store: Store,
    *,
    made_at: float,
    paths: Sequence[Path] = (),
    agent: str | None = None,
    project: str | None = None,
    include: Include = NOTHING_MORE,
    tell: Tell = lambda done, every: None,
) -> Report:
    """The report on a store."""
    in_project = {"project": project}
    totals = store.rows("session.totals") if project is None else store.rows("project.agents", in_project)
    agents = [row["agent"] for row in totals]
    every = sum(row["sessions"] for row in totals if agent in (None, row["agent"]))
    if not agents:
        raise NotFound("There are no sessions to report on. Give a path with histories, or run `seasoned scan` first.")
    if agent is not None and agent not in agents:
        raise NotFound(f"No sessions of {agent!r}. Agents with sessions: {', '.join(agents)}.")
    whose = ", ".join([agent] if agent else agents)
    return report(
        _with_progress(tracks(store, include=include, agent=agent, project=project), every, tell),
        compressed=compressed(store, include=include, agent=agent, project=project),
        made_at=made_at,
        title=f"Sessions of {whose}" if project is None else f"Sessions of {whose} in {name_of(project)}",
        sources=[str(path) for path in paths],
        include=include,
        # Working it out again takes most of the time of a report on many sessions.
        evidence=kept_evidence(store) if include == NOTHING_MORE else evidence_of,
    )


def _with_progress(tracks: Iterable[Track], every: int, tell: Tell) -> Iterator[Track]:
    tell(0, every)
    for done, track in enumerate(tracks, start=1):
        yield track
        if done % _TOLD_SESSIONS == 0:
            tell(done, every)
    tell(every, every)


def main(path: str, project: str | None = None) -> None:
    """Print progress lines, then the report as MessagePack, for the pages."""

    def answer(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            return msgspec.msgpack.encode(report_on(store, made_at=time.time(), project=project, tell=tell))

    answer_in_process(answer)


def answer_in_process(answer: Callable[[Tell], bytes]) -> None:
    """Print progress lines of two numbers, then a line with the length of the answer, then the answer."""
    # The web server runs this in another process, so that a report of minutes does not block it.
    out = sys.stdout.buffer

    def tell(done: int, every: int) -> None:
        out.write(f"{done} {every}\n".encode())
        out.flush()

    data = answer(tell)
    out.write(f"answer {len(data)}\n".encode())
    out.write(data)
    out.flush()
