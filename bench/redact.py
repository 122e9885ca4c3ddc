"""Recall, harm and speed of the redactor, as plain lines: `python -m bench redact`."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.redact.corpus import clean_values, planted, survives
from tests.redact.everyday import is_left, leaks, look_alikes

from seasoned import read
from seasoned.redact import Redactor

REAL = Path(__file__).parents[2] / "shared" / "projects"


def pieces(seed: int = 1) -> dict[str, list[str]]:
    """Clean text as tools return it: source files, listings and JSON in pieces of 1 to 10 kB."""
    r = random.Random(seed)
    source = "".join(p.read_text("utf-8", "replace") for p in sorted(Path(json.__file__).parents[1].glob("*.py"))[:120])
    names = sorted(str(p) for p in Path(json.__file__).parents[1].glob("*/*.py"))
    rows = [
        f"-rw-r--r-- 1 root root {r.randrange(10**6):>7} Jan {r.randrange(1, 29):>2} 12:{r.randrange(60):02} {n}"
        for n in names
    ]
    logs = [
        f"2024-05-{r.randrange(1, 29):02}T10:{r.randrange(60):02}:01Z INFO worker-3 took {r.randrange(999)} ms"
        for _ in names
    ]
    return {
        "source files": _cut(source, r),
        "listings": _cut("\n".join(rows * 3), r),
        "log lines": _cut("\n".join(logs * 4), r),
        "short strings": [line for line in source[:600_000].split("\n") if len(line) > 20],
        "JSON in strings": [json.dumps({"output": piece}) for piece in _cut(source[:1_500_000], r)],
    }  # fmt: skip


def _cut(text: str, r: random.Random) -> list[str]:
    done, at = [], 0
    while at < len(text):
        size = r.randrange(1000, 10000)
        done.append(text[at : at + size])
        at += size
    return done


def seconds(work: Callable[[], object], repeat: int = 5) -> float:
    """The best of a few runs, in processor time: other work on the machine does not count."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def quality(redactor: Redactor, seed: int) -> list[str]:
    """Recall over planted secrets and harm over clean values."""
    secrets = list(planted(seed))
    missed = [p for p in secrets if any(survives(redactor.value(p.value), part) for part in p.parts)]
    clean = list(clean_values(seed))
    harmed = sum(redactor.value(value) != value for value in clean)
    kinds = len({p.kind for p in secrets})
    return [
        f"seed {seed}: recall {1 - len(missed) / len(secrets):.4f} ({len(secrets)} secrets of {kinds} kinds)",
        f"seed {seed}: harm {harmed / len(clean) * 1000:.2f} per 1,000 ({len(clean)} clean values)",
    ]


def everyday(redactor: Redactor) -> Iterator[str]:
    """Recall in the texts of everyday work, and how many of its look-alikes change."""
    left = count = 0
    for _, text, secrets in leaks():
        done = redactor.text(text)
        left += sum(is_left(secret, text, done) for secret in secrets)
        count += len(secrets)
    yield f"everyday work: recall {1 - left / count:.3f} ({count} secrets)"
    texts = look_alikes()
    yield f"everyday work, look-alikes: {sum(redactor.text(text) != text for text in texts)} of {len(texts)} changed"


def growth(redactor: Redactor) -> Iterator[str]:
    """Time for texts made to be slow, doubled twice: linear if each step takes twice as long."""
    sizes = (250_000, 500_000, 1_000_000)
    for bait in ("token ", "password ", "mysql -p", "[sudo] password for ", "cookie: a=", '{"password":12345}'):
        took = [seconds(lambda n=n, bait=bait: redactor.text(bait * (n // len(bait))), 1) for n in sizes]  # type: ignore[misc]
        marks = "  ".join(f"{n // 1000} kB {t * 1000:.0f} ms" for n, t in zip(sizes, took, strict=True))
        yield f"{bait.strip()!r} repeated: {marks}"


def speed(redactor: Redactor) -> list[str]:
    """MB/s on clean text, beside json.loads of the same text."""
    lines = []
    for name, texts in pieces().items():
        size = sum(map(len, texts)) / 1e6
        packed = [json.dumps(text) for text in texts]
        took = seconds(lambda texts=texts: [redactor.text(t) for t in texts])  # type: ignore[misc]
        loads = seconds(lambda packed=packed: [json.loads(t) for t in packed])  # type: ignore[misc]
        heads = seconds(lambda texts=texts: [redactor.head(t, 500) for t in texts])  # type: ignore[misc]
        lines.append(
            f"{name}: {size / took:.0f} MB/s, json.loads {size / loads:.0f} MB/s (ratio {loads / took:.2f}), "
            f"head of 500 {heads / len(texts) * 1e6:.0f} µs each"
        )
    return lines


def real(redactor: Redactor, folder: Path) -> Iterator[str]:
    """How many texts of real sessions change: their secrets were masked before, so few should."""
    texts: list[object] = []
    for path in sorted(folder.rglob("*.jsonl")):
        for session in read(str(path)):
            for message in session.messages:
                texts += [message.text] if message.role != "tool" else []
                texts += [call.arguments for call in message.calls]
                texts += [call.result.text for call in message.calls if call.result is not None]
    texts = [text for text in texts if text]
    changed = sum(redactor.value(text) != text for text in texts)
    share = changed / max(1, len(texts))
    yield f"real sessions: {share * 1000:.2f} per 1,000 texts changed ({changed} of {len(texts)})"


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    redactor = Redactor(b"benchmark".ljust(32, b"."))
    for seed in (1, 2):
        yield from quality(redactor, seed)
    yield from everyday(redactor)
    if REAL.exists():
        yield from real(redactor, REAL)
    yield from growth(redactor)
    yield from speed(redactor)
