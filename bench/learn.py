"""How long an agent waits at the end of a session, and how long after it what the session taught is known.

Each round writes a new session, runs the hook as the agent does, and then waits for the background process. An
interpreter that does nothing (`python -c pass`) is run in the same rounds.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.hooks.test_learning import write_session

from seasoned.learn_queue import wait_until_learned

ROUNDS = 25
GOAL_MS = 50
SESSIONS = 1000
_HOOK = Path(sys.executable).parent / "seasoned-hook"
_SEASONED = Path(sys.executable).parent / "seasoned"
_ENDS = (
    ("claude-code stop", "stop", {"prompt_id": "turn"}),
    ("claude-code session-end", "session-end", {"reason": "other"}),
)


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-", ignore_cleanup_errors=True) as name:
        home = Path(name).resolve()
        projects = home / ".claude" / "projects"
        env = {"PATH": os.environ["PATH"], "HOME": str(home)}
        for number in range(SESSIONS):
            write_session(projects, number)
        subprocess.run([_SEASONED, "scan"], env=env, check=True, capture_output=True)
        yield f"{ROUNDS} rounds, {SESSIONS:,} sessions of one project in the store; milliseconds, median and 95 %"
        number = SESSIONS
        # The two differ in what the background process does: templates are rebuilt at the end of a session.
        for label, event, fields in _ENDS:
            waited, worked, learned, bare = [], [], [], []
            for _ in range(ROUNDS):
                number += 1
                path = write_session(projects, number)
                said = {"session_id": path.stem, "transcript_path": str(path), "cwd": "/home/mira/w", **fields}
                begun = time.perf_counter()
                worked.append(_run([_HOOK, "claude-code", event], json.dumps(said), env))
                waited.append(time.perf_counter() - begun)
                if not wait_until_learned(str(home / ".seasoned"), 120):
                    raise RuntimeError(f"nothing was learned: {(home / '.seasoned/logs/hooks.log').read_text()}")
                learned.append(time.perf_counter() - begun)
                begun = time.perf_counter()
                _run([sys.executable, "-c", "pass"], "", env)
                bare.append(time.perf_counter() - begun)
            yield f"  {label}: the agent waits {_pair(waited)} (processor {_pair(worked)}; bare start {_pair(bare)})"
            yield f"    what the session taught is known after {_pair(learned)}"
            for kind, taken in (("clock", waited), ("processor", worked)):
                met = 1e3 * statistics.median(taken) < GOAL_MS
                yield f"    wanted: less than {GOAL_MS} ms in the median, by {kind}: {'met' if met else 'missed'}"
        yield f"  {_starts(projects, env)}"
        yield f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def _starts(projects: Path, env: dict[str, str]) -> str:
    """A start where nothing is new: it looks, and starts no process."""
    taken = []
    for number in range(ROUNDS):
        own = projects / "-home-mira-w" / f"new-{number}.jsonl"
        said = {"session_id": own.stem, "transcript_path": str(own), "cwd": "/home/mira/w", "source": "startup"}
        begun = time.perf_counter()
        _run([_HOOK, "claude-code", "session-start"], json.dumps(said), env)
        taken.append(time.perf_counter() - begun)
        wait_until_learned(f"{env['HOME']}/.seasoned", 120)
    return f"claude-code session-start, nothing new: the agent waits {_pair(taken[1:])}"


def _run(command: list[object], said: str, env: dict[str, str]) -> float:
    """Run a program; the seconds of the processor that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), input=said, env=env, text=True, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _pair(seconds: list[float]) -> str:
    return f"{1e3 * statistics.median(seconds):.0f}, {1e3 * statistics.quantiles(seconds, n=20)[-1]:.0f}"
