"""Mining on each engine: throughput, and the same bytes.

`SEASONED_BENCH_MINE_MB` says how many megabytes of histories; `SEASONED_BENCH_FOLDER` where they are written.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Timer

from distributed import LocalCluster

from bench.mine_histories import write_histories
from seasoned.mine.read import list_files
from seasoned.mine.run import Engine, mine
from seasoned.redact import Secrecy

MEGABYTES = float(os.environ.get("SEASONED_BENCH_MINE_MB", "60"))
FOLDER = os.environ.get("SEASONED_BENCH_FOLDER")
ENGINES = (Engine("inline"), Engine("pool", 2), Engine("dask", 2))


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-mine-", dir=FOLDER) as name:
        folder = Path(name)
        written = write_histories(folder / "in", MEGABYTES)
        yield f"{written.bytes / 1e6:,.0f} MB: {written.sessions:,} sessions, {written.calls:,} calls"
        digests, seconds = set(), {}
        for engine in ENGINES:
            shutil.rmtree(folder / "out", ignore_errors=True)
            seconds[engine.name] = taken = _seconds(folder, engine)
            digests.add(_digest(folder / "out"))
            speed = f"{written.bytes / taken / 1e6:.1f} MB/s, {written.calls / taken:,.0f} calls a second"
            yield f"{engine.name}, {engine.workers} at once: {taken:.1f} s with the start, {speed}"
        yield f"speed of dask beside the pool's: {seconds['pool'] / seconds['dask']:.2f} (wanted: at least 0.9)"
        shutil.rmtree(folder / "out")
        with _losing_a_worker(seconds["dask"] / 3) as scheduler:
            taken = _seconds(folder, Engine("dask", 2, scheduler))
        digests.add(_digest(folder / "out"))
        yield f"dask, one worker killed after a third of that time: {taken:.1f} s"
        yield f"the same bytes each time: {'yes' if len(digests) == 1 else 'NO'}"
        yield f"mined again, nothing new: {_seconds(folder, ENGINES[0]):.2f} s"


@contextmanager
def _losing_a_worker(after_seconds: float) -> Iterator[str]:
    """The address of a cluster of two processes, one of which is killed; the cluster starts another in its place."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        worker = next(iter(cluster.workers.values()))
        timer = Timer(after_seconds, lambda: os.kill(worker.process.process.pid, signal.SIGKILL))
        timer.start()
        yield cluster.scheduler_address
        assert not timer.is_alive(), "the work was done before the worker could be killed"
        timer.cancel()


def _seconds(folder: Path, engine: Engine) -> float:
    begun = time.perf_counter()
    report = mine(list_files([str(folder / "in")]), str(folder / "out"), Secrecy(b"k" * 32), engine)
    assert not report.failures
    return time.perf_counter() - begun


def _digest(out: Path) -> str:
    digest = sha256()
    for path in sorted(out.rglob("*.parquet")):
        digest.update(str(path.relative_to(out)).encode() + path.read_bytes())
    return digest.hexdigest()
