"""The report on a store, also as a separate process that prints its progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from seasoned.errors import NotFound
from seasoned.insight.cohort import LENGTHS
from seasoned.insight.report import Report, report
from seasoned.insight.track import Track, compressed, tracks
from seasoned.outcome.error_rate import NOTHING_MORE, Include
from seasoned.project import name_of
from seasoned.store import Store, open_store

_EVERY = 200  # sessions between two progress reports
Tell = Callable[[int, int], None]


class Revision(msgspec.Struct, frozen=True):
    """A cheap summary of a store that shows whether it has changed."""

    sessions: int
    calls: int
    forgotten: int

    def takes_back(self, earlier: Revision) -> bool:
        """Whether something was removed since an earlier state: a report on that must not be shown any more."""
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
    lengths: Sequence[int] = LENGTHS,
    include: Include = NOTHING_MORE,
    tell: Tell | None = None,
) -> Report:
    """The report on a store."""
    in_project = {"project": project}
    totals = store.rows("session.totals") if project is None else store.rows("project.agents", in_project)
    agents = [row["agent"] for row in totals]
    if not agents:
        raise NotFound("There are no sessions to report on. Give a path with histories, or run `seasoned scan` first.")
    if agent is not None and agent not in agents:
        raise NotFound(f"No sessions of {agent!r}. Agents with sessions: {', '.join(agents)}.")
    every = sum(row["sessions"] for row in totals if agent in (None, row["agent"]))
    found = tracks(store, include=include, agent=agent, project=project)
    whose = ", ".join([agent] if agent else agents)
    return report(
        found if tell is None else _with_progress(found, every, tell),
        compressed=compressed(store, include=include, agent=agent, project=project),
        made_at=made_at,
        title=f"Sessions of {whose}" if project is None else f"Sessions of {whose} in {name_of(project)}",
        sources=[str(path) for path in paths],
        include=include,
        lengths=lengths,
    )


def _with_progress(found: Iterable[Track], every: int, tell: Tell) -> Iterator[Track]:
    for number, track in enumerate(found):
        if number % _EVERY == 0:
            tell(number, every)
        yield track
    tell(every, every)


def main(path: str, project: str | None = None) -> None:
    """Print progress lines, then the report as MessagePack, for the pages."""

    def answer(tell: Tell) -> bytes:
        with open_store(Path(path)) as store:
            return msgspec.msgpack.encode(report_on(store, made_at=time.time(), project=project, tell=tell))

    answer_in_process(answer)


def answer_in_process(answer: Callable[[Tell], bytes]) -> None:
    """Print progress lines of two numbers, then a line with the length of the answer, then the answer."""
    # The web pages run this in another process: what takes minutes must not block the server.
    out = sys.stdout.buffer

    def tell(done: int, every: int) -> None:
        out.write(f"{done} {every}\n".encode())
        out.flush()

    data = answer(tell)
    out.write(f"answer {len(data)}\n".encode())
    out.write(data)
    out.flush()
