"""The short benchmark: a few ratios, compared with those of the last recorded run. Under a minute, for every change.

CPU time of whole processes, each beside a fixed piece of work in the same rounds, the fastest of all rounds: that
hardly depends on the machine or on what else runs on it. A ratio that grew by more than a tenth is an error.

`python -m bench.guard` is what continuous integration runs: fewer rounds, only ratios of CPU time and of steps, and an
error only where one grew by half, since that machine is another one and is busy with other work. It writes nothing.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import uvloop

from bench import gateway
from bench.scan import JSON_ALONE, ROOT, SAMPLES, SEASONED, environment
from bench.web_store import make_store
from seasoned.resident import VARIABLE
from seasoned.scan.aggregates import update_aggregates
from seasoned.store import open_store

RECORDED = ROOT / "docs" / "measurements" / "guard.json"
ROUNDS = 5
WORSE = 1.10
SHORT_ROUNDS = 3
MUCH_WORSE = 1.5
# The clock depends on what else runs on the machine.
_OF_THE_CLOCK = "wall time"
REQUESTS = 150
# Small enough to be read often, large enough that reading outweighs the start of the program.
CORPUS_BYTES = 12_000_000
_HOOK = "import sys; from seasoned.hooks.main import main; sys.exit(main())"
Measured = dict[str, tuple[float, float]]  # seconds of CPU and of the clock


def figures() -> Iterator[str]:
    """The lines that the benchmark prints; raises SystemExit if something got slower."""
    found = dict(_ratios(ROUNDS))
    worse = yield from _compared(found, WORSE)
    if os.environ.get("SEASONED_BENCH_RECORD"):
        RECORDED.write_text(json.dumps({name: round(ratio, 4) for name, ratio in found.items()}, indent=2) + "\n")
        yield f"recorded in {RECORDED.relative_to(ROOT)}"
    elif worse:
        raise SystemExit(
            f"Slower by more than {100 * (WORSE - 1):.0f} %: {', '.join(worse)}. Find out why, or record the new "
            "figures with SEASONED_BENCH_RECORD=1 python -m bench guard."
        )


def check() -> None:
    """The short form: prints the ratios, and ends with an error where one is much worse than recorded."""
    found = {name: ratio for name, ratio in _ratios(SHORT_ROUNDS) if _OF_THE_CLOCK not in name}
    lines = _compared(found, MUCH_WORSE)
    while True:
        try:
            print(next(lines), flush=True)  # noqa: T201
        except StopIteration as end:
            worse: list[str] = end.value
            break
    if worse:
        raise SystemExit(
            f"Much slower than recorded: {', '.join(worse)}. Run `python -m bench guard` on a quiet machine, and find "
            "out why."
        )


def _compared(found: dict[str, float], worse_by: float) -> Generator[str, None, list[str]]:
    """A line for each ratio beside the recorded one; returns the names of those that are worse."""
    known: dict[str, float] = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    worse = []
    for name, ratio in found.items():
        before = known.get(name)
        text = f"{name}: {ratio:.3f}"
        yield text if before is None else f"{text} (recorded {before:.3f}, {100 * (ratio / before - 1):+.0f} %)"
        if before is not None and ratio > before * worse_by:
            worse.append(name)
    return worse


def _ratios(rounds: int) -> Iterator[tuple[str, float]]:
    # What hooks start in the background may still write when the folder is removed.
    with tempfile.TemporaryDirectory(prefix="seasoned-guard-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        best = _fastest(_work(folder), rounds)
        yield "cold scan / json.loads, CPU", best["cold scan"][0] / best["json"][0]
        yield "cold scan / json.loads, wall time", best["cold scan"][1] / best["json"][1]
        yield "scan again / bare interpreter, CPU", best["scan again"][0] / best["bare"][0]
        yield "hook at a start / bare interpreter, CPU", best["hook"][0] / best["bare"][0]
        yield "template build / json.loads, CPU", best["build"][0] / best["json"][0]
        yield "provision / bare interpreter, CPU", best["provision"][0] / best["bare"][0]
        yield "a request through the gateway / a bare proxy, CPU", _gateway_ratio(folder / "gateway")
        small, large = (_steps(folder / str(sessions), sessions) for sessions in (200, 2000))
        # What the gateway does whenever a turn ends, in steps of SQLite: the same on every machine.
        yield "totals of a session in a store ten times as large, steps", large / small


def _work(folder: Path) -> dict[str, Callable[[], None]]:
    corpus = folder / "in"
    size = sum(path.stat().st_size for path in SAMPLES.rglob("*.jsonl"))
    for number in range(CORPUS_BYTES // size + 1):
        for path in SAMPLES.rglob("*.jsonl"):
            target = corpus / str(number) / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            # New ids, or all but the first would be copies.
            data = path.read_bytes().replace(b'"toolu_01', b'"toolu_%02d' % number)
            target.write_bytes(data.replace(b'"sessionId":"', b'"sessionId":"%02d' % number))
    # Without the process that stays in memory, which would outlive the benchmark.
    environ = environment(folder / "home", folder) | {VARIABLE: "0"}
    event = json.dumps(
        {"hook_event_name": "SessionStart", "session_id": "guard", "cwd": str(folder), "source": "startup"}
    )

    def run(*command: str, stdin: str = "") -> None:
        ended = subprocess.run(command, env=environ, input=stdin, text=True, check=False, capture_output=True)
        if ended.returncode:
            said = (ended.stderr or ended.stdout).strip()
            raise SystemExit(f"{' '.join(command[:2])} ended with {ended.returncode}: {said}")

    def cold() -> None:
        # A new home each time: the hook of the round before may have left a process that still learns in its own.
        environ["SEASONED_HOME"] = tempfile.mkdtemp(prefix="home-", dir=folder)
        run(str(SEASONED), "scan", str(corpus))

    return {
        "bare": lambda: run(sys.executable, "-c", "pass"),
        "json": lambda: run(sys.executable, "-c", JSON_ALONE, str(corpus)),
        "cold scan": cold,
        "scan again": lambda: run(str(SEASONED), "scan", str(corpus)),
        "build": lambda: run(str(SEASONED), "template", "build", "guard", "--store", "--min-messages", "5"),
        "provision": lambda: run(str(SEASONED), "warm", "guard", "--all", "--task", "run the tests"),
        "hook": lambda: run(sys.executable, "-c", _HOOK, "claude-code", "session-start", stdin=event),
    }


def _fastest(work: dict[str, Callable[[], None]], rounds: int) -> Measured:
    best: Measured = {}
    for _ in range(rounds):  # interleaved, so that a slow moment of the machine meets all of them
        for name, run in work.items():
            cpu, clock = _children_cpu(), time.perf_counter()
            run()
            now = (_children_cpu() - cpu, time.perf_counter() - clock)
            before = best.get(name, now)
            best[name] = (min(before[0], now[0]), min(before[1], now[1]))
    return best


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _gateway_ratio(folder: Path) -> float:
    """What the gateway's process uses for its requests, recording included, by what a bare proxy uses for the same."""
    folder.mkdir()
    with ExitStack() as stack:
        run = [sys.executable, "-m"]
        upstream = stack.enter_context(gateway.start_program([*run, "bench.gateway_upstream"], gateway.BEHIND))
        url = f"http://127.0.0.1:{gateway.first_line(upstream)}"
        bare = stack.enter_context(gateway.start_program([*run, "bench.gateway_bare", url], gateway.BEFORE))
        targets = [gateway.Target("bare", int(gateway.first_line(bare)), "sk-bench", bare)]
        targets.append(stack.enter_context(gateway.start_gateway(folder, url)))
        uvloop.run(gateway.ask_by_turns(targets, gateway.ORDINARY, count=20, is_stream=False))
        before = [_process_cpu(target) for target in targets]
        for is_stream in (False, True):
            uvloop.run(gateway.ask_by_turns(targets, gateway.ORDINARY, count=REQUESTS, is_stream=is_stream))
        # The recorder writes every half second.
        time.sleep(1.5)
        plain, own = (_process_cpu(target) - then for target, then in zip(targets, before, strict=True))
    return own / plain


def _process_cpu(target: gateway.Target) -> float:
    assert target.process is not None
    fields = Path(f"/proc/{target.process.pid}/stat").read_text("utf-8").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _steps(home: Path, sessions: int) -> int:
    """How many steps SQLite takes to bring the totals of one session up to date."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with open_store(make_store(home, sessions)) as store:
        update_aggregates(store, [77])
        store.connection.set_progress_handler(step, 100)
        update_aggregates(store, [77])
    return count


if __name__ == "__main__":
    check()
