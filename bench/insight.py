"""How long a report and a profile take on sessions that are already scanned."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.scan import SEASONED, environment, make_corpus

RUNS = 5


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        folder = Path(name)
        corpus = make_corpus(folder / "claude" / "projects")
        size = sum(path.stat().st_size for path in corpus.rglob("*.jsonl"))
        around = environment(folder / "home", corpus.parent)
        subprocess.run([SEASONED, "scan", corpus], env=around, check=True, capture_output=True)
        yield f"corpus: {size / 1e6:.1f} MB of Claude Code sessions, scanned before"
        page, figures_alone = (_timed(folder, around, "report", *more) for more in ((), ("--json",)))
        yield f"seasoned report, the whole process with the page: {page:.2f} s (wanted: under 5)"
        yield f"seasoned report --json, figures alone: {figures_alone:.2f} s"
        yield from _in_process(around, corpus)


def _timed(folder: Path, around: dict[str, str], *arguments: str) -> float:
    """The median of several runs of the whole command."""
    seconds = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        subprocess.run([SEASONED, *arguments], env=around, cwd=folder, check=True, capture_output=True)
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def _in_process(around: dict[str, str], corpus: Path) -> Iterator[str]:
    """A profile inside a process that has begun: from the store, and read again from the largest file."""
    largest = max(corpus.rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    done = subprocess.run(
        [sys.executable, "-c", _PROFILE, str(Path(around["SEASONED_HOME"]) / "seasoned.db"), str(largest)],
        env=around,
        check=True,
        capture_output=True,
        text=True,
    )
    yield from done.stdout.splitlines()


_PROFILE = """
import sys, time
from pathlib import Path

begun = time.perf_counter()
from seasoned.outcome.track import tracks
from seasoned.report.profile import profile
from seasoned.store import open_store

store = open_store(Path(sys.argv[1]))
row = store.connection.execute("SELECT id, calls FROM session ORDER BY calls DESC LIMIT 1").fetchone()
(track,) = tracks(store, sessions=[row["id"]])
profile(track)
taken = time.perf_counter() - begun
print(f"profile of the longest session ({row['calls']} calls) from the store, imports included: {taken:.3f} s")
begun = time.perf_counter()
import seasoned

session = max(seasoned.read(sys.argv[2]), key=lambda one: one.message_count)
seasoned.profile(session)
taken = time.perf_counter() - begun
size = Path(sys.argv[2]).stat().st_size / 1e6
print(f"seasoned.profile of the largest file ({size:.1f} MB), read and judged: {taken:.3f} s (wanted: under 0.3)")
"""
