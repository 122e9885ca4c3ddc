"""A store as it is after years: many sessions with their calls, written by SQL, kept under build/ for the next time."""

from __future__ import annotations

import random
import sqlite3
import time
from pathlib import Path

import msgspec

from seasoned.config import Config
from seasoned.lesson.lesson import FailureKind, Lesson, LessonCost, Way
from seasoned.store import open_store

CALLS = 50
DAYS = 500
# Raised when stores are made in another way; one of an older version of Seasoned is migrated.
_MADE = 1
_AGENTS = ("claude-code", "codex", "hermes", "gemini", "openai")
# Of agents whose models have published prices; the others record what a session cost, or do not.
_MODELS = {
    "claude-code": ("claude-opus-4-1", "claude-sonnet-4-5"),
    "codex": ("gpt-5", "gpt-5-mini"),
    "gemini": ("gemini-2.5-pro",),
}
_OTHER_MODELS = ("large-4", "small-3", None)
_TOOLS = ("Bash", "Read", "Edit", "Grep", "WebFetch", "Write", "Task", "Glob", "mcp__atlas__search", "TodoWrite")
_WORDS = ("fix", "parser", "add", "tests", "release", "notes", "migrate", "retry", "carriers", "slow", "query", "flaky")
_MISTAKES = 2000
_JUDGE = "bench"


def make_store(home: Path, sessions: int) -> Path:
    """The store with so many sessions of 50 calls each until now, made where there is none yet."""
    path = Config(home=home).store_path
    stamp = home / f"made-{_MADE}-{sessions}"
    if stamp.exists():
        return path
    home.mkdir(parents=True, exist_ok=True)
    for old in home.iterdir():
        old.unlink()
    with open_store(path) as store:
        db = store.connection
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -400000")
        db.execute("DROP INDEX call_by_id")
        rng = random.Random(11)
        db.execute("BEGIN")
        _write(db, rng, sessions)
        _write_mistakes(db)
        db.execute("COMMIT")
        db.execute("CREATE INDEX call_by_id ON call (call_id)")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stamp.touch()
    return path


def _write(db: sqlite3.Connection, rng: random.Random, sessions: int) -> None:
    db.execute(
        "INSERT INTO source (id, path, format, size, mtime_ns, judge, scanned_at)"
        " VALUES (1, '/gone/x', 'x', 1, 1, ?, 0)",
        (_JUDGE,),
    )
    start = time.time() // 86_400 * 86_400 - DAYS * 86_400
    for first in range(1, sessions + 1, 1000):
        lines, calls, tools = [], [], []
        for number in range(first, min(first + 1000, sessions + 1)):
            line, of_session, by_tool = _session(rng, number, start + DAYS * 86_400 * number / sessions)
            lines.append(line)
            calls += of_session
            tools += by_tool
        db.executemany(
            "INSERT INTO session (id, agent, native_id, source_id, title, cwd, model, started, ended, messages,"
            " input_tokens, output_tokens, cost_usd, calls, ok, failed, unclear, task_type, succeeded)"
            " VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            lines,
        )
        db.executemany(
            "INSERT INTO call (session_id, call_id, position, message, tool, kind, counts_as, arguments, result, time,"
            " place, verdict, evidence, fault, reason, judge, unique_id)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 'exit', ?, ?, 'bench', 1)",
            calls,
        )
        db.executemany("INSERT INTO session_tool VALUES (?, ?, 'tool', ?, ?, ?, 0, 0)", tools)


def _session(rng: random.Random, number: int, started: float) -> tuple[tuple, list[tuple], list[tuple]]:
    agent = rng.choice(_AGENTS)
    worse = rng.random() * 0.2
    calls, counts = [], {}
    failed = 0
    for at in range(CALLS):
        tool = _TOOLS[min(int(rng.expovariate(0.5)), len(_TOOLS) - 1)]
        has_failed = rng.random() < worse
        failed += has_failed
        known = counts.setdefault(tool, [0, 0])
        known[has_failed] += 1
        counts_as = "failed" if has_failed else "ok"
        calls.append(
            (
                number,
                f"{number}-{at}",
                at,
                2 * at + 1,
                tool,
                "tool",
                counts_as,
                f'{{"command":"make part-{at}","n":{number}}}',
                f"part {at} of {number} " + ("failed: no such file" if has_failed else "is done"),
                started + 20 * at,
                counts_as,
                "call" if has_failed else "",
                "It says that it failed." if has_failed else "It worked.",
            )
        )
    line = (
        number,
        agent,
        f"{number:08x}-{rng.getrandbits(48):012x}",
        " ".join(rng.choices(_WORDS, k=5)) + f" {number}",
        f"/home/mira/project-{number % 40}",
        rng.choice(_MODELS.get(agent, _OTHER_MODELS)),
        started,
        started + 20 * CALLS,
        rng.randint(20, 160),
        rng.randint(1000, 90_000),
        rng.randint(100, 9000),
        rng.random() if agent not in _MODELS and number % 3 else None,
        CALLS,
        CALLS - failed,
        failed,
        0,
        rng.choice(("code", "file", "research", "mixed")),
        rng.choice((None, None, 0, 1)),
    )
    return line, calls, [(number, tool, sum(two), two[0], two[1]) for tool, two in counts.items()]


MISTAKES = 2000


def _write_mistakes(db: sqlite3.Connection) -> None:
    # A few are made again and again, most of them seldom.
    lessons = [
        Lesson(
            "repair",
            f"mistake-{number}",
            f"make part-{number}-again",
            lineages=2 + 4000 // (number + 1),
            among=2 + 8000 // (number + 1),
            last=1.0,
            failed=FailureKind("shell", f"make part-{number}", f"part {number} is not in the list"),
            way=Way("form", f"make part-{number}-again"),
            cost=LessonCost(8000 // (number + 1), 16_000 // (number + 1)),
        )
        for number in range(MISTAKES)
    ]
    rows = [(f"/home/mira/project-{at % 40}", one.key, msgspec.json.encode(one)) for at, one in enumerate(lessons)]
    db.executemany("INSERT INTO lesson (project, topic, key, content) VALUES (?, 'repair', ?, ?)", rows)
