"""Reads files in several processes and yields batches as they arrive."""

from __future__ import annotations

import gc
import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy
from seasoned.scan.rows import Batch, FileJob, Learner, Mode

if TYPE_CHECKING:
    from seasoned.scan.file_reader import FileReader

WORTH_A_PROCESS = 4 << 20  # bytes for which starting another process pays off
_FILE_BYTES = 40_000  # a file costs as much as so many bytes, even if it is empty
_MOST_TICKETS = 8000  # so many tickets of four bytes fit into a pipe
# The largest file that is read before the workers start: the larger, the more of what they need it has met.
_FIRST_BYTES = 1 << 20
# Large enough that workers keep reading while the store is busy.
_PIPE_BYTES = 1 << 20
_SIZE_BYTES = 8
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode
_DONE = b""
_ENDED = "A worker process ended early. Run the scan again."


def read_all(
    jobs: list[FileJob],
    secrecy: Secrecy,
    mode: Mode,
    workers: int,
    make_learner: Callable[[], Learner] | None = None,
) -> Iterator[Batch]:
    """Every batch of every job, in no particular order between files. The workers start immediately."""
    work = sum(job.size + _FILE_BYTES for job in jobs)
    workers = min(workers, len(jobs), 1 + work // WORTH_A_PROCESS)
    make = partial(_make_reader, secrecy, mode, make_learner)
    if workers <= 1:
        return _read_here(jobs, make)
    # Largest first; a free worker takes the next.
    jobs = sorted(jobs, key=lambda job: -job.size)
    if sys.platform == "linux":
        return _ForkedWorkers(jobs, make, workers).batches()
    return _read_in_spawned(jobs, make, workers)


_MakeReader = Callable[[], "FileReader"]


def _make_reader(secrecy: Secrecy, mode: Mode, make_learner: Callable[[], Learner] | None) -> FileReader:
    # Imported here: a scan that finds nothing new never needs them.
    from seasoned.scan.file_reader import FileReader

    return FileReader(secrecy.redactor(), mode, None if make_learner is None else make_learner())


def _read_here(jobs: Iterable[FileJob], make: _MakeReader) -> Iterator[Batch]:
    yield from make().read_all(jobs)


class _ForkedWorkers:
    """Forked processes that share what is already imported. Plain pipes, since multiprocessing is slow to import."""

    def __init__(self, jobs: list[FileJob], make: _MakeReader, workers: int) -> None:
        # One file is read before the fork: what that imports and compiles, the workers need not do once each.
        reader = make()
        first = next((job for job in jobs if job.size <= _FIRST_BYTES), None)
        self._first = [] if first is None else list(reader.read(first))
        jobs = [job for job in jobs if job is not first]
        # Existing objects live until the workers end: keep their garbage collector away from them.
        gc.freeze()
        tickets = _tickets(len(jobs))
        self._processes: list[int] = []
        self._ends: list[int] = []
        for _ in range(workers):
            receiver, sender = os.pipe()
            process = os.fork()
            if process == 0:
                for end in (*self._ends, receiver):
                    os.close(end)
                _work(sender, _taken(jobs, tickets), reader)
            os.close(sender)
            _widen(receiver)
            self._processes.append(process)
            self._ends.append(receiver)
        os.close(tickets)
        gc.unfreeze()

    def batches(self) -> Iterator[Batch]:
        yield from self._first
        ready = select.poll()
        for end in self._ends:
            ready.register(end, select.POLLIN)
        try:
            while self._ends:
                for end, _ in ready.poll():
                    data = _receive(end)
                    if data == _DONE:
                        ready.unregister(end)
                        self._ends.remove(end)
                        os.close(end)
                    else:
                        yield _decode(data)
        finally:
            if self._ends:
                self._stop()
            for process in self._processes:
                os.waitpid(process, 0)

    def _stop(self) -> None:
        import signal

        for end in self._ends:
            os.close(end)
        for process in self._processes:
            os.kill(process, signal.SIGTERM)


def _tickets(jobs: int) -> int:
    """A pipe with the numbers of the jobs: a free worker takes the next. Returns its reading end."""
    reading, writing = os.pipe()
    os.write(writing, b"".join([number.to_bytes(4, "big") for number in range(min(jobs, _MOST_TICKETS))]))
    os.close(writing)
    return reading


def _taken(jobs: list[FileJob], tickets: int) -> Iterator[FileJob]:
    """The jobs that this process takes."""
    while ticket := os.read(tickets, 4):
        yield from jobs[int.from_bytes(ticket, "big") :: _MOST_TICKETS]


def _widen(pipe: int) -> None:
    import fcntl

    with suppress(OSError):  # a smaller pipe is only slower
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _receive(end: int) -> bytes:
    size = int.from_bytes(_read_exactly(end, _SIZE_BYTES), "big")
    return _read_exactly(end, size) if size else _DONE


def _read_exactly(end: int, size: int) -> bytes:
    pieces = []
    while size:
        piece = os.read(end, size)
        if not piece:
            raise CannotDo(_ENDED)
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _send(end: int, data: bytes) -> None:
    view = memoryview(len(data).to_bytes(_SIZE_BYTES, "big") + data)
    while view:
        view = view[os.write(end, view) :]


def _work(sender: int, jobs: Iterable[FileJob], reader: FileReader) -> None:
    """The work of a forked process; never returns."""
    # The process is short-lived and hands its results over: collecting cycles would only cost time.
    gc.disable()
    done = False
    try:
        for batch in reader.read_all(jobs):
            _send(sender, _encode(batch))
        _send(sender, _DONE)
        done = True
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the parent has stopped
    finally:
        if (error := sys.exc_info()[1]) is not None:
            sys.excepthook(type(error), error, error.__traceback__)
        # Only memory is left to clean up, which the system does faster than the interpreter.
        os._exit(0 if done else 1)


def _read_in_spawned(jobs: list[FileJob], make: _MakeReader, workers: int) -> Iterator[Batch]:
    """For systems where forking is not safe (macOS, Windows): new interpreters, each with every n-th job."""
    from multiprocessing import connection, get_context

    context = get_context("spawn")
    processes: list[Any] = []
    ends: list[Any] = []
    for number in range(workers):
        receiver, sender = context.Pipe(duplex=False)
        share = jobs[number::workers]
        process = context.Process(target=_work_spawned, args=(sender, share, make), daemon=True)
        process.start()
        sender.close()
        processes.append(process)
        ends.append(receiver)
    try:
        while ends:
            ready: list[Any] = list(connection.wait(ends))
            for end in ready:
                try:
                    data = end.recv_bytes()
                except EOFError:
                    raise CannotDo(_ENDED) from None
                if data == _DONE:
                    ends.remove(end)
                    end.close()
                else:
                    yield _decode(data)
    finally:
        for process in processes:
            if ends:
                process.terminate()
            process.join()


def _work_spawned(sender: Any, jobs: list[FileJob], make: _MakeReader) -> None:
    gc.disable()
    for batch in _read_here(jobs, make):
        sender.send_bytes(_encode(batch))
    sender.send_bytes(_DONE)
    sender.close()
