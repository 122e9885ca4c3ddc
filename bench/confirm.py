"""The confirmation service: durable submissions a second, looks with many pending requests, many waiting clients."""

from __future__ import annotations

import asyncio
import json
import resource
import secrets
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from uvicorn.loops.auto import auto_loop_factory

from seasoned.config import Config
from seasoned.confirm.people.credential import Credential, make, new_key
from seasoned.confirm.policy import load_policy
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest
from seasoned.confirm.request.row import load_seal
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_database
from seasoned.text import plural

ROUNDS = 5
ROUND_SECONDS = 2.0
CONNECTIONS = (1, 16, 64, 256)
WANTED = 500
FEW, MANY = 10, 10_000
LOOKS = 1500
WAITING = 1000
_ACTIONS = 500
_WORDS = "four words are enough"
_POLICY = "[rate]\ncount = 1000000\nwindow_seconds = 3600\n"


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        yield from _submitting(Path(name))
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        yield from _looking(Path(name))
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        yield from _waiting(Path(name))


def _submitting(folder: Path) -> Iterator[str]:
    """Alternate rounds of raw commits and of submissions, since a shared disk is not always equally fast."""
    raw: list[float] = []
    rates: dict[int, list[float]] = {count: [] for count in CONNECTIONS}
    with _service(folder) as (port, tokens):
        for _ in range(ROUNDS):
            raw.append(_commits(folder))
            for count in CONNECTIONS:
                rates[count].append(_submits(port, tokens["agent"], count))
        kept = asyncio.run(_call(port, "GET", "/health", tokens["agent"]))["pending_count"]
    commits = statistics.median(raw)
    yield f"raw commits of one row, SQLite, WAL, synchronous FULL: {commits:,.0f} a second, median of {ROUNDS} rounds"
    for count, found in rates.items():
        rate = statistics.median(found)
        # Other programs on the machine only ever slow a round down, so the fastest one counts.
        wanted = f" (wanted: at least {WANTED})" if count > 1 else ""
        yield (
            f"durable submissions over HTTP, {plural(count, 'connection')}: {rate:,.0f} a second, fastest round "
            f"{max(found):,.0f}{wanted}; ratio to raw commits {rate / commits:.2f}"
        )
    acknowledged = round(sum(map(sum, rates.values())) * ROUND_SECONDS)
    yield f"  acknowledged {acknowledged:,}, in the store {kept:,}"


def _commits(folder: Path) -> float:
    connection = sqlite3.connect(folder / "raw.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS raw (text TEXT)")
    begun, count = time.perf_counter(), 0
    while time.perf_counter() - begun < ROUND_SECONDS:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO raw VALUES ('one row')")
        connection.execute("COMMIT")
        count += 1
    connection.close()
    return count / ROUND_SECONDS


def _submits(port: int, token: str, connections: int) -> float:
    """Acknowledged submissions a second. The client does as little as it can: it runs on the same cores."""

    async def all_of_them() -> int:
        loop = asyncio.get_running_loop()
        ends = time.perf_counter() + ROUND_SECONDS
        made = [
            await loop.create_connection(partial(_Submitter, token, ends, number), "127.0.0.1", port)
            for number in range(connections)
        ]
        return sum([await submitter.count for _, submitter in made])

    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        return runner.run(all_of_them()) / ROUND_SECONDS


class _Submitter(asyncio.Protocol):
    """One connection that submits one request after the other until the time is over."""

    def __init__(self, token: str, ends: float, number: int) -> None:
        self._token, self._ends, self._number = token, ends, number
        self._acknowledged = 0
        self._heard = b""
        self.count: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._heard += data
        head, _, body = self._heard.partition(b"\r\n\r\n")
        if len(body) < int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 1):
            return
        assert head.startswith(b"HTTP/1.1 202 "), self._heard
        self._heard = b""
        self._acknowledged += 1
        if time.perf_counter() < self._ends:
            self._ask()
        else:
            self.count.set_result(self._acknowledged)
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.count.done():
            self.count.set_exception(error or ConnectionError("the service hung up"))

    def _ask(self) -> None:
        said = _asked(self._number * 97 + self._acknowledged)
        # Each with a new key, as our client sends them.
        self._transport.write(_request("POST", "/confirm", self._token, said, key=secrets.token_urlsafe(24)))


def _looking(folder: Path) -> Iterator[str]:
    """Looks at single requests of one service, first with few pending and then with many."""
    medians = {}
    with _service(folder) as (port, tokens):
        for count in (FEW, MANY):
            ids = _fill(folder, count)
            medians[count] = asyncio.run(_looks(port, tokens["approver"], ids[-FEW:]))
    for path in ("status", "health", "list"):
        few, many = medians[FEW][path], medians[MANY][path]
        wanted = " (wanted: at most 2)" if path == "status" else ""
        yield (
            f"{path}: median {1e3 * few:.2f} ms with {FEW} pending, {1e3 * many:.2f} ms with {MANY:,}; "
            f"ratio {many / few:.2f}{wanted}"
        )


async def _looks(port: int, token: str, ids: list[str]) -> dict[str, float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seconds: dict[str, list[float]] = {"status": [], "health": [], "list": []}
    for number in range(LOOKS):
        paths = {"status": f"/confirm/{ids[number % len(ids)]}"}
        if number % 5 == 0:
            paths |= {"health": "/health", "list": "/confirm?status=pending&limit=10"}
        for name, path in paths.items():
            begun = time.perf_counter()
            status, _ = await _exchange(reader, writer, _request("GET", path, token))
            seconds[name].append(time.perf_counter() - begun)
            assert status == 200, status
    writer.close()
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def _fill(folder: Path, count: int) -> list[str]:
    """Add pending requests, without waiting for the disk, which is not measured here."""
    config = Config(home=folder / "home")
    database = open_database(config)
    secrecy = Secrecy(load_key(config.home))
    policy = load_policy(config.home / "policy.toml")
    book = Book(database, policy=policy, seal=load_seal(config.home), secrecy=secrecy)
    who = Credential(**{name: database.row("confirm.credential_named", {"name": "agent"})[name] for name in _FIELDS})  # type: ignore[index]
    asked = (NewRequest(**_asked(number), timeout_seconds=3600) for number in range(count - book.pending_count()))
    ids = [book.submit(who, one).request.id for one in asked]
    database.close()
    return ids


_FIELDS = ("id", "name", "role", "person", "created_at")


def _waiting(folder: Path) -> Iterator[str]:
    for elsewhere in (False, True):
        with _service(folder) as (port, tokens):
            deciding = port
            if elsewhere:
                with _service(folder) as (deciding, _):
                    late = asyncio.run(_wait_all(port, deciding, tokens))
            else:
                late = asyncio.run(_wait_all(port, deciding, tokens))
        place = "another process" if elsewhere else "the same process"
        late.sort()
        yield (
            f"{WAITING:,} waiting clients, decided in {place}: all answered, median "
            f"{1e3 * statistics.median(late):.0f} ms after the decision, the last after {1e3 * late[-1]:.0f} ms "
            "(wanted: under 1,000)"
        )


async def _wait_all(port: int, deciding: int, tokens: dict[str, str]) -> list[float]:
    made = await _call(port, "POST", "/confirm", tokens["agent"], _asked(0))
    path = f"/confirm/{made['id']}?wait=120"
    waiters = [asyncio.ensure_future(_wait(port, tokens["agent"], path)) for _ in range(WAITING)]
    while (await _call(port, "GET", "/health", tokens["agent"]))["waiting"] < WAITING:
        await asyncio.sleep(0.2)
    body = {"reason": "measured", "passphrase": _WORDS}
    await _call(deciding, "POST", f"/confirm/{made['id']}/approve", tokens["approver"], body)
    decided = time.perf_counter()
    ends = await asyncio.gather(*waiters)
    return [max(end - decided, 0.0) for end in ends]


async def _wait(port: int, token: str, path: str) -> float:
    """When the decision arrived, read from the raw connection, so that a client's own work is not measured."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
    writer.write(_request("GET", path, token))
    await reader.readuntil(b'"status":"approved"')
    ended = time.perf_counter()
    writer.close()
    return ended


def _asked(number: int) -> dict[str, Any]:
    return {
        "action": f"measured_{number % _ACTIONS}",
        "description": f"Restart the worker of queue {number}.",
        "details": {
            "host": f"worker-{number}.example.org",
            "command": f"systemctl restart worker@{number}",
            "force": False,
        },
    }


@contextmanager
def _service(folder: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """A service in a separate process; its port, and tokens by role."""
    home = folder / "home"
    config = Config(home=home)
    database = open_database(config)
    kept = folder / "tokens.json"
    if not kept.exists():
        key = new_key(_WORDS)[1]
        made = {
            "agent": make(database, "agent", "agent", now=time.time())[1],
            "approver": make(database, "approver", "approver", now=time.time(), key=key)[1],
        }
        kept.write_text(json.dumps(made), "utf-8")
        (home / "policy.toml").write_text(_POLICY, "utf-8")
    database.close()
    process = subprocess.Popen([sys.executable, "-c", _SERVE, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline().rpartition(":")[2])
        yield port, json.loads(kept.read_text("utf-8"))
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def _request(method: str, path: str, token: str, body: dict[str, Any] | None = None, *, key: str = "") -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
    if key:
        head += f"Idempotency-Key: {key}\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}\r\n".encode() + content


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[int, bytes]:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head.split(b" ", 2)[1]), await reader.readexactly(length)


async def _call(port: int, method: str, path: str, token: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    status, content = await _exchange(reader, writer, _request(method, path, token, body))
    writer.close()
    assert status < 300, content
    return dict(json.loads(content))


_SERVE = """
import sys
from pathlib import Path

from uvicorn.loops.auto import auto_loop_factory

from seasoned.config import Config
from seasoned.confirm.policy import Listen
from seasoned.confirm.service import ConfirmService, create_app, serve

service = ConfirmService(Config(home=Path(sys.argv[1])))
serve(create_app(service), service, Listen(port=0), ready=lambda found: print(found[0], flush=True))
"""
