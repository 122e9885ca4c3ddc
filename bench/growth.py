"""What grows with a history: made-up sessions of 120 projects, the same for every run, and what they cost.

`SEASONED_BENCH_SESSIONS=1000,10000,100000 python -m bench growth` measures these; 10,000 take some minutes, 100,000
half an hour. With `SEASONED_BENCH_FOLDER` the histories are kept there, and a later run uses them again. Seconds of the
processor count: those of the clock depend on what else the machine does. Pages are measured by `python -m bench web`,
with a store of the same sizes.
"""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from bench.scan import ROOT, SEASONED, environment
from seasoned.resident import VARIABLE

SESSIONS = [int(one) for one in os.environ.get("SEASONED_BENCH_SESSIONS", "1000,10000").split(",")]
# Where the histories are written and kept: 100,000 sessions with their store take 5 GB.
FOLDER = os.environ.get("SEASONED_BENCH_FOLDER")
PLOT = ROOT / "docs" / "measurements" / "growth.svg"
PROJECTS = 120
DAYS = 690
_SEED = 17
CALLS = 29
FAILED = 0.075
_START = datetime(2025, 1, 1, tzinfo=UTC)
COMMANDS = ("make test", "make lint", "git status", "git diff", "pytest -q tests/unit", "npm run build", "ls src")
# How calls fail, and how they work afterwards.
MISTAKES = (
    ("rtk make test", "Exit code 127\nbash: rtk: command not found", "make test"),
    ("git log --shrt", "Exit code 128\nfatal: unrecognized argument: --shrt", "git log --oneline"),
    ("cat config.yml", "Exit code 1\ncat: config.yml: No such file or directory", "cat config/config.yml"),
)
_HOOK = [sys.executable, "-c", "import sys; from seasoned.hooks.main import main; sys.exit(main())", "claude-code"]
_FEWEST_RUNS = 3
# After a scan a process in the background does this, or the first search.
_FILL = """
from seasoned.app.stores import own_store
from seasoned.config import load
from seasoned.store.full_text import fill
with own_store(load()) as store:
    fill(store)
"""
_SHORT_SECONDS = 5.0
_SPENT = """
import json, resource, subprocess, sys, time
begun = time.perf_counter()
done = subprocess.run(sys.argv[1:], capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stderr.write(done.stderr.decode("utf-8", "replace")[-2000:] if done.returncode else "")
print(json.dumps([time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss]))
sys.exit(done.returncode)
"""


class Spent(NamedTuple):
    """What a command took: seconds of the clock and of the processor, and the MB of its largest process."""

    clock: float
    processor: float
    memory: float


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    found: dict[int, dict[str, Spent]] = {}
    if FOLDER is not None:
        Path(FOLDER).mkdir(parents=True, exist_ok=True)
    for sessions in SESSIONS:
        with tempfile.TemporaryDirectory(prefix="seasoned-growth-", dir=FOLDER) as name:
            found[sessions] = yield from _measure(Path(name), sessions)
    labels = list(dict.fromkeys(label for one in found.values() for label in one))
    yield ""
    yield f"{'seconds of the processor, MB':40}" + "".join(f"{sessions:>22,}" for sessions in found)
    for label in labels:
        cells = [one.get(label) for one in found.values()]
        shown = ("-" if one is None else f"{one.processor:.2f} s {one.memory:5.0f} MB" for one in cells)
        yield f"{label:40}" + "".join(f"{text:>22}" for text in shown)
    if len(found) > 1:
        yield ""
        first, *_, last = found
        yield f"{last / first:.0f} times the sessions, times the processor's time beyond a start:"
        for label in labels:
            yield f"{label:40}{_times(found, label, first, last):>22}"
        PLOT.write_text(_plot(found, labels), "utf-8")
        yield f"plotted in {PLOT.relative_to(ROOT)}"


def _times(found: dict[int, dict[str, Spent]], label: str, first: int, last: int) -> str:
    if label not in found[first] or label not in found[last]:
        return "-"
    starts = [found[size][_START_ALONE].processor for size in (first, last)]
    small, large = (found[size][label].processor - start for size, start in zip((first, last), starts, strict=True))
    return f"{large / small:.1f}" if small > 0.02 else "too little to say"


_START_ALONE = "start alone (--version)"
_INDEX = "index for search"
# What changes the store is done once.
_CHANGES = ("cold scan", "one grown file", "template build", _INDEX)


def _measure(folder: Path, sessions: int) -> Generator[str, None, dict[str, Spent]]:
    home = folder / "home"
    history, calls = _histories(folder if FOLDER is None else Path(FOLDER) / f"growth-{sessions}", sessions)
    size = sum(path.stat().st_size for path in history.rglob("*.jsonl"))
    yield f"{sessions:,} sessions of {PROJECTS} projects, {calls:,} calls, {size / 1e6:.0f} MB"
    found: dict[str, Spent] = {}
    for label, command, given in _commands(history):
        if label == "one grown file":
            with Path(command[-1]).open("ab") as file:
                file.writelines(list(_lines(random.Random(99), sessions, session=Path(command[-1]).stem))[-2:])
        spent = _run(command, home, folder, given)
        # Of short commands that only look, the fastest counts.
        if label not in _CHANGES and spent.clock < _SHORT_SECONDS:
            runs = [_run(command, home, folder, given) for _ in range(_FEWEST_RUNS - 1)]
            spent = min(spent, *runs, key=lambda one: one.processor)
        found[label] = spent
        yield f"{label}: {spent.clock:.2f} s, {spent.processor:.2f} s of the processor, {spent.memory:.0f} MB"
        if label in ("cold scan", _INDEX):
            stored = sum(path.stat().st_size for path in home.glob("seasoned.db*"))
            yield f"the store: {stored / 1e6:.0f} MB, {stored / calls:.0f} bytes a call"
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _histories(kept: Path, sessions: int) -> tuple[Path, int]:
    """The folder of the histories, written unless an earlier run wrote them to the end, and the number of calls."""
    history, written = kept / "in", kept / "calls"
    if not written.exists():
        shutil.rmtree(history, ignore_errors=True)
        written.write_text(str(write_sessions(history, sessions)))
    # An earlier run may have left it grown.
    _write_session(history, random.Random(_SEED), 0)
    return history, int(written.read_text())


def _commands(history: Path) -> Iterator[tuple[str, list[str], str]]:
    """What is measured, in order: a label, the command and its standard input."""
    project = "/home/u/project-7"
    seasoned = str(SEASONED)
    mistake = ["recall", "--tool", "Bash", "--error", MISTAKES[0][1], "--any-age"]
    grown = str(next(iter(sorted(history.rglob("*.jsonl")))))
    tool = {"type": "function", "function": {"name": "Bash", "parameters": {"type": "object"}}}
    tools = history.parent / "tools.json"
    tools.write_text(json.dumps([tool]), "utf-8")
    start = {"hook_event_name": "SessionStart", "session_id": "new", "cwd": project, "source": "startup"}
    failed = {
        "hook_event_name": "PostToolUseFailure",
        "session_id": "new",
        "cwd": project,
        "tool_name": "Bash",
        "tool_input": {"command": MISTAKES[0][0]},
        "error": MISTAKES[0][1],
    }
    yield "cold scan", [seasoned, "scan", str(history)], ""
    yield "scan again, nothing new", [seasoned, "scan", str(history)], ""
    yield "one grown file", [seasoned, "scan", grown], ""
    yield _START_ALONE, [seasoned, "--version"], ""
    yield "recall of an error, everywhere", [seasoned, *mistake, "--all"], ""
    yield "recall of an error, in a project", [seasoned, *mistake, "--project", project], ""
    yield _INDEX, [sys.executable, "-c", _FILL], ""
    yield "search", [seasoned, "search", "config.yml", "part"], ""
    yield "hook at a start", [*_HOOK, "session-start"], json.dumps(start)
    yield "hook after a failure", [*_HOOK, "post-tool-use-failure"], json.dumps(failed)
    yield "sessions --store", [seasoned, "sessions", "--store", "--all"], ""
    yield "sessions --json, all of them", [seasoned, "sessions", "--store", "--all", "--json", "--limit", "1000000"], ""
    yield "template build", [seasoned, "template", "build", "code"], ""
    yield "warm", [seasoned, "warm", "code", "--task", "test the project", "--tools", str(tools), "--all"], ""
    yield "report", [seasoned, "report", "--store", "--json"], ""
    yield "backtest of a project", [seasoned, "backtest", "--store", "--project", project, "--json"], ""


def _run(command: list[str], home: Path, config: Path, given: str) -> Spent:
    # Without the process that stays in memory, which would outlive the benchmark.
    environ = environment(home, config) | {VARIABLE: "0"}
    code = [sys.executable, "-c", _SPENT, *command]
    done = subprocess.run(code, env=environ, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr[-1000:]}")
    clock, processor, memory = json.loads(done.stdout)
    return Spent(clock, processor, memory / (1e6 if sys.platform == "darwin" else 1e3))


def _plot(found: dict[int, dict[str, Spent]], labels: list[str]) -> str:
    """Seconds of the processor by the number of sessions, both in powers of ten."""
    left, top, width, height = 60.0, 20.0, 420.0, 400.0
    sizes = list(found)
    seconds = [one.processor for by_label in found.values() for one in by_label.values()]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])

    def place(size: int, value: float) -> tuple[float, float]:
        right = (math.log10(size) - first) / (last - first)
        up = (math.log10(value) - low) / (high - low)
        return left + width * right, top + height * (1 - up)

    parts = []
    for power in range(low, high + 1):
        _, y = place(sizes[0], 10.0**power)
        parts.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#ddd"/>')
        parts.append(f'<text x="8" y="{y + 4:.1f}">{10.0**power:g} s</text>')
    for size in sizes:
        x, _ = place(size, 10.0**low)
        parts.append(f'<text x="{x:.1f}" y="{top + height + 20}" text-anchor="middle">{size:,}</text>')
    ends = []
    for number, label in enumerate(labels):
        colour = f"hsl({360 * number // len(labels)} 60% 40%)"
        points = [place(size, found[size][label].processor) for size in sizes if label in found[size]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        ends.append((points[-1][1], label, colour))
    y = -math.inf
    for at, label, colour in sorted(ends):
        y = max(at, y + 15)  # Labels of lines that end together stand below each other.
        parts.append(f'<text x="{left + width + 8}" y="{y + 4:.1f}" fill="{colour}">{label}</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 {max(460, int(y) + 30)}"'
    return f'{head} font-family="sans-serif" font-size="12">{"".join(parts)}</svg>\n'


def write_sessions(folder: Path, sessions: int) -> int:
    """Write so many sessions as Claude Code does; returns the number of their calls."""
    chance = random.Random(_SEED)
    return sum(_write_session(folder, chance, number) for number in range(sessions))


def _write_session(folder: Path, chance: random.Random, number: int) -> int:
    target = folder / f"-home-u-project-{number % PROJECTS}" / f"{number:08x}-0000-4000-8000-000000000000.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    lines = list(_lines(chance, number, session=target.stem))
    target.write_bytes(b"".join(lines))
    return (len(lines) - 1) // 2


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
        command = waiting.pop() if waiting else chance.choice(COMMANDS)
        if not waiting and chance.random() < FAILED:
            command, answer, repair = chance.choice(MISTAKES)
            failed = True
            waiting.append(repair)
        used = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        yield line("assistant", [{"type": "text", "text": f"Step {index} comes next."}, used])
        result = {"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": failed}
        yield line("user", [result])
