"""Mining on each engine: throughput, and the same bytes.

`SEASONED_BENCH_MINE_MB` says how many megabytes of histories; `SEASONED_BENCH_FOLDER` where they are written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

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
        digests = set()
        for engine in ENGINES:
            if engine.name == "dask" and find_spec("distributed") is None:
                yield "dask: not measured, the extra `mine` is not installed"
                continue
            seconds = _seconds(folder, engine)
            digests.add(_digest(folder / "out"))
            yield (
                f"{engine.name}, {engine.workers} at once: {seconds:.1f} s with the start, "
                f"{written.bytes / seconds / 1e6:.1f} MB/s, {written.calls / seconds:,.0f} calls a second"
            )
            if engine is not ENGINES[-1]:
                shutil.rmtree(folder / "out")
        yield f"the same bytes on every engine: {'yes' if len(digests) == 1 else 'NO'}"
        if (folder / "out").exists():
            yield f"mined again, nothing new: {_seconds(folder, ENGINES[0]):.2f} s"


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
