"""Reads files in several processes and hands over batches as they come."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable, Iterator
from multiprocessing import connection, get_context
from typing import Any

import msgspec

from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy
from seasoned.scan.batch import Batch, Job, Mode

WORTH_A_PROCESS = 4 << 20
"""Bytes to read from which on starting processes pays."""
_MOST_TICKETS = 8000
"""So many tickets of four bytes always fit into a pipe."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode
_DONE = b""


def read_all(jobs: list[Job], secrecy: Secrecy, mode: Mode, workers: int) -> Iterator[Batch]:
    """Every batch of every job, in no particular order between files."""
    workers = min(workers, len(jobs), 1 + sum(job.size for job in jobs) // WORTH_A_PROCESS)
    if workers <= 1:
        yield from _read_here(jobs, secrecy, mode)
    else:
        yield from _read_in_processes(sorted(jobs, key=lambda job: -job.size), secrecy, mode, workers)


def _read_here(jobs: Iterable[Job], secrecy: Secrecy, mode: Mode) -> Iterator[Batch]:
    # Imported by whoever reads: the processes do it at the same time, and a scan without news never does.
    from seasoned.scan.reading import Reader

    reader = Reader(secrecy.redactor(), mode)
    for job in jobs:
        yield from reader.read(job)


def _read_in_processes(jobs: list[Job], secrecy: Secrecy, mode: Mode, workers: int) -> Iterator[Batch]:
    # Forking shares what is already imported; elsewhere (macOS, Windows) a new interpreter is the safe way.
    forks = sys.platform == "linux"
    context: Any = get_context("fork" if forks else "spawn")
    tickets = _tickets(len(jobs)) if forks else None
    processes: list[Any] = []
    ends: list[Any] = []
    for number in range(workers):
        receiver, sender = context.Pipe(duplex=False)
        # Largest first to whoever is free; without a shared pipe each takes every n-th.
        share = jobs if tickets is not None else jobs[number::workers]
        process = context.Process(target=_work, args=(sender, share, tickets, secrecy, mode), daemon=True)
        process.start()
        sender.close()
        processes.append(process)
        ends.append(receiver)
    if tickets is not None:
        os.close(tickets)
    try:
        while ends:
            for receiver in _ready(ends):
                data = _receive(receiver)
                if data == _DONE:
                    ends.remove(receiver)
                    receiver.close()
                else:
                    yield _decode(data)
    finally:
        for process in processes:
            if ends:
                process.terminate()
            process.join()


def _tickets(jobs: int) -> int:
    """The reading end of a pipe that holds the numbers of the jobs: whoever is free takes the next."""
    reading, writing = os.pipe()
    for number in range(min(jobs, _MOST_TICKETS)):
        os.write(writing, number.to_bytes(4, "big"))
    os.close(writing)
    return reading


def _taken(jobs: list[Job], tickets: int | None) -> Iterator[Job]:
    """The jobs that fall to this process."""
    if tickets is None:
        yield from jobs
        return
    while ticket := os.read(tickets, 4):
        yield from jobs[int.from_bytes(ticket, "big") :: _MOST_TICKETS]


def _ready(ends: list[Any]) -> list[Any]:
    return list(connection.wait(ends))


def _receive(receiver: Any) -> bytes:
    try:
        data: bytes = receiver.recv_bytes()
    except EOFError:
        raise CannotDo("A reading process ended before its work was done: run the scan again.") from None
    return data


def _work(sender: Any, jobs: list[Job], tickets: int | None, secrecy: Secrecy, mode: Mode) -> None:
    # The process is short and what it makes is handed over: collecting cycles would only cost time.
    gc.disable()
    for batch in _read_here(_taken(jobs, tickets), secrecy, mode):
        sender.send_bytes(_encode(batch))
    sender.send_bytes(_DONE)
    sender.close()
    # Nothing is left to be cleaned up but memory, which the system does quicker than the interpreter.
    os._exit(0)
