"""Reads files in several processes and hands over batches as they come."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from multiprocessing import connection, get_context
from typing import Any

import msgspec

from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy
from seasoned.scan.batch import Batch, Job, Mode

WORTH_A_PROCESS = 4 << 20
"""Bytes to read from which on starting processes pays."""
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode
_DONE = b""


def read_all(jobs: list[Job], secrecy: Secrecy, mode: Mode, workers: int) -> Iterator[Batch]:
    """Every batch of every job, in no particular order between files."""
    workers = min(workers, len(jobs), 1 + sum(job.size for job in jobs) // WORTH_A_PROCESS)
    if workers <= 1:
        yield from _read_here(jobs, secrecy, mode)
    else:
        yield from _read_in_processes(_shares(jobs, workers), secrecy, mode)


def _read_here(jobs: list[Job], secrecy: Secrecy, mode: Mode) -> Iterator[Batch]:
    # Imported by whoever reads: the processes do it at the same time, and a scan without news never does.
    from seasoned.scan.reading import Reader

    reader = Reader(secrecy.redactor(), mode)
    for job in jobs:
        yield from reader.read(job)


def _shares(jobs: list[Job], workers: int) -> list[list[Job]]:
    """The jobs dealt out, largest first, each to the process that has least to read."""
    shares: list[list[Job]] = [[] for _ in range(workers)]
    sizes = [0] * workers
    for job in sorted(jobs, key=lambda job: job.size, reverse=True):
        least = sizes.index(min(sizes))
        shares[least].append(job)
        sizes[least] += job.size
    return shares


def _read_in_processes(shares: list[list[Job]], secrecy: Secrecy, mode: Mode) -> Iterator[Batch]:
    # Forking shares what is already imported; elsewhere (macOS, Windows) a new interpreter is the safe way.
    context: Any = get_context("fork" if sys.platform == "linux" else "spawn")
    processes: list[Any] = []
    open_ends: dict[Any, int] = {}
    for number, share in enumerate(shares):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(sender, share, secrecy, mode), daemon=True)
        process.start()
        sender.close()
        processes.append(process)
        open_ends[receiver] = number
    try:
        while open_ends:
            for receiver in _ready(list(open_ends)):
                data = _receive(receiver)
                if data == _DONE:
                    open_ends.pop(receiver)
                    receiver.close()
                else:
                    yield _decode(data)
    finally:
        for process in processes:
            if open_ends:
                process.terminate()
            process.join()


def _ready(ends: list[Any]) -> list[Any]:
    return list(connection.wait(ends))


def _receive(receiver: Any) -> bytes:
    try:
        data: bytes = receiver.recv_bytes()
    except EOFError:
        raise CannotDo("A reading process ended before its work was done: run the scan again.") from None
    return data


def _work(sender: Any, jobs: list[Job], secrecy: Secrecy, mode: Mode) -> None:
    # The process is short and what it makes is handed over: collecting cycles would only cost time.
    gc.disable()
    for batch in _read_here(jobs, secrecy, mode):
        sender.send_bytes(_encode(batch))
    sender.send_bytes(_DONE)
    sender.close()
