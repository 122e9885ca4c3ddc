"""How long a warm start takes to choose, with large libraries, and building templates against scanning cold."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.scan import SEASONED, environment, make_corpus, timed
from seasoned.command.tool import TaskType
from seasoned.example.example import Example, ExampleKind, Source, Template
from seasoned.example.library.storage import Library, cached_library, load, save, set_state
from seasoned.example.provision import BlockRequest, provision
from seasoned.store import open_store

ASKED = 300
RUNS = 5
_EXAMPLES = 10
_VERBS = ("read", "search", "list", "create", "update", "delete", "send", "fetch")
_NOUNS = ("file", "order", "user", "ticket", "branch")
_TYPES: tuple[TaskType, ...] = ("code", "file", "research", "mixed")
_KINDS: tuple[ExampleKind, ...] = ("init", "sequence", "recovery", "final")


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    for templates, wanted in ((1000, 5), (10_000, 10)):
        yield from _choosing(templates, wanted)
    yield from _holding(10_000)
    yield from _building()


def _choosing(templates: int, wanted: int) -> Iterator[str]:
    rng = random.Random(templates)
    tools = [_tool(f"{verb}_{noun}") for verb in _VERBS for noun in _NOUNS]
    words = [*_VERBS, *_NOUNS, *(f"subject{number}" for number in range(2000))]
    library = Library(templates=tuple(_template(rng, number, tools, words) for number in range(templates)))
    begun = time.perf_counter()
    _ask(rng, library, tools, words)
    first = time.perf_counter() - begun
    seconds, shown = [], []
    for _ in range(ASKED):
        begun = time.perf_counter()
        shown.append(_ask(rng, library, tools, words))
        seconds.append(time.perf_counter() - begun)
    seconds.sort()
    median, late = statistics.median(seconds), seconds[int(0.95 * ASKED)]
    yield (
        f"provision with {templates:,} templates of {_EXAMPLES} examples: median {1e3 * median:.2f} ms, 95 % within "
        f"{1e3 * late:.2f} ms, {ASKED} tasks (wanted: median under {wanted} ms)"
    )
    yield f"  examples shown: {statistics.mean(shown):.1f} on average; first call, which makes the index: {first:.2f} s"


def _holding(templates: int) -> Iterator[str]:
    """The same library in a store: opened anew by each conversation of a process, and after one change."""
    rng = random.Random(templates)
    tools = [_tool(f"{verb}_{noun}") for verb in _VERBS for noun in _NOUNS]
    words = [*_VERBS, *_NOUNS, *(f"subject{number}" for number in range(2000))]
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        path = Path(name) / "seasoned.db"
        with open_store(path) as store:
            for number in range(templates):
                save(store, _template(rng, number, tools, words))
        first = _begin(rng, path, tools, words)
        again = statistics.median(_begin(rng, path, tools, words) for _ in range(ASKED))
        with open_store(path) as store:
            set_state(store, load(store, "template-1").examples[0].id, "retired", "measured", now=1.0)
        changed = _begin(rng, path, tools, words)
    yield f"conversations of one process, {templates:,} templates each opening the store itself: first {first:.2f} s,"
    yield f"  then median {1e3 * again:.1f} ms over {ASKED}; the first after one example changed: {changed:.2f} s"


def _begin(rng: random.Random, path: Path, tools: list[dict[str, object]], words: list[str]) -> float:
    begun = time.perf_counter()
    with open_store(path) as store:
        library = cached_library(store, now=time.time())
        _ask(rng, library, tools, words)
    return time.perf_counter() - begun


def _ask(rng: random.Random, library: Library, tools: list[dict[str, object]], words: list[str]) -> int:
    """One session: a task of a dozen words, twenty tools, one in four with a task type."""
    made = provision(
        [{"role": "system", "content": "You help."}, {"role": "user", "content": " ".join(rng.choices(words, k=12))}],
        library=library,
        asked=BlockRequest(
            tools=rng.sample(tools, 20),
            task_type=rng.choice([*_TYPES, *[None] * 12]),
            conversation=str(rng.random()),
        ),
    )
    return 0 if made.block is None else len(made.block.examples)


def _tool(name: str) -> dict[str, object]:
    properties = {
        f"{name.partition('_')[2]}_id": {"type": "string"},
        "path": {"type": "string"},
        "limit": {"type": "integer"},
    }
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    return {"type": "function", "function": {"name": name, "description": f"To {name}.", "parameters": schema}}


def _template(rng: random.Random, number: int, tools: list[dict[str, object]], words: list[str]) -> Template:
    own = rng.sample(words, 30)
    return Template(
        name=f"template-{number}",
        description=" ".join(rng.choices(own, k=12)),
        task_type=rng.choice(_TYPES),
        tags=tuple(sorted(rng.sample(own, 3))),
        examples=tuple(_example(rng, number, at, tools, own) for at in range(_EXAMPLES)),
        created_at=float(number),
    )


def _example(rng: random.Random, number: int, at: int, tools: list[dict[str, object]], words: list[str]) -> Example:
    function = rng.choice(tools)["function"]
    assert isinstance(function, dict)
    path = "/".join(rng.choices(words, k=3)) + ".txt"
    arguments = {"path": path, "limit": rng.randint(1, 99)}
    return Example(
        tool=function["name"],
        arguments=json.dumps(arguments, sort_keys=True),
        result=" ".join(rng.choices(words, k=rng.randint(5, 60))),
        intent=" ".join(rng.choices(words, k=rng.randint(4, 20))),
        kind=rng.choice(_KINDS),
        pattern=f"{function['name']} {rng.randint(0, 3)}",
        support=rng.randint(1, 9),
        sources=tuple(Source(f"a:{number}-{rng.randint(0, 9)}", str(at), f"#{rng.randint(0, 9)}") for _ in range(3)),
        error_rate=rng.choice([None, 0.0, 0.02, 0.1, 0.4]),
    )


def _building() -> Iterator[str]:
    """Templates of all task types from sessions that are scanned, against the cold scan of the same run."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        folder = Path(name)
        corpus = make_corpus(folder / "claude" / "projects")
        home = folder / "home"
        around = environment(home, corpus.parent)
        cold, built, inside = [], [], []
        for _ in range(RUNS):
            shutil.rmtree(home, ignore_errors=True)
            cold.append(timed([str(SEASONED), "scan", str(corpus)], home, corpus.parent))
            begun = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", _BUILD, str(home)], env=around, check=True, capture_output=True, text=True
            )
            built.append(time.perf_counter() - begun)
            inside.append(done.stdout.strip())
        size = sum(path.stat().st_size for path in corpus.rglob("*.jsonl"))
        scan, build = statistics.median(cold), statistics.median(built)
        yield f"corpus: {size / 1e6:.1f} MB of Claude Code sessions; cold scan {scan:.2f} s, median of {RUNS} runs"
        yield f"building a template of each task type, whole process: {build:.2f} s; {inside[-1]}"
        yield f"ratio building / cold scan: {build / scan:.2f} (wanted: under 1)"


_BUILD = """
import sys, time
from pathlib import Path

from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_store
from seasoned.example.library.upkeep import auto

home = Path(sys.argv[1])
store = open_store(home / "seasoned.db")
# The corpus is older than what is learned from unasked.
now = max(row["last"] for row in store.rows("session.totals")) + 7200
begun = time.perf_counter()
made = auto(store, now=now, redactor=Secrecy(load_key(home)).redactor())
taken = time.perf_counter() - begun
print(f"in the process {taken:.2f} s: " + ", ".join(f"{one.name} {len(one.examples)} examples" for one in made))
"""
