"""Three ratios that continuous integration guards: processor time beside that of something every machine can do.

They are no figures; those are in docs/measurements.md. A limit is half as much again as a quiet machine needs.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.scan import JSON_ALONE, SAMPLES, SEASONED, make_corpus, spent
from seasoned.redact import Secrecy

SCAN, HOOK, REDACTION = 11.0, 8.0, 14.0
RUNS = 5


def figures() -> Iterator[str]:
    """A line for each ratio; ends the process if one is over its limit."""
    with tempfile.TemporaryDirectory(prefix="seasoned-guard-") as name:
        found = {"cold scan": (_scan(Path(name)), SCAN), "a hook": (_hook(Path(name)), HOOK)}
    found["redaction"] = (_redaction(), REDACTION)
    beside = {"cold scan": "json.loads", "a hook": "a bare start of Python", "redaction": "json.loads"}
    for what, (ratio, limit) in found.items():
        yield f"{what}: {ratio:.1f} times the processor time of {beside[what]} (at most {limit:.0f})"
    if over := [what for what, (ratio, limit) in found.items() if ratio > limit]:
        sys.exit(f"Over the limit: {', '.join(over)}.")


def _scan(folder: Path) -> float:
    projects = make_corpus(folder / "user" / ".claude" / "projects", source=SAMPLES, wanted_bytes=20_000_000)
    alone, ours = [], []
    for number in range(RUNS):
        around = {"HOME": str(folder / "user"), "SEASONED_HOME": str(folder / f"store-{number}"), "CI": "1"}
        alone.append(spent([sys.executable, "-c", JSON_ALONE, str(projects)], around).cpu_seconds)
        ours.append(spent([str(SEASONED), "scan"], around).cpu_seconds)
    return min(ours) / min(alone)


def _hook(folder: Path) -> float:
    around = {"HOME": str(folder / "user"), "SEASONED_HOME": str(folder / "store-0"), "CI": "1"}
    said = json.dumps({"session_id": "s", "cwd": str(folder), "source": "startup"})
    hook = [str(SEASONED.with_name("seasoned-hook")), "claude-code", "session-start"]
    runs = [
        (spent(hook, around, said).cpu_seconds, spent([sys.executable, "-c", "pass"], around).cpu_seconds)
        for _ in range(4 * RUNS)
    ]
    ours, bare = map(min, zip(*runs, strict=True))
    return ours / bare


def _redaction() -> float:
    texts = [path.read_text("utf-8") for path in sorted(SAMPLES.rglob("*.jsonl"))]
    lines = [line for text in texts for line in text.splitlines() if line.endswith("}")]  # one is cut off on purpose
    redact = Secrecy(b"k" * 32).redactor().text
    ours, alone = [], []
    for _ in range(RUNS):
        begun = time.process_time()
        for line in lines:
            redact(line)
        middle = time.process_time()
        for line in lines:
            json.loads(line)
        ours.append(middle - begun)
        alone.append(time.process_time() - middle)
    return min(ours) / min(alone)
