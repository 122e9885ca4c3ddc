"""Mining on each engine: throughput, processor time, memory, the same bytes, and a worker that is killed in mid-run.

`SEASONED_BENCH_MINE_MB` says how many megabytes of histories; 60 take a minute or two, 1,000 ten minutes on two cores.
`SEASONED_BENCH_FOLDER` says where they are written: with all results they need three times as much.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.mine_histories import write_histories
from seasoned.mine.engine import DaskEngine, PoolEngine, make_engine
from seasoned.mine.read import list_files
from seasoned.mine.run import mine
from seasoned.redact import Secrecy

MEGABYTES = float(os.environ.get("SEASONED_BENCH_MINE_MB", "60"))
# Of short runs the fastest counts; long ones are their own average.
ROUNDS = int(os.environ.get("SEASONED_BENCH_MINE_ROUNDS", "3" if MEGABYTES <= 100 else "1"))
# As engine:processes, for sizes at which only some of them fit into the time.
RUNS = os.environ.get("SEASONED_BENCH_MINE_RUNS", "inline:1,pool:1,pool:2,dask:1,dask:2")
FOLDER = os.environ.get("SEASONED_BENCH_FOLDER")
WANTED = 0.8  # of what the pool does with as many processes
_KILL_MEGABYTES = 60.0  # enough to kill a worker in the middle of
_SAMPLE_SECONDS = 0.1


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    has_dask = find_spec("distributed") is not None
    with tempfile.TemporaryDirectory(prefix="seasoned-mine-", dir=FOLDER) as name:
        folder = Path(name)
        begun = time.perf_counter()
        written = write_histories(folder / "in", MEGABYTES)
        size = written.bytes
        yield (
            f"{size / 1e6:,.0f} MB: {written.sessions:,} sessions of {written.projects:,} projects, "
            f"{written.calls:,} calls, written in {time.perf_counter() - begun:.1f} s; rounds: {ROUNDS}"
        )
        named = [one.partition(":") for one in RUNS.split(",")]
        runs = [(engine, int(workers)) for engine, _, workers in named if engine != "dask" or has_dask]
        if not has_dask:
            yield "dask: not measured, the extra `mine` is not installed"
        found: dict[tuple[str, int], list[dict[str, Any]]] = {one: [] for one in runs}
        for number in range(ROUNDS):
            # In another order each time: what the machine does besides hits all of them.
            for engine, workers in random.Random(number).sample(runs, len(runs)):
                found[engine, workers].append(_measure(folder, engine, workers))
        for (engine, workers), each in found.items():
            best, processor, start = [_least(each, name) for name in ("seconds", "processor", "start")]
            yield (
                f"{engine}, {workers} process{'es' if workers > 1 else ''}: fastest {best:.1f} s of {len(each)}, "
                f"{size / best / 1e6:.1f} MB/s, {written.calls / best:,.0f} calls a second; "
                f"processor {processor:.1f} s ({size / processor / 1e6:.1f} MB for each second); start {start:.1f} s; "
                f"memory {_most(each, 'largest'):.0f} MB in one process, {_most(each, 'together'):.0f} MB in all"
            )
        yield from _ratios(found)
        digests = {one["digest"] for each in found.values() for one in each}
        yield f"the same bytes in all {ROUNDS * len(runs)} runs: {'yes' if len(digests) == 1 else 'NO'}"
        yield from _killed(folder, ("pool", "dask") if has_dask else ("pool",))
        yield f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _ratios(found: dict[tuple[str, int], list[dict[str, Any]]]) -> Iterator[str]:
    for workers in (1, 2):
        dask, pool = found.get(("dask", workers)), found.get(("pool", workers))
        if dask is None or pool is None:
            continue
        by_clock = _least(pool, "seconds") / _least(dask, "seconds")
        by_processor = _least(pool, "processor") / _least(dask, "processor")
        yield (
            f"dask / pool, {workers} each: {by_clock:.2f} by clock, {by_processor:.2f} by processor "
            f"(wanted: at least {WANTED} by clock: {'met' if by_clock >= WANTED else 'not met'})"
        )


def _killed(folder: Path, engines: tuple[str, ...]) -> Iterator[str]:
    """One of two workers is killed, on a smaller history; then nothing is new."""
    shutil.rmtree(folder / "in")
    size = write_histories(folder / "in", min(MEGABYTES, _KILL_MEGABYTES)).bytes
    whole = _measure(folder, "inline", 1)
    for engine in engines:
        killed = _measure(folder, engine, 2, kill=True)
        yield (
            f"{engine}, one of 2 workers killed after {killed['killed_after']:.1f} s ({size / 1e6:.0f} MB): "
            f"{killed['seconds']:.1f} s, {killed['failures']} failures, "
            f"the same bytes: {'yes' if killed['digest'] == whole['digest'] else 'NO'}"
        )
    yield f"mined again, nothing new: {_again(folder):.2f} s"


def _least(each: list[dict[str, Any]], name: str) -> float:
    return float(min(one[name] for one in each))


def _most(each: list[dict[str, Any]], name: str) -> float:
    return float(max(one[name] for one in each))


def _measure(folder: Path, engine: str, workers: int, *, kill: bool = False) -> dict[str, Any]:
    """One run in processes of its own, with the processor time of all of them."""
    out = folder / "out"
    command = [sys.executable, "-m", "bench.mine", engine, str(workers), str(folder / "in"), str(out)]
    process = subprocess.Popen(
        [*command, "kill"] if kill else command, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    spent: dict[int, float] = {}
    before = largest = together = 0.0
    while process.poll() is None:
        sizes = _sample(process.pid, spent)
        largest, together = max(largest, *sizes), max(together, sum(sizes))
        # The start of an engine is told apart: it is the same for any amount of work.
        before = before if (folder / "started").exists() else sum(spent.values())
        time.sleep(_SAMPLE_SECONDS)
    (folder / "started").unlink()
    assert process.stdout is not None
    printed = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{engine} ended with code {process.returncode}")
    digest = sha256()
    for path in sorted(out.rglob("*.parquet")):
        digest.update(str(path.relative_to(out)).encode() + path.read_bytes())
    if not kill:
        shutil.rmtree(out)
    else:
        out.rename(folder / f"kept-{engine}")
    return {
        **json.loads(printed.splitlines()[-1]),
        "processor": sum(spent.values()) - before,
        "largest": largest,
        "together": together,
        "digest": digest.hexdigest(),
    }


def _sample(session: int, spent: dict[int, float]) -> list[float]:
    """Note the processor time of every process of a session so far; returns the MB of memory that each has now."""
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    sizes = [0.0]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            if int(fields[3]) == session:
                spent[int(entry.name)] = (int(fields[11]) + int(fields[12])) / tick
                sizes.append(int(fields[21]) * page / 1e6)
    return sizes


def _again(folder: Path) -> float:
    """Nothing new in a folder that was mined."""
    begun = time.perf_counter()
    report = mine(
        list_files([str(folder / "in")]), str(folder / "kept-pool"), Secrecy(b"k" * 32), make_engine("inline", 1)
    )
    assert report.read == 0
    return time.perf_counter() - begun


def _run(name: str, workers: int, source: str, out: str, *, kill: bool) -> dict[str, Any]:
    begun = time.perf_counter()
    engine = make_engine(name, workers)
    started = time.perf_counter()
    Path(out).with_name("started").touch()
    killed_after = [0.0]

    def progress(done: int, total: int) -> None:
        # After a third, while all of them work.
        if kill and not killed_after[0] and done > total / 3:
            killed_after[0] = time.perf_counter() - started
            threading.Thread(target=_kill_one, args=(engine,)).start()

    report = mine(list_files([source]), out, Secrecy(b"k" * 32), engine, progress=progress)
    ended = time.perf_counter()
    engine.close()
    return {
        "start": started - begun,
        "seconds": ended - started,
        "failures": len(report.failures) + len(report.unfinished),
        "retried": report.retried,
        "killed_after": killed_after[0],
    }


def _kill_one(engine: Any) -> None:
    if isinstance(engine, PoolEngine):
        os.kill(engine.processes[0], signal.SIGKILL)
    elif isinstance(engine, DaskEngine):
        os.kill(next(iter(engine.client.run(os.getpid).values())), signal.SIGKILL)


if __name__ == "__main__":
    print(json.dumps(_run(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5], kill="kill" in sys.argv[5:])))  # noqa: T201
