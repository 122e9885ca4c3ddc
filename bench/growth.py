"""What grows with a history: made-up sessions of 120 projects, the same for every run, and what they cost.

`SEASONED_BENCH_SESSIONS` says how many; 10,000 take some minutes, 100,000 an hour.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.scan import SEASONED, peak_memory, timed

SESSIONS = int(os.environ.get("SEASONED_BENCH_SESSIONS", "10000"))
PROJECTS = 120
DAYS = 690
CALLS = 29
FAILED = 0.075
_START = datetime(2025, 1, 1, tzinfo=UTC)
_COMMANDS = ("make test", "make lint", "git status", "git diff", "pytest -q tests/unit", "npm run build", "ls src")
# How calls fail, and how they work afterwards.
_MISTAKES = (
    ("rtk make test", "Exit code 127\nbash: rtk: command not found", "make test"),
    ("git log --shrt", "Exit code 128\nfatal: unrecognized argument: --shrt", "git log --oneline"),
    ("cat config.yml", "Exit code 1\ncat: config.yml: No such file or directory", "cat config/config.yml"),
)


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-growth-") as name:
        folder, home = Path(name) / "in", Path(name) / "home"
        calls = write_sessions(folder, SESSIONS)
        size = sum(path.stat().st_size for path in folder.rglob("*.jsonl"))
        yield f"{SESSIONS:,} sessions of {PROJECTS} projects, {calls:,} calls, {size / 1e6:.0f} MB"
        scan = [str(SEASONED), "scan", str(folder)]
        begun = time.perf_counter()
        memory = peak_memory(scan, home, folder)
        cold = time.perf_counter() - begun
        stored = (home / "seasoned.db").stat().st_size
        yield f"cold scan: {cold:.1f} s, {calls / cold:,.0f} calls a second, largest process {memory:.0f} MB"
        yield f"the store: {stored / 1e6:.0f} MB, {stored / calls:.0f} bytes a call"
        again = min(timed(scan, home, folder) for _ in range(3))
        yield f"scan again, nothing new: {again:.2f} s, {again / cold:.3f} of the cold scan (wanted: at most 0.08)"
        grown = next(iter(sorted(folder.rglob("*.jsonl"))))
        lines = list(_lines(random.Random(99), SESSIONS, session=grown.stem))
        with grown.open("ab") as file:
            file.writelines(lines[-2:])
        one = timed([str(SEASONED), "scan", str(grown)], home, folder)
        yield f"one grown file, named: {one:.2f} s (wanted: at most 0.3 s more than a start)"
        for label, command in (
            ("start alone (--version)", ["--version"]),
            ("recall of an error", ["recall", "--tool", "Bash", "--error", _MISTAKES[0][1], "--any-age", "--all"]),
            ("sessions --store", ["sessions", "--store", "--all"]),
            ("sessions --store --json, all of them", ["sessions", "--store", "--all", "--json", "--limit", "1000000"]),
        ):
            full = [str(SEASONED), *command]
            took = min(timed(full, home, folder) for _ in range(3))
            yield f"{label}: {took:.2f} s, {peak_memory(full, home, folder):.0f} MB"


def write_sessions(folder: Path, sessions: int) -> int:
    """Write so many sessions as Claude Code does; returns the number of their calls."""
    chance = random.Random(17)
    calls = 0
    for number in range(sessions):
        target = folder / f"-home-u-project-{number % PROJECTS}" / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = list(_lines(chance, number, session=target.stem))
        target.write_bytes(b"".join(lines))
        calls += (len(lines) - 1) // 2
    return calls


def _lines(chance: random.Random, number: int, *, session: str) -> Iterator[bytes]:
    at = _START + timedelta(days=chance.uniform(0, DAYS))
    place = 0

    def line(kind: str, content: object, **more: object) -> bytes:
        nonlocal at, place
        at += timedelta(seconds=chance.uniform(1, 40))
        place += 1
        record = {
            "type": kind,
            "sessionId": session,
            "cwd": f"/home/u/project-{number % PROJECTS}",
            "uuid": f"{number}-{place}",
            "timestamp": at.isoformat().replace("+00:00", "Z"),
            "message": {"role": kind, "id": f"m{number}-{place}", "model": "large-5", "content": content, **more},
        }
        return json.dumps(record).encode() + b"\n"

    yield line("user", f"Look after part {chance.randrange(1000)} of the project, and test it")
    waiting: list[str] = []
    for index in range(CALLS):
        call = f"toolu_{number:012d}{index:012d}"
        answer, failed = f"{chance.randrange(1000)} lines\nfine", False
        command = waiting.pop() if waiting else chance.choice(_COMMANDS)
        if not waiting and chance.random() < FAILED:
            command, answer, repair = chance.choice(_MISTAKES)
            failed = True
            waiting.append(repair)
        used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        yield line("assistant", [{"type": "text", "text": f"Step {index} comes next."}, used])
        result = {"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": failed}
        yield line("user", [result])
