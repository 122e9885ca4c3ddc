"""Pusher, server and database are killed at random moments: nothing is lost, nothing is there twice."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from seasoned.app import team
from seasoned.config import Config
from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy, new_key
from seasoned.store import open_store
from seasoned.team.record import records_of
from tests.databases import PostgresServer, start_postgres
from tests.team.homes import SHOP, Home
from tests.torture import TORTURE

SEASONED = Path(sys.executable).parent / "seasoned"
MOMENTS = 50 if TORTURE else 5
_START_SECONDS = 60


class Server:
    """`seasoned serve` as a process on one port, that can be killed and started again."""

    def __init__(self, home: Path, url: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.config = Config(home=home, database_url=url)
        self.url = f"http://127.0.0.1:{self.port}"
        self._environment = {**os.environ, "SEASONED_HOME": str(home), "SEASONED_DATABASE_URL": url}
        self.start()

    def start(self) -> None:
        words = ["serve", "--port", str(self.port), "--no-schedule", "--no-gateway", "--no-link"]
        none = subprocess.DEVNULL
        self.process = subprocess.Popen([SEASONED, *words], env=self._environment, stdout=none, stderr=none)
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        pytest.fail("the server did not start")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def database() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    server.stop()


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_is_there_twice(tmp_path: Path, database: PostgresServer) -> None:
    chance = random.Random(26)
    url = database.url(schema=database.fresh_schema())
    first, second = Home(tmp_path / "a", SHOP), Home(tmp_path / "b", SHOP)
    server = Server(tmp_path / "server", url)
    try:
        for home, person in ((first, "alice"), (second, "bob")):
            code, _ = team.invite(server.config, person, admin=None, ask=lambda _: "")
            team.join(home.config, server.url, code, ())
        (first.config.home / "config.toml").write_text(f'[team]\nprojects = ["{SHOP}"]\n')
        environment = {**os.environ, "SEASONED_HOME": str(first.config.home)}
        for moment in range(MOMENTS):
            first.learn(2)
            pusher = subprocess.Popen([SEASONED, "team", "push", "--yes"], env=environment, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.1, 1.5))
            victim = ("pusher", "server", "database")[chance.randrange(3) if moment >= 3 else moment]
            if victim == "pusher":
                pusher.send_signal(signal.SIGKILL)
            elif victim == "server":
                server.kill()
                server.start()
            else:
                database.crash()
                database.start()
            pusher.wait(_START_SECONDS)
            if chance.random() < 0.5:
                _again(lambda: team.pull(second.config))
        _again(lambda: team.push(first.config))
        _again(lambda: team.pull(second.config))
        told = team.status(first.config)
        assert (told.problem, told.waiting) == (None, 0)
        assert sum(row["records"] for row in told.stored or ()) == 6 * MOMENTS
    finally:
        server.kill()
    with open_store(first.config.store_path) as store:
        redactor = Secrecy(new_key()).redactor()
        wanted = {(one.kind, one.key): one.digest for one in records_of(store, first.config.team, redactor)}
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT kind, key, digest, document FROM team_record").fetchall()
    assert len(rows) == len(wanted) == 6 * MOMENTS and {(row[0], row[1]): row[2] for row in rows} == wanted
    with open_store(second.config.store_path) as store:
        pulled = [row["key"] for row in store.connection.execute("SELECT key FROM team_evidence")]
    assert sorted(pulled) == sorted(key for kind, key in wanted if kind == "evidence")
    assert second.sheet() == first.sheet()


def _again(work: object) -> None:
    """What a background process does when sessions end: it tries again until it works."""
    assert callable(work)
    for _ in range(20):
        try:
            work()
        except CannotDo:
            time.sleep(0.3)
        else:
            return
    work()
