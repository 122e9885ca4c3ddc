"""The report on a store, also as a separate process that prints its progress."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import cycle, islice
from pathlib import Path
from typing import IO

import msgspec

from seasoned.errors import CannotDo, NotFound
from seasoned.insight.cohort import LENGTHS
from seasoned.insight.report import PART_SESSIONS, Report, ReportPart, part_of, report
from seasoned.insight.track import compressed, tracks
from seasoned.outcome.error_rate import NOTHING_MORE, Include
from seasoned.project import name_of
from seasoned.store import Store, open_store

# Parts for which another process pays off: it takes as long to start as one part takes.
_PARTS_EACH = 3
_MOST_PROCESSES = 8
_SIZE_BYTES = 8
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
    tell: Tell = lambda done, every: None,
    processes: int | None = None,
) -> Report:
    """The report on a store, by as many processes as there are cores if it is large."""
    in_project = {"project": project}
    totals = store.rows("session.totals") if project is None else store.rows("project.agents", in_project)
    agents = [row["agent"] for row in totals]
    if not agents:
        raise NotFound("There are no sessions to report on. Give a path with histories, or run `seasoned scan` first.")
    if agent is not None and agent not in agents:
        raise NotFound(f"No sessions of {agent!r}. Agents with sessions: {', '.join(agents)}.")
    ids = [row["id"] for row in store.rows("session.ids", {"agent": agent, "project": project})]
    ranges = [(ids[at], ids[at : at + PART_SESSIONS][-1]) for at in range(0, len(ids), PART_SESSIONS)]
    job = PartsJob(store.path, tuple(ranges), include, agent, project)
    most = min(os.cpu_count() or 1, _MOST_PROCESSES, len(ranges) // _PARTS_EACH) if processes is None else processes
    # A temporary store is visible to this process alone.
    parts = _parts_of(store, job) if most <= 1 or not store.path else _parts_of_processes(job, most)
    whose = ", ".join([agent] if agent else agents)
    return report(
        _with_progress(parts, len(ids), tell),
        compressed=compressed(store, include=include, agent=agent, project=project),
        made_at=made_at,
        title=f"Sessions of {whose}" if project is None else f"Sessions of {whose} in {name_of(project)}",
        sources=[str(path) for path in paths],
        include=include,
        lengths=lengths,
    )


class PartsJob(msgspec.Struct, frozen=True):
    """Which parts of a report to make: ranges of row ids of sessions, the first and the last of each."""

    path: str
    ranges: tuple[tuple[int, int], ...]
    include: Include
    agent: str | None
    project: str | None


def _parts_of(store: Store, job: PartsJob) -> Iterator[ReportPart]:
    for between in job.ranges:
        yield part_of(tracks(store, include=job.include, agent=job.agent, project=job.project, between=between))


def _parts_of_processes(job: PartsJob, count: int) -> Iterator[ReportPart]:
    """The parts in their order. Each process makes every n-th, so that none is far ahead of what is merged."""
    code = f"from {__name__} import write_parts; write_parts()"
    with ExitStack() as ended:
        answers = []
        for number in range(count):
            # A new interpreter: SQLite must not be used in a fork of a process that has the store open.
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            ended.enter_context(process)
            # Leaving the block waits for it, so after an error it must not go on.
            ended.callback(process.kill)
            assert process.stdin is not None and process.stdout is not None
            with suppress(BrokenPipeError), process.stdin as given:
                given.write(msgspec.json.encode(msgspec.structs.replace(job, ranges=job.ranges[number::count])))
            answers.append(process.stdout)
        for answer in islice(cycle(answers), len(job.ranges)):
            size = int.from_bytes(answer.read(_SIZE_BYTES), "big")
            data = answer.read(size)
            if not size or len(data) < size:
                raise CannotDo("A process that made a part of the report ended early. Make the report again.")
            yield pickle.loads(data)


def write_parts(out: IO[bytes] | None = None) -> None:
    """Write the parts of the job on standard input, each behind its length; what `_parts_of_processes` starts."""
    out = sys.stdout.buffer if out is None else out
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=PartsJob)
    # Whoever asked for the report stopped it.
    with suppress(BrokenPipeError, KeyboardInterrupt), open_store(Path(job.path), create=False) as store:
        for part in _parts_of(store, job):
            data = pickle.dumps(part, protocol=pickle.HIGHEST_PROTOCOL)
            out.write(len(data).to_bytes(_SIZE_BYTES, "big") + data)
            out.flush()


def _with_progress(parts: Iterator[ReportPart], every: int, tell: Tell) -> Iterator[ReportPart]:
    done = 0
    tell(done, every)
    for part in parts:
        yield part
        done += len(part.agents)
        tell(done, every)


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
