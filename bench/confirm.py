"""Fifty agents at once at the confirmation service for a minute: errors, how long answers take, and the audit after."""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seasoned.config import Config
from seasoned.confirm.audit.chain import writing
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.credential import TERMINAL, Proof, make
from seasoned.store import open_database

AGENTS = 50
SECONDS = float(os.environ.get("SEASONED_BENCH_SECONDS", "60"))
# What an agent does between two requests of its own.
PAUSE_SECONDS = (0.05, 0.4)
_POLICY = '[rate]\ncount = 1000000\n[[allow]]\naction = "tidy_up"\n'


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        home = Path(name) / "home"
        with _service(home) as (port, tokens):
            took, errors = asyncio.run(_work(port, tokens))
        every = [one for each in took.values() for one in each]
        slowest = max(every)
        yield f"{AGENTS} agents for {SECONDS:g} s: {len(every)} answers, {len(errors)} errors, slowest {slowest:.0f} ms"
        for what, each in took.items():
            half, slow = statistics.median(each), statistics.quantiles(each, n=100)[98]
            yield f"  {what:<8} {len(each):6}  median {half:4.0f}  99 % {slow:4.0f}  slowest {max(each):4.0f} ms"
        yield from (f"  {one}" for one in sorted(set(errors))[:5])
        database = open_database(Config(home=home))
        found = verify(database)
        database.close()
        yield f"  the audit of {found.rows} rows {'verifies' if found.ok else found.reason}"


async def _work(port: int, tokens: list[str]) -> tuple[dict[str, list[float]], list[str]]:
    """All answers by what was asked, in milliseconds, and what went wrong."""
    took: dict[str, list[float]] = defaultdict(list)
    errors: list[str] = []
    until = time.monotonic() + SECONDS

    async def agent(number: int, token: str) -> None:
        chance = random.Random(number)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def ask(what: str, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
            begun = time.perf_counter()
            status, answer = await _exchange(reader, writer, _request(method, path, token, body))
            took[what].append((time.perf_counter() - begun) * 1000)
            if status >= 300:
                errors.append(f"{what}: {status} {answer.get('error')}")
            return answer

        turn = 0
        while time.monotonic() < until:
            turn += 1
            action = "delete_data" if turn % 3 == 0 else "tidy_up"
            body = {
                "action": action,
                "description": f"Turn {turn} of agent {number}",
                "details": {"path": f"/srv/{turn}"},
            }
            made = await ask("submit", "POST", "/confirm", body)
            await ask("look", "GET", f"/confirm/{made.get('id')}")
            if made.get("status") == "auto_approved":
                await ask("redeem", "POST", f"/confirm/{made['id']}/redeem", {"digest": made["digest"]})
            await asyncio.sleep(chance.uniform(*PAUSE_SECONDS))
        writer.close()

    await asyncio.gather(*(agent(number, token) for number, token in enumerate(tokens)))
    return took, errors


@contextmanager
def _service(home: Path) -> Iterator[tuple[int, list[str]]]:
    """A service in a separate process: its port, and a token for each agent."""
    database = open_database(Config(home=home))
    with writing(database) as chain:
        tokens = [
            make(chain, f"agent-{one}", "agent", now=time.time(), person=f"person-{one}", proof=Proof(TERMINAL))[1]
            for one in range(AGENTS)
        ]
    database.close()
    (home / "policy.toml").write_text(_POLICY, "utf-8")
    process = subprocess.Popen([sys.executable, "-c", _SERVE, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline().rpartition(":")[2]), tokens
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def _request(method: str, path: str, token: str, body: dict[str, Any] | None) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
    return f"{head}\r\n".encode() + content


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, dict[str, Any]]:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head.split(b" ", 2)[1]), dict(json.loads(await reader.readexactly(length)))


_SERVE = """
import sys
from pathlib import Path

from seasoned.config import Config
from seasoned.confirm.policy import Listen
from seasoned.confirm.service import ConfirmService, create_app, serve

service = ConfirmService(Config(home=Path(sys.argv[1])))
serve(create_app(service), service, Listen(port=0), ready=lambda found: print(found, flush=True))
"""
