"""Cold scan of all real histories at hand, laid out as a home: CPU seconds beside json.loads and two peers."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SAMPLES = ROOT / "src" / "seasoned" / "samples" / "claude_code"
RUNS = 3
SEASONED = Path(sys.executable).parent / "seasoned"
# Where agents keep what lies in folders of their name.
HOMES = {
    "claude-code": ".claude/projects",
    "codex": ".codex/sessions",
    "gemini": ".gemini/tmp",
    "pi": ".pi/agent/sessions",
}

JSON_ALONE = """
import json, sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).rglob("*.json*")):
    with path.open("rb") as file:
        for line in [file.read()] if path.suffix == ".json" else file:
            try:
                json.loads(line)
            except ValueError:
                pass
"""


class Spent(NamedTuple):
    """What a process and its children took."""

    cpu_seconds: float
    seconds: float


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        folder = Path(name)
        home = make_home(folder / "user")
        files = list(home.rglob("*.json*"))
        size = sum(path.stat().st_size for path in files)
        source = "real histories" if SHARED.is_dir() else "the sample histories, repeated (no real ones at hand)"
        yield f"home: {len(files)} files, {size / 1e6:.1f} MB, {source}"
        yield from _beside_peers(folder, home, size)
        yield from _odd_files(folder / "odd")


def make_home(home: Path) -> Path:
    """A home folder with every real history that several readers know, or with the samples."""
    if not SHARED.is_dir():
        make_corpus(home / HOMES["claude-code"])
        return home
    for path in sorted([*(SHARED / "projects").rglob("*.json*"), *(SHARED / "data").rglob("*.json*")]):
        agent = next((agent for agent in HOMES if agent in path.parts), None)
        if agent is None or not path.is_file():
            continue
        project = "-".join(part for part in path.relative_to(SHARED).parts[1:-1] if part != agent) or "project"
        name = f"rollout-2026-01-01T00-00-00-{path.name}" if agent == "codex" else path.name
        target = home / HOMES[agent] / ("2026/01" if agent == "codex" else "") / project / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return home


def _beside_peers(folder: Path, home: Path, size: int) -> Iterator[str]:
    store = folder / "store"
    ours = {"HOME": str(home), "SEASONED_HOME": str(store), "CI": "1"}
    theirs = {
        "HOME": str(home),
        "AGENTSVIEW_DATA_DIR": str(folder / "view"),
        "AGENTSVIEW_NO_DAEMON": "1",
        "AGENTSVIEW_TELEMETRY_ENABLED": "false",
        "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1",
    }
    commands = {
        "json.loads alone": ([sys.executable, "-c", JSON_ALONE, str(home)], ours),
        "cold scan": ([str(SEASONED), "scan"], ours),
        "scan again": ([str(SEASONED), "scan"], ours),
    }
    peers = {"ccusage": (find_ccusage(), ["daily", "--offline", "--json"]), "agentsview": (find_agentsview(), ["sync"])}
    for name, (program, words) in peers.items():
        if program is None:
            yield f"{name}: not measured, its package could not be had"
        else:
            commands[name] = ([str(program), *words], theirs)
    found: dict[str, list[Spent]] = {name: [] for name in commands}
    for _ in range(RUNS):  # interleaved, so that a slow moment of the machine meets all of them
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(folder / "view", ignore_errors=True)
        for name, (command, variables) in commands.items():
            found[name].append(spent(command, variables))
    # The least of interleaved runs: other work on the machine only ever adds time.
    cpu = {name: min(one.cpu_seconds for one in runs) for name, runs in found.items()}
    for name, runs in found.items():
        wall = min(one.seconds for one in runs)
        yield f"{name}: {cpu[name]:.2f} CPU seconds, {wall:.2f} s on the clock, {size / cpu[name] / 1e6:.0f} MB/s"
    yield f"cold scan / json.loads alone: {cpu['cold scan'] / cpu['json.loads alone']:.2f} (wanted: at most 5)"
    if "agentsview" in cpu:
        yield f"cold scan / agentsview: {cpu['cold scan'] / cpu['agentsview']:.2f} (wanted: at most 0.7)"
    yield f"store: {(store / 'seasoned.db').stat().st_size / size:.3f} of the histories (wanted: at most 0.12)"


def _odd_files(folder: Path) -> Iterator[str]:
    """Files that are larger, longer or more than any real ones: time must grow with bytes, memory must not."""
    line = (
        b'{"type":"user","sessionId":"s%d","uuid":"u","timestamp":"2026-03-01T10:00:00Z","message":{"content":"%s"}}\n'
    )
    tiny, one, long = folder / "tiny", folder / "one", folder / "long"
    for number in range(20_000):
        path = tiny / str(number // 1000) / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(line % (number, b"Go on."))
    for place in (one, long):
        place.mkdir(parents=True)
    with (one / "s.jsonl").open("wb") as file:
        for number in range(1_000_000):
            file.write(line % (number // 10_000, b"word " * 180))
    said = line % (1, b"Go on.")
    (long / "s.jsonl").write_bytes(said + line % (1, b"word " * 60_000_000) + said)
    for name, path in (("20,000 tiny files", tiny), ("one file of 1 GB", one), ("300 MB in one line", long)):
        shutil.rmtree(folder / "store", ignore_errors=True)
        begun = time.perf_counter()
        memory = peak_memory([str(SEASONED), "scan", str(path)], {"SEASONED_HOME": str(folder / "store"), "CI": "1"})
        yield f"{name}: {time.perf_counter() - begun:.1f} s, {memory:.0f} MB of memory (wanted: at most 300)"
    again = {"SEASONED_HOME": str(folder / "grown"), "CI": "1"}
    spent([str(SEASONED), "scan", str(one)], again)
    with (one / "s.jsonl").open("ab") as file:
        file.write(said)
    grown = spent([str(SEASONED), "scan", str(one)], again)
    yield f"the file of 1 GB after it grew by a line: {grown.cpu_seconds:.2f} CPU seconds"


def spent(command: list[str], variables: dict[str, str], said: str = "") -> Spent:
    """CPU seconds and time on the clock of a whole process, its children included; `said` is its input."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=plain(variables), input=said.encode(), cwd=ROOT, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begun)


def plain(variables: dict[str, str]) -> dict[str, str]:
    """The environment of a separate process, without what changes how Python starts."""
    return {**{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}, **variables}


def make_corpus(projects: Path, source: Path = SAMPLES, wanted_bytes: int = 90_000_000) -> Path:
    """Sessions repeated up to the wanted size."""
    size = sum(path.stat().st_size for path in source.rglob("*.jsonl"))
    for number in range(wanted_bytes // size + 1):
        for path in source.rglob("*.jsonl"):
            target = projects / f"{number}-{path.parent.name}" / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return projects


def peak_memory(command: list[str], variables: dict[str, str]) -> float:
    """The largest resident size that the process or one of its children had, in MB."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    out = subprocess.run(
        [sys.executable, "-c", code, *command],
        env=plain(variables),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return int(out) / scale


def find_ccusage() -> Path | None:
    """The native binary from the npm package, installed into a temporary folder; None if it is not available."""
    folder = ROOT / ".venv" / "ccusage"
    found = sorted(folder.glob("node_modules/@ccusage/ccusage-*/**/ccusage"))
    if not found and shutil.which("npm"):
        folder.mkdir(parents=True, exist_ok=True)
        names = ["ccusage", "@ccusage/ccusage-linux-x64"]
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *names], cwd=folder, capture_output=True, check=False
        )
        found = sorted(folder.glob("node_modules/@ccusage/ccusage-*/**/ccusage"))
    for path in found:
        path.chmod(0o755)  # npm unpacks it without the right to run
    return found[0] if found else None


def find_agentsview() -> Path | None:
    """The binary from the wheel on PyPI, unpacked without its dependencies; None if it is not available."""
    folder = ROOT / ".venv" / "agentsview"
    program = folder / "agentsview" / "bin" / "agentsview"
    if not program.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), "agentsview"]
        subprocess.run(pip, capture_output=True, check=False)
    if not program.exists():
        return None
    program.chmod(0o755)
    return program
