"""How long an agent waits for a hook: from the start of its process to its end, by the clock, on a used store."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROUNDS = 25
LIMIT_MS = 150
_RECORDED = Path(__file__).parent.parent / "tests" / "hooks" / "recorded"
_EVENTS = {
    "SessionStart-startup": "session-start",
    "PreToolUse": "pre-tool-use",
    "PostToolUseFailure": "post-tool-use-failure",
    "PostToolUse": "post-tool-use",
    "Stop": "stop",
}
_BIN = Path(sys.executable).parent


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        home = Path(name)
        env = {"PATH": os.environ["PATH"], "HOME": name, "SEASONED_HOME": str(home / ".seasoned")}
        samples = Path(__file__).parent.parent / "src" / "seasoned" / "samples"
        for command in (["scan", str(samples)], ["template", "build", "measured", str(samples)]):
            subprocess.run([_BIN / "seasoned", *command], env=env, check=True, capture_output=True)
        yield f"a hook from start to end, milliseconds by the clock, {ROUNDS} rounds, store of the samples; beside it"
        yield "an interpreter that does nothing: median, 95 % (wanted: under 150)"
        worst = 0.0
        for agent in ("claude-code", "codex"):
            recorded = json.loads((_RECORDED / f"{agent}.json").read_text("utf-8"))
            for event, argument in _EVENTS.items():
                if event not in recorded or (agent, event) == ("claude-code", "PostToolUse"):
                    continue
                ours, bare = _timed(agent, argument, recorded[event], env)
                worst = max(worst, statistics.median(ours))
                yield f"  {agent} {argument}: {_shown(ours)}; nothing: {_shown(bare)}"
        yield f"wanted: median under {LIMIT_MS}: {'met' if worst < LIMIT_MS else 'not met'} (worst {worst:.0f})"


def _timed(agent: str, argument: str, event: dict[str, object], env: dict[str, str]) -> tuple[list[float], list[float]]:
    """By turns, so that both meet the same machine."""
    ours, bare = [], []
    for number in range(ROUNDS):
        said = json.dumps({**event, "session_id": f"timed-{number}"})
        ours.append(_took([str(_BIN / "seasoned-hook"), agent, argument], said, env))
        bare.append(_took([sys.executable, "-c", "pass"], said, env))
    return ours, bare


def _took(command: list[str], said: str, env: dict[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, input=said, env=env, text=True, capture_output=True, check=True)
    return 1e3 * (time.perf_counter() - begun)


def _shown(taken: list[float]) -> str:
    return f"{statistics.median(taken):.0f}, {statistics.quantiles(taken, n=20)[-1]:.0f}"
