"""A scan: find changed files, read and write them, then update the aggregates."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from seasoned.errors import SeasonedError, SourceError
from seasoned.history.discover import Candidate, absolute_path, candidates
from seasoned.outcome.verdict import JUDGE
from seasoned.redact.key import Secrecy
from seasoned.scan.rows import NOT_A_HISTORY, Batch, FileJob, Learner
from seasoned.store import Store, open_store, open_temporary

if TYPE_CHECKING:
    from seasoned.scan.store_writer import StoreWriter

# A commit waits for the disk; this many calls at once keep it rare, and little is lost if the scan is stopped.
_COMMIT_CALLS = 400
_COMMIT_BYTES = 16 << 20  # read bytes, of sessions that hold words and no calls
# What was learned waits in memory until the aggregates are known: so much of it, however many sessions are read.
_HELD_BYTES = 32 << 20
Progress = Callable[[int, int], None]


class ScanReport(msgspec.Struct, frozen=True):
    """What a scan did."""

    files: int
    read: int
    unchanged: int
    no_history: int
    sessions: int
    calls: int
    unreadable: int
    failures: tuple[tuple[str, str], ...]  # files that could not be read at all, and why
    gone: int
    bytes: int
    seconds: float
    waiting: int = 0  # sessions that were read and not learned from yet


class ScanTarget:
    """The store that a scan writes to, created only if there is something to write."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._store: Store | None = None

    def existing(self) -> Store | None:
        """The store, if there is one already."""
        if self._store is None and self.path is not None and self.path.exists():
            self._store = open_store(self.path)
        return self._store

    def open(self) -> Store:
        """The store to write to, created if necessary."""
        if self._store is None:
            self._store = open_temporary() if self.path is None else open_store(self.path)
        return self._store


def scan(
    target: ScanTarget,
    paths: Iterable[Path],
    secrecy: Secrecy,
    *,
    discovered: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    make_learner: Callable[[], Learner] | None = None,
    clock: Callable[[], float] = time.time,
) -> ScanReport:
    """Read what is new under the paths.

    `make_learner` is called when there is something to read, in each worker where they are new interpreters.

    A file that cannot be read, or that the user named and is not a history, is passed over and listed in `failures`.
    It raises only if nothing else was there to read. A named path that does not exist always raises.
    """
    begun = time.perf_counter()
    roots = [absolute_path(path) for path in paths]
    tally = _ScanTally(progress)
    found = list(candidates((Path(root) for root in roots), named=not discovered, pass_over=tally.pass_over))
    known = _known(target, roots)
    jobs = [job for candidate in found if (job := _job(candidate, known.get(candidate.path))) is not None]
    tally.total = sum(job.size for job in jobs)
    if jobs:
        touched = _take_in(target, jobs, tally, secrecy, workers, make_learner, clock)
    else:
        touched = _settle(target)
    if tally.error is not None and not tally.read and len(found) == len(jobs):
        raise tally.error
    # What is in a folder that cannot be opened may well be there still.
    hidden = [path for path, _ in tally.failures]
    gone = _mark_gone(target, roots, hidden, {candidate.path for candidate in found}, known, clock)
    return ScanReport(
        files=len(found),
        read=tally.read,
        unchanged=len(found) - len(jobs),
        no_history=tally.no_history,
        sessions=touched,
        calls=tally.calls,
        unreadable=tally.unreadable,
        failures=tuple(tally.failures),
        gone=gone,
        bytes=tally.total,
        seconds=time.perf_counter() - begun,
    )


def _take_in(
    target: ScanTarget,
    jobs: list[FileJob],
    tally: _ScanTally,
    secrecy: Secrecy,
    workers: int | None,
    make_learner: Callable[[], Learner] | None,
    clock: Callable[[], float],
) -> int:
    """Read and write the files and update the aggregates; returns the number of changed sessions."""
    # Imported here: most scans find nothing new and should return at once.
    from seasoned.scan.worker_pool import read_all

    batches = read_all(jobs, secrecy, workers or os.cpu_count() or 1, make_learner)
    learner = None if make_learner is None else make_learner()
    # Rows hold no cycles, and looking for some among so many takes a twelfth of the time.
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        writer = write_batches(target.open, (batch for batch in batches if tally.add(batch)), learner, clock)
    finally:
        if was_collecting:
            gc.enable()
    return _settle(target) if writer is None else len(writer.settled)


def write_batches(
    open_target: Callable[[], Store],
    batches: Iterable[Batch],
    learner: Learner | None,
    clock: Callable[[], float] = time.time,
) -> StoreWriter | None:
    """Write batches as they arrive and update the aggregates; None if there was nothing to write."""
    # Imported while the workers read: needed only when the first batch arrives.
    from seasoned.scan.store_writer import StoreWriter

    writer: StoreWriter | None = None
    waiting: list[Batch] = []
    calls = read = 0
    for batch in batches:
        waiting.append(batch)
        calls += sum(len(session.calls) for session in batch.sessions)
        read += batch.bytes_read
        if calls >= _COMMIT_CALLS or read >= _COMMIT_BYTES:
            writer = writer or StoreWriter(open_target(), clock)
            writer.write(waiting)
            waiting, calls, read = [], 0, 0
            if writer.held_bytes >= _HELD_BYTES:
                writer.settle(learner)
    if waiting:
        writer = writer or StoreWriter(open_target(), clock)
        writer.write(waiting)
    if writer is not None:
        writer.settle(learner)
    return writer


def _settle(target: ScanTarget) -> int:
    """Update the aggregates of sessions that a killed scan wrote; returns their number."""
    store = target.existing()
    row = None if store is None else store.row("session.count_unsettled")
    if store is None or row is None or not row["sessions"]:
        return 0
    from seasoned.scan.store_writer import update_aggregates

    update_aggregates(store, ())
    return int(row["sessions"])


class _ScanTally:
    """Counts batches as they arrive, and lists what is passed over."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.total = self.bytes_read = self.read = self.no_history = self.calls = self.unreadable = 0
        self.failures: list[tuple[str, str]] = []
        # The first reason that concerns a path of the user's: what is raised if nothing can be read.
        self.error: SeasonedError | None = None

    def pass_over(self, path: str, error: SeasonedError) -> None:
        self.failures.append((path, str(error)))
        self.error = self.error or error

    def add(self, batch: Batch) -> bool:
        """Count a batch; False if there is nothing in it to write."""
        self.bytes_read += batch.bytes_read
        if self.progress is not None:
            self.progress(self.bytes_read, self.total)
        if batch.named and batch.failure is None and batch.format == NOT_A_HISTORY:
            reason = f"{batch.path!r} is not a history that Seasoned can read: see docs/reference/formats.md."
            self.pass_over(batch.path, SourceError(reason))
            return False
        if batch.failure is not None:
            if batch.named:
                self.pass_over(batch.path, SourceError(batch.failure))
            else:
                self.failures.append((batch.path, batch.failure))
            return False
        if batch.format == NOT_A_HISTORY:
            self.no_history += 1
        elif batch.done:
            self.read += 1
        self.calls += sum(len(session.calls) for session in batch.sessions)
        self.unreadable += len(batch.unreadable)
        return True


def _known(target: ScanTarget, roots: list[str]) -> dict[str, FileJob]:
    """What the store knows about each source under these paths, in the form of a job."""
    store = target.existing()
    if store is None:
        return {}
    known = {}
    for row in chain.from_iterable(store.each("source.under", _range(root)) for root in roots):
        # Verdicts of an older judge are outdated, so such a file is read again from its beginning.
        same_judge = row["judge"] == JUDGE
        known[row["path"]] = FileJob(
            row["path"],
            row["size"] if same_judge else -1,
            row["mtime_ns"],
            named=row["gone_at"] is not None,
            format=row["format"] or None,
            resume=row["resume"] if same_judge else None,
            check_digest=row["check_digest"],
            stamps=row["stamps"] if same_judge and row["size"] >= 0 else None,
        )
    return known


def _range(root: str) -> dict[str, str]:
    """Where the paths under a folder stand in the order of paths: one file that grew costs no look at all others."""
    folder = root.rstrip(os.sep)
    return {"path": root, "inside": f"{folder}{os.sep}", "beyond": f"{folder}{chr(ord(os.sep) + 1)}"}


def _job(candidate: Candidate, known: FileJob | None) -> FileJob | None:
    """What to read of a file; None if it has not changed since the last scan."""
    if known is None:
        return FileJob(candidate.path, candidate.size, candidate.mtime_ns, candidate.named)
    is_same = (known.size, known.mtime_ns) == (candidate.size, candidate.mtime_ns)
    # A file that the user names is read again if it was not a history before, so that the error is shown again.
    if is_same and (known.format is not None or not candidate.named):
        return None
    return FileJob(
        candidate.path,
        candidate.size,
        candidate.mtime_ns,
        candidate.named,
        resume=known.resume,
        check_digest=known.check_digest,
        stamps=known.stamps,
        format=known.format if known.resume is not None else None,
    )


def _mark_gone(
    target: ScanTarget,
    roots: list[str],
    hidden: list[str],
    found: set[str],
    known: dict[str, FileJob],
    clock: Callable[[], float],
) -> int:
    """Mark sources under the scanned paths that no longer exist; their sessions stay."""
    missing = [
        path
        for path, job in known.items()
        if path not in found and not job.named and _is_under(path, roots) and not _is_under(path, hidden)
    ]
    store = target.existing()
    if missing and store is not None:
        with store.write():
            for path in missing:
                store.run("source.set_gone", {"path": path, "gone_at": clock()})
    return len(missing)


def _is_under(path: str, folders: list[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}{os.sep}") for folder in folders)
