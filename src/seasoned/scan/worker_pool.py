"""Reads files in several processes and yields batches as they arrive."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy
from seasoned.scan.rows import Batch, FileJob, Learner

if TYPE_CHECKING:
    from seasoned.scan.file_reader import FileReader

WORTH_A_PROCESS = 4 << 20  # bytes for which starting another process pays off
_FILE_BYTES = 40_000  # a file costs as much as so many bytes, even if it is empty
# The largest file that is read before the workers start: the larger, the more of what they need it has met.
_FIRST_BYTES = 1 << 20
# Large enough that workers keep reading while the store is busy.
_PIPE_BYTES = 1 << 20
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Batch]).decode
_DONE = b""
# Batches of small files are sent together, which wakes the process that writes less often.
_TOGETHER = 32
_TOGETHER_BYTES = 1 << 16


def read_all(
    jobs: list[FileJob],
    secrecy: Secrecy,
    workers: int,
    make_learner: Callable[[], Learner] | None = None,
) -> Iterator[Batch]:
    """Every batch of every job, in no particular order between files. The workers start immediately."""
    work = sum(job.size + _FILE_BYTES for job in jobs)
    workers = min(workers, len(jobs), 1 + work // WORTH_A_PROCESS)
    make = partial(_make_reader, secrecy, make_learner)
    # Largest first; a free worker takes the next.
    return make().read_all(jobs) if workers <= 1 else _Workers(sorted(jobs, key=_by_size), make, workers).batches()


def _by_size(job: FileJob) -> int:
    return -job.size


def _make_reader(secrecy: Secrecy, make_learner: Callable[[], Learner] | None) -> FileReader:
    # Imported here: a scan that finds nothing new never needs them.
    from seasoned.scan.file_reader import FileReader

    return FileReader(secrecy.redactor(), None if make_learner is None else make_learner())


class _Workers:
    """Processes that take the next file when they are free; forked on Linux, where they share what is imported."""

    def __init__(self, jobs: list[FileJob], make: Callable[[], FileReader], workers: int) -> None:
        from multiprocessing import get_context

        forks = sys.platform == "linux"
        context: Any = get_context("fork" if forks else "spawn")
        reader = make()
        # One file is read before the fork: what that imports and compiles, the workers need not do once each.
        first = next((job for job in jobs if job.size <= _FIRST_BYTES), None)
        self._first = [] if first is None else list(reader.read(first))
        jobs = [job for job in jobs if job is not first]
        # Existing objects live until the workers end: keep their garbage collector away from them.
        gc.freeze()
        next_job = context.Value("i", 0)
        self._processes: list[Any] = []
        self._ends: list[Any] = []
        for _ in range(workers):
            receiver, sender = context.Pipe(duplex=False)
            given = (lambda: reader) if forks else make
            process = context.Process(target=_work, args=(sender, jobs, next_job, given), daemon=True)
            process.start()
            sender.close()
            _widen(receiver)
            self._processes.append(process)
            self._ends.append(receiver)
        gc.unfreeze()

    def batches(self) -> Iterator[Batch]:
        from multiprocessing.connection import wait

        yield from self._first
        try:
            while self._ends:
                for end in wait(self._ends):
                    data = _receive(end)
                    if data == _DONE:
                        self._ends.remove(end)
                    else:
                        yield from _decode(data)
        finally:
            for process in self._processes:
                if self._ends:
                    process.terminate()
                process.join()


def _receive(end: Any) -> bytes:
    try:
        data: bytes = end.recv_bytes()
    except EOFError:
        raise CannotDo("A worker process ended early. Run the scan again.") from None
    return data


def _widen(pipe: Any) -> None:
    with suppress(ImportError, AttributeError, OSError):  # only Linux can; a smaller pipe is only slower
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _taken(jobs: list[FileJob], next_job: Any) -> Iterator[FileJob]:
    """The jobs that this process takes."""
    while True:
        with next_job.get_lock():
            number = next_job.value
            next_job.value += 1
        if number >= len(jobs):
            return
        yield jobs[number]


def _work(sender: Any, jobs: list[FileJob], next_job: Any, make: Callable[[], FileReader]) -> None:
    # The process is short-lived and hands its results over: collecting cycles would only cost time.
    gc.disable()
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the parent has stopped
        held: list[Batch] = []
        for batch in make().read_all(_taken(jobs, next_job)):
            held.append(batch)
            if len(held) == _TOGETHER or batch.bytes_read > _TOGETHER_BYTES or not batch.done:
                sender.send_bytes(_encode(held))
                held.clear()
        sender.send_bytes(_encode(held))
        sender.send_bytes(_DONE)
