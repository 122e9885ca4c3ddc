"""How fast every page answers with 20,000 sessions and a million calls, and how that compares with 1,000 sessions.

The stores are kept below `SEASONED_BENCH_FOLDER`, else `build`, for the next time: 20,000 sessions take 600 MB.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
import msgspec

from seasoned.config import Config
from seasoned.example.example import Example, Source, Template
from seasoned.example.library.storage import save
from seasoned.experiment.live.assignment import ArmShare, assign, keep_split, new_split
from seasoned.gateway.history_usage import fill_prices
from seasoned.lesson.lesson import FailureKind, Lesson, LessonCost, Way
from seasoned.redact.key import Secrecy, load_key
from seasoned.review import memory_file
from seasoned.review.journal import ChangeJournal, Provenance
from seasoned.store import Store, open_store
from seasoned.store.schema import VERSION
from seasoned.store.search import fill

FOLDER = Path(os.environ.get("SEASONED_BENCH_FOLDER", "build")) / "bench-web"
FEW, MANY = 1_000, 20_000
ROUNDS = 30
MOST_SECONDS = 0.15
MOST_RATIO = 3.0
_REST_SECONDS = 20.0
_PROJECT = "%2Fhome%2Fmira%2Fproject-3"
PAGES = (
    "overview",
    "sessions",
    "sessions?agent=codex",
    "sessions?task=code&length=long&outcome=failures",
    "sessions?q=flaky",
    # Searches that find nothing: what no session has, two letters, words that many have, one that many have twice.
    "sessions?q=nowhere-to-be-found",
    "sessions?q=zq",
    "sessions?q=add+flaky+query+release+notes+tests",
    "sessions?q=fix+fix+fix+fix+fix+fix",
    "sessions?sort=-messages",
    "sessions?sort=-failed&agent=hermes",
    "sessions?sort=-rate",
    "sessions?sort=-cost",
    "sessions?tool=Task",
    "sessions?mistake=7",
    "search?q=flaky",
    "search?q=parser+retry",
    "search?q=nowhere-to-be-found",
    "search?q=fla*",
    "search?q=make&tool=Bash&verdict=failed",
    f"search?q=make&project={_PROJECT}",
    f"sessions?project={_PROJECT}",
    "inbox",
    f"inbox?project={_PROJECT}",
    "live",
    "projects",
    f"projects/{_PROJECT}",
    "confirmations",
    "usage",
    "sessions?sort=-cost",
    "usage?by=model&days=all",
    "usage?by=project&days=all",
    f"usage?project={_PROJECT}&days=all",
    "usage?by=key&days=90",
    # The last: they have something computed beside them, which takes minutes.
    "insight",
)
_SERVE = """
import sys
from pathlib import Path
import uvicorn
from seasoned.config import Config
from seasoned.confirm.service import ConfirmService
from seasoned.web.app import create_web
import socket
listening = socket.create_server(("127.0.0.1", 0))
base = f"http://127.0.0.1:{listening.getsockname()[1]}"
config = Config(home=Path(sys.argv[1]), claude_config_dir=Path(sys.argv[2]))
app = create_web(ConfirmService(config, base_url=base))
print(f"{base}/login/{app.state.visits.link}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
"""


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    for sessions in (FEW, MANY):
        began = time.perf_counter()
        make_store(FOLDER / str(sessions), sessions)
        fill_more(FOLDER / str(sessions))
        yield f"{sessions:,} sessions, {sessions * CALLS:,} calls (made in {time.perf_counter() - began:.0f} s)"
    yield "page: median, 95th percentile and work of the server in ms a page, with 1,000 sessions, then with 20,000;"
    yield "ratio of medians, ratio of work (both servers are asked in turn, so that both meet the same machine); the"
    yield "first answer with 20,000 sessions in ms, before anything is kept:"
    slow, busy = [], []
    with serve(FOLDER / str(FEW)) as few, serve(FOLDER / str(MANY)) as many:
        for page in ("sessions, pages all the way down", "sessions/…", *PAGES):
            a, b, first = _compared(few, many, page)
            ratio, work = statistics.median(b.seconds) / statistics.median(a.seconds), b.work / a.work
            # On a machine that others use as well, the ratio of the work is the steadier one.
            if _late(b.seconds) > MOST_SECONDS or min(ratio, work) > MOST_RATIO:
                slow.append(page)
            if b.work > MOST_SECONDS or work > MOST_RATIO:
                busy.append(page)
            yield f"  {page:<48}{a.line()}  {b.line()}  {ratio:5.1f} {work:5.1f} {1e3 * first:7.0f}"
        # Before the servers end: the most that each has held so far.
        memory = [one.memory() for one in (few, many)]
    wanted = f"wanted: at most {MOST_RATIO:g} times, 95 % within {1e3 * MOST_SECONDS:.0f} ms"
    yield f"{wanted}: {'not met by ' + ', '.join(slow) if slow else 'met by every page'}"
    yield f"the same by the work of the server: {'not met by ' + ', '.join(busy) if busy else 'met by every page'}"
    load = f"{os.getloadavg()[1]:.0f} processes wanted to run on {os.cpu_count()} cores"
    yield f"meanwhile {load}: to wait for a core is part of the times, and not of the work"
    yield f"memory of the server: {memory[0]:.0f} MB with 1,000 sessions, {memory[1]:.0f} MB with 20,000"


class Served(NamedTuple):
    """A server of its own, and a browser that is logged in."""

    client: httpx2.Client
    path: str
    pid: int

    def address(self, page: str, share: float) -> str:
        if page == "sessions/…":
            session = re.search(r'href="[^"]*/(sessions/[^"?#]+)"', self.client.get(f"{self.path}/sessions").text)
            assert session is not None
            page = session[1]
        elif page.startswith("sessions, "):
            page = f"sessions?after={time.time() - DAYS * 86_400 * share}_1"
        return f"{self.path}/{page}"

    def memory(self) -> float:
        """The most MB that it has held."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3

    def spent(self) -> float:
        """Seconds of a processor that it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    """How long each answer took, and the mean work for one."""

    seconds: list[float]
    work: float

    def line(self) -> str:
        return f"{1e3 * statistics.median(self.seconds):7.1f} {1e3 * _late(self.seconds):7.1f} {1e3 * self.work:6.1f}"


def _compared(few: Served, many: Served, page: str) -> tuple[Measured, Measured, float]:
    both = (few, many)
    times: tuple[list[float], list[float]] = ([], [])
    addresses = [_addresses(one, page) for one in both]
    for one, way in zip(both, addresses, strict=True):
        start = time.perf_counter()
        one.client.get(way[0]).raise_for_status()
        first = time.perf_counter() - start
        # What the first look began beside it is not part of the next ones.
        end = time.monotonic() + _REST_SECONDS
        while "data-working" in one.client.get(way[0]).text and time.monotonic() < end:
            time.sleep(0.2)
    began = [one.spent() for one in both]
    for number in range(ROUNDS):
        for one, taken, way in zip(both, times, addresses, strict=True):
            start = time.perf_counter()
            one.client.get(way[number]).raise_for_status()
            taken.append(time.perf_counter() - start)
    # The clock of the system ticks a hundred times a second: less than one tick is none.
    work = [max(one.spent() - at, 0.01) / ROUNDS for one, at in zip(both, began, strict=True)]
    return Measured(times[0], work[0]), Measured(times[1], work[1]), first


def _addresses(one: Served, page: str) -> list[str]:
    if page.startswith("sessions, "):
        return [one.address(page, share / ROUNDS) for share in range(ROUNDS)]
    return [one.address(page, 0.0)] * ROUNDS


def _late(times: list[float]) -> float:
    return sorted(times)[int(0.95 * len(times))]


@contextmanager
def serve(home: Path, claude: Path = Path("/nowhere")) -> Iterator[Served]:
    """The pages of a store in a process of their own, and a browser that is logged in."""
    command = [sys.executable, "-c", _SERVE, str(home), str(claude)]
    # No history of the person who measures is followed.
    environ = {**os.environ, "HOME": str(claude)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            link = process.stdout.readline().strip()
            base = link.partition("/login")[0]
            with httpx2.Client(base_url=base, timeout=60, trust_env=False, headers={"accept": "text/html"}) as client:
                for _ in range(100):
                    try:
                        visit = client.post(link).headers["location"]
                        break
                    except httpx2.ConnectError:
                        time.sleep(0.1)
                yield Served(client, visit.rpartition("/")[0], process.pid)
        finally:
            process.terminate()


CALLS = 50
DAYS = 500
# Raised when stores are made in another way; a new version of the tables makes them again too.
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
    stamp = home / f"made-{_MADE}-{VERSION}-{sessions}"
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


TEMPLATES, EXAMPLES = 20, 40
REQUESTS = 2
"""Of the gateway, for each session."""
_DAY = 86_400.0
_VOCABULARY = 4_000
_MESSAGES, _LENGTH = 8, 25
"""What was said in a session, and the words of a message."""
_PARTS = """
INSERT INTO usage_part
SELECT session.id, CAST(started / 3600 AS INTEGER) + hour.value, COALESCE(model, ''), 0, input_tokens / 2,
    output_tokens / 2,
    input_tokens * 10, input_tokens, NULL, 0, cost_usd / 2
FROM session, json_each('[0, 1]') AS hour
"""
_REQUEST = (
    "INSERT INTO gateway_request (id, at, day, session, purpose, key_name, upstream, api, model, status, ended,"
    " input_tokens, output_tokens, cost_usd, raw, seconds)"
    " VALUES (?, ?, ?, ?, 'chat', ?, 'u', 'chat', ?, 200, 'complete', ?, ?, ?, '{}', 1.0)"
)


def fill_more(home: Path) -> None:
    """Put it into the store, once."""
    rng, now = random.Random(12), time.time()
    with open_store(Config(home=home).store_path) as store:
        if store.rows("template.names"):
            return
        store.connection.execute("PRAGMA synchronous = OFF")
        _fill_history(store, rng)
        rows = store.connection.execute("SELECT agent, native_id, started FROM session").fetchall()
        sessions = [(f"{row['agent']}:{row['native_id']}", float(row["started"])) for row in rows]
        for number in range(TEMPLATES):
            save(store, _template(rng, number, [name for name, _ in sessions], now))
        _remember(store, home, sessions[0][0])
        split = new_split("autumn", [ArmShare("cold"), ArmShare("warm")], salt="s")
        keep_split(store, split, now=sessions[0][1])
        with store.write():
            store.connection.executemany(_REQUEST, _requests(rng, [name for name, _ in sessions], now))
            for name, at in sessions[: len(sessions) // 10]:
                found = assign(split, name)
                assert found is not None
                params = {"experiment": "autumn", "session": name, "arm": found.arm, "split": found.split, "at": at}
                store.run("experiment.assign", params)


def _fill_history(store: Store, rng: random.Random) -> None:
    """The projects of the sessions, what was said in them, and what they used; indexed and priced as a server does."""
    ids = [row["id"] for row in store.connection.execute("SELECT id FROM session")]
    # A few words are in most messages, most words in few.
    words = ["".join(rng.choices("aeioubdfklmnprst", k=rng.randint(4, 9))) for _ in range(_VOCABULARY)]
    weights = list(itertools.accumulate(1 / (rank + 10) for rank in range(_VOCABULARY)))
    with store.write():
        # A trigger notes that all of them wait for the index.
        store.connection.execute("UPDATE session SET project = cwd")
        store.run_many("search.save_said", ((number, 0, _said(rng, words, weights)) for number in ids))
        store.connection.execute(_PARTS)
    fill(store)
    fill_prices(store)
    store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _said(rng: random.Random, words: list[str], weights: list[float]) -> str:
    texts = (" ".join(rng.choices(words, cum_weights=weights, k=_LENGTH)) for _ in range(_MESSAGES))
    return json.dumps([(12 * number, int(number % 2 == 0), text) for number, text in enumerate(texts)])


def _template(rng: random.Random, number: int, sessions: list[str], now: float) -> Template:
    examples = [
        Example(
            tool=f"tool_{place}",
            arguments=f'{{"path": "src/{number}/{place}"}}',
            result="2 matches",
            intent="Find where it starts.",
            kind="sequence",
            pattern=f"p{place}",
            support=5,
            sources=tuple(Source(name, "c1", name, now) for name in rng.sample(sessions, 5)),
        )
        for place in range(EXAMPLES)
    ]
    sources = tuple(sorted({one.session for example in examples for one in example.sources}))
    return Template(name=f"work-{number}", examples=tuple(examples), sources=sources, created_at=now)


def _remember(store: Store, home: Path, session: str) -> None:
    by = Provenance(actor="review", origin="review", session="seasoned:review", parent=session)
    # Beside the home, which is emptied of files when the store is made anew.
    beside = home.with_name(f"{home.name}-learned")
    # What is there already is not learned again, and a new store would know of no change.
    shutil.rmtree(beside, ignore_errors=True)
    desk = ChangeJournal(
        store=store,
        redactor=Secrecy(load_key(home)).redactor(),
        home=beside,
        memory_folder=beside / "memory",
        skill_folder=beside / "skills",
    )
    for number in range(20):
        memory_file.add(desk, "notes", f"Service {number} listens on port {5000 + number}.", by=by)


def _requests(rng: random.Random, sessions: list[str], now: float) -> Iterator[tuple[object, ...]]:
    for number in range(REQUESTS * len(sessions)):
        at = now - rng.random() * 400 * _DAY
        yield (
            f"r{number}",
            at,
            time.strftime("%Y-%m-%d", time.gmtime(at)),
            rng.choice(sessions),
            rng.choice(("team", "ci", "")),
            rng.choice(("gpt-5", "small-3", "unknown-1")),
            rng.randrange(9000),
            rng.randrange(900),
            rng.random() / 10 if number % 3 else None,
        )
