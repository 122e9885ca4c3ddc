"""What the gateway adds to a request, next to a direct call, a bare proxy on the same libraries, and LiteLLM."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import uvloop
from tests.example.examples import example, template

from bench.gateway_load import Conversation, Lines, Shape, Taken, ask_at_rate, ask_one_by_one
from bench.gateway_upstream import SLOW_EVENTS
from seasoned.config import Config
from seasoned.example.library.storage import save
from seasoned.experiment.live.assignment import ArmShare, keep_split, new_split
from seasoned.gateway.accounting import make_key
from seasoned.store import open_store

QUICK = os.environ.get("SEASONED_BENCH_QUICK") == "1"
ONE_BY_ONE = 60 if QUICK else 400
ROUNDS = 3 if QUICK else 4
SLICE_SECONDS = 1.0 if QUICK else 3.0
RATE = 200
AGENTS = 50
STREAMS = 1000
LARGE = 12 if QUICK else 60
REQUESTS = 3_000 if QUICK else 100_000
ORDINARY = Shape(fewest=1, most=80, result_chars=1_200)
LONG = Shape(fewest=76, most=84, result_chars=9_500)
LITELLM = Path(".venv/litellm")
LITELLM_KEY = "sk-bench"
BEHIND, BEFORE = 0, 1
"""The core of who asks and who answers, and the core of the proxies."""


class Target(NamedTuple):
    """A server to measure."""

    name: str
    port: int
    token: str
    process: subprocess.Popen[str] | None = None


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    _pin(os.getpid(), BEHIND)
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        upstream = stack.enter_context(start_program([sys.executable, "-m", "bench.gateway_upstream"], BEHIND))
        direct = Target("direct", int(first_line(upstream)), "sk-bench")
        url = f"http://127.0.0.1:{direct.port}"
        bare = stack.enter_context(start_program([sys.executable, "-m", "bench.gateway_bare", url], BEFORE))
        targets = [direct, Target("bare", int(first_line(bare)), "sk-bench", bare)]
        ours = stack.enter_context(start_gateway(folder, url))
        targets += [ours, *stack.enter_context(_litellm(folder, url))]
        if len(targets) == 3:
            yield "LiteLLM: could not be installed here"
        yield (
            f"who asks and the upstream share core {BEHIND}, the proxies core {BEFORE}, one process each; "
            "all are asked by turns; times in ms"
        )
        yield "ours has keys, a budget, recording, accounting and an experiment with a warm arm on"
        yield (
            f"LiteLLM runs as its pages say, without a database; {RATE} requests a second are more than it can take "
            "on one core, so that its requests wait for each other there"
        )
        yield from _latencies(targets)
        yield from _large(targets[:3])
        yield from uvloop.run(_streams(ours, bare_port=targets[1].port))
        yield from uvloop.run(_memory(ours))
        yield from _kept(ours)


def _latencies(targets: list[Target]) -> Iterator[str]:
    uvloop.run(ask_by_turns(targets, ORDINARY, count=10, is_stream=False))
    for shape, count, words in ((ORDINARY, ONE_BY_ONE, "about 50 KB"), (LONG, ONE_BY_ONE // 2, "about 400 KB")):
        for is_stream in (False, True):
            taken = uvloop.run(ask_by_turns(targets, shape, count=count, is_stream=is_stream))
            yield from _table(f"one by one, requests of {words}", taken, is_stream=is_stream)
    for is_stream in (False, True):
        taken = uvloop.run(_at_rate(targets, is_stream=is_stream))
        title = f"{RATE} requests a second, {AGENTS} conversations of up to {ORDINARY.most} messages"
        yield from _table(title, taken, is_stream=is_stream)


def _large(targets: list[Target]) -> Iterator[str]:
    """Bodies of megabytes: long conversations that repeat everything that was said."""
    for megabytes in (1, 8, 30):
        messages = 2 * megabytes * 50
        shape = Shape(fewest=messages, most=messages + 1_000, result_chars=19_500)
        taken = uvloop.run(ask_by_turns(targets, shape, count=LARGE, is_stream=False))
        # The first requests begin the conversations, and are recorded whole meanwhile.
        median = {name: _quantiles([one.whole for one in every[LARGE // 3 :]])[0] for name, every in taken.items()}
        yield (
            f"requests of {megabytes} MB, one by one: direct {median['direct']:.0f}, bare {median['bare']:.0f}, ours"
            f" {median['ours']:.0f}; ours / bare {median['ours'] / median['bare']:.2f} (wanted: at most 1.3)"
        )


async def ask_by_turns(targets: list[Target], shape: Shape, *, count: int, is_stream: bool) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {one.name: [] for one in targets}
    talks = {one.name: _talk(one, "alone", shape) for one in targets}
    lines = {one.name: Lines(one.port) for one in targets}
    for number in range(count):
        for target in random.Random(number).sample(targets, len(targets)):
            got = await ask_one_by_one(lines[target.name], talks[target.name], count=1, is_stream=is_stream)
            taken[target.name] += got
    return taken


async def _at_rate(targets: list[Target], *, is_stream: bool) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {one.name: [] for one in targets}
    talks = {one.name: _talks(one) for one in targets}
    lines = {one.name: Lines(one.port) for one in targets}
    for number in range(ROUNDS + 1):
        for target in random.Random(number).sample(targets, len(targets)):
            got = await ask_at_rate(
                lines[target.name], talks[target.name], rate=RATE, seconds=SLICE_SECONDS, is_stream=is_stream
            )
            # The first round opens connections and begins conversations in the middle.
            taken[target.name] += got if number else []
            await asyncio.sleep(0.3)
    return taken


_rounds = iter(range(10**9))


def _talk(
    target: Target, name: str, shape: Shape, *, start: int | None = None, model: str = "gpt-4o-mini"
) -> Conversation:
    name = f"{target.name}-{name}-{next(_rounds)}"
    return Conversation(name, token=target.token, shape=shape, start=start or shape.fewest, model=model)


def _talks(target: Target, count: int = AGENTS) -> list[Conversation]:
    chance = random.Random(7)
    return [_talk(target, f"a{number}", ORDINARY, start=chance.randrange(1, 80)) for number in range(count)]


def _table(title: str, taken: dict[str, list[Taken]], *, is_stream: bool) -> Iterator[str]:
    what = "first piece of a stream" if is_stream else "answer"
    yield f"{title}, {what} ({len(next(iter(taken.values())))} each):"
    found = {
        name: _quantiles([one.first if is_stream else one.whole for one in every]) for name, every in taken.items()
    }
    base = found["direct"]
    for name, (median, late) in found.items():
        more = "" if name == "direct" else f"; added {median - base[0]:7.2f} {late - base[1]:8.2f}"
        yield f"  {name:<9} median {median:7.2f}, 99 % within {late:8.2f}{more}"
    ours, bare = found["ours"], found["bare"]
    yield (
        f"  ours minus bare: median {ours[0] - bare[0]:.2f} (wanted: at most 1), "
        f"99 % {ours[1] - bare[1]:.2f} (wanted: at most 5)"
    )
    if "litellm" in found:
        theirs = found["litellm"]
        yield (
            f"  LiteLLM / ours: {theirs[0] / ours[0]:.1f} in the median, {theirs[1] / ours[1]:.1f} at 99 %; of what is "
            f"added {(theirs[0] - base[0]) / (ours[0] - base[0]):.1f} (wanted: at least 2)"
        )


def _quantiles(seconds: list[float]) -> tuple[float, float]:
    ordered = sorted(seconds)
    return 1e3 * statistics.median(ordered), 1e3 * ordered[int(0.99 * len(ordered))]


async def _streams(target: Target, *, bare_port: int) -> list[str]:
    """Streams that all are open at once, of which each piece comes in its time."""
    said = []
    for name, port in (("bare", bare_port), ("ours", target.port)):
        lines = Lines(port)
        talks = [_talk(target, f"held{number}", ORDINARY, start=9, model="slow-model") for number in range(STREAMS)]
        begun = time.perf_counter()
        asked = [lines.ask(one.request(is_stream=True)) for one in talks]
        taken = await asyncio.gather(*asked)
        seconds = time.perf_counter() - begun
        whole = sum(1 for one in taken if one.body.count(b'"content":" word"') == SLOW_EVENTS - 1)
        first = _quantiles([one.first for one in taken])
        said.append(
            f"{STREAMS:,} streams at once through {name}: {whole:,} whole in {seconds:.1f} s (each takes "
            f"{SLOW_EVENTS - 1} s); first piece: median {first[0]:.0f}, 99 % within {first[1]:.0f}"
        )
    return said


async def _memory(target: Target) -> list[str]:
    """The memory of the gateway while many requests pass."""
    assert target.process is not None
    lines, talks = Lines(target.port), _talks(target)
    sizes: list[float] = []
    for tenth in range(10):
        seconds = REQUESTS / 10 / RATE
        await ask_at_rate(lines, talks, rate=RATE, seconds=seconds, is_stream=tenth % 2 == 1)
        sizes.append(_resident(target.process.pid))
    shown = ", ".join([f"{size:.0f}" for size in sizes])
    return [
        f"memory over {REQUESTS:,} requests, {RATE} a second, MB after every tenth: {shown}",
        f"  from the third tenth to the end: {sizes[-1] - sizes[2]:+.1f} MB (wanted: flat)",
    ]


def _kept(target: Target) -> Iterator[str]:
    time.sleep(3)
    with urllib.request.urlopen(f"http://127.0.0.1:{target.port}/health", timeout=10) as answer:
        yield f"what the gateway counted: {answer.read().decode()}"


def _resident(pid: int) -> float:
    """Megabytes of a process."""
    fields = Path(f"/proc/{pid}/status").read_text("utf-8").partition("VmRSS:")[2]
    return int(fields.split(None, 1)[0]) / 1024


@contextmanager
def start_gateway(folder: Path, url: str) -> Iterator[Target]:
    """The real command, with keys, recording, and an experiment between cold and warm."""
    config = Config(home=folder / "home")
    with open_store(config.store_path) as store:
        save(store, template("files", example(tool="read_file", arguments={"path": "a.py"})))
        keep_split(store, new_split("bench", [ArmShare("cold"), ArmShare("warm")], salt="s"), now=1.0)
        _, token = make_key(store, "bench", now=time.time(), usd_per_day=1e9)
    (config.home / "gateway.toml").write_text(
        f'mode = "keys"\n[[upstream]]\nname = "bench"\nbase_url = "{url}"\n', "utf-8"
    )
    (config.home / "config.toml").write_text('[warm]\nexperiment = "bench"\n', "utf-8")
    (config.home / "secrets").mkdir(exist_ok=True)
    command = [str(Path(sys.executable).with_name("seasoned")), "gateway", "--port", "0"]
    with start_program(command, BEFORE, SEASONED_HOME=str(config.home)) as process:
        port = int(first_line(process).rpartition(":")[2])
        yield Target("ours", port, token, process)


@contextmanager
def _litellm(folder: Path, url: str) -> Iterator[list[Target]]:
    """The LiteLLM proxy in a separate environment, set up as its documentation says, without a database."""
    program = LITELLM / "bin" / "litellm"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(LITELLM)], check=True)
        subprocess.run([str(LITELLM / "bin" / "pip"), "install", "-q", "litellm[proxy]"], check=False)
    if not program.exists():
        yield []
        return
    settings = folder / "litellm.yaml"
    models = "".join(
        f"  - model_name: {name}\n    litellm_params:\n      model: openai/{name}\n      api_base: {url}/v1\n"
        "      api_key: sk-bench\n"
        for name in ("gpt-4o-mini", "slow-model")
    )
    settings.write_text(
        f"model_list:\n{models}general_settings:\n  master_key: {LITELLM_KEY}\n"
        "litellm_settings:\n  set_verbose: false\n  request_timeout: 600\n",
        "utf-8",
    )
    with socket.create_server(("127.0.0.1", 0)) as chosen:
        port = chosen.getsockname()[1]
    command = [
        str(program),
        "--config",
        str(settings),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--num_workers",
        "1",
    ]
    quiet = {"LITELLM_LOG": "ERROR", "LITELLM_MODE": "PRODUCTION", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with start_program(command, BEFORE, out=folder / "litellm.log", **quiet) as process:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield [Target("litellm", port, LITELLM_KEY, process)]


@contextmanager
def start_program(
    command: list[str], core: int, *, out: Path | None = None, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A process on its core."""
    kept = subprocess.PIPE if out is None else out.open("w", encoding="utf-8")
    process = subprocess.Popen(
        command, stdout=kept, stderr=None if out is None else kept, text=True, env={**os.environ, **environment}
    )
    _pin(process.pid, core)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)
        for one in (process.stdout, None if out is None else kept):
            if one is not None and not isinstance(one, int):
                one.close()


def _pin(pid: int, core: int) -> None:
    if hasattr(os, "sched_setaffinity") and (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(pid, {core})


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
