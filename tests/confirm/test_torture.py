"""Kill -9 at random moments of the service, its database and an agent, under load from eight clients over HTTP.

With SEASONED_TORTURE=1 300 times each on SQLite and on PostgreSQL. The agent in a process of its own is killed between
what it asks for and what it does with the approval; the next process goes on with its key.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from seasoned.config import Config
from tests.confirm.load import CLIENTS, Client, Load, Told, judge
from tests.confirm.lone_agent import OVER, Journal
from tests.confirm.serving import start_process
from tests.conftest import ROOT
from tests.databases import PostgresServer
from tests.torture import TORTURE

SEED = int(os.environ.get("SEASONED_SEED", "7"))
POLICY = "redeem_seconds = 3600\n[rate]\ncount = 1_000_000\n"
_MOST_SECONDS = 0.7
_ENOUGH_SECONDS = 60


class Stage:
    """A service, an agent and perhaps a database that can be killed, and the load that they are under."""

    def __init__(self, config: Config, postgres: PostgresServer | None, chance: random.Random) -> None:
        self.config, self._postgres, self._chance = config, postgres, chance
        config.home.mkdir(exist_ok=True)
        (config.home / "policy.toml").write_text(POLICY, "utf-8")
        (config.home / "policy.toml").chmod(0o600)
        self.load = Load(config)
        self.journal = Journal(config.home)
        self.load.first = self._first
        self.kills: Counter[str] = Counter()
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def start(self) -> None:
        self._start_service()
        self._start_agent()

    def kill_one(self, what: str) -> None:
        """Kill one of the three, and start it again."""
        if what == "agent":
            # What it had done last says between which two steps it was killed.
            what = f"agent after {self.journal.lines()[-1]['what']}"
            self._kill("agent")
            self._start_agent()
        elif what == "database" and self._postgres is not None:
            self._postgres.kill()
            self._postgres.start()
        else:
            self._kill("service")
            self._start_service()
            if self._chance.random() < 0.15:
                # Before it has answered anybody.
                self._kill("service")
                self._start_service()
        self.kills[what] += 1

    def close(self) -> None:
        for name in self._processes:
            self._kill(name)

    def told(self) -> list[Told]:
        """What was acknowledged to the clients and to the agent."""
        agent = [Told(**line) for line in self.journal.lines() if "id" in line]
        return [*self.load.told, *agent]

    def _first(self) -> str | None:
        lines = self.journal.lines()
        return lines[-1]["id"] if lines and lines[-1]["what"] == "submitted" else None

    def _start_service(self) -> None:
        process = self._processes["service"] = start_process(self.config)
        assert process.stdout is not None
        self.load.address = process.stdout.readline().strip()
        self.journal.write_address(self.load.address)

    def _start_agent(self) -> None:
        known = len(self.journal.lines())
        words = [sys.executable, "-m", "tests.confirm.lone_agent", self.config.home, self.load.tokens["lone"]]
        self._processes["agent"] = subprocess.Popen(words, text=True, cwd=ROOT)
        _wait_until(lambda: len(self.journal.lines()) > known)

    def _kill(self, name: str) -> None:
        self._processes[name].kill()
        self._processes[name].communicate()


def _check_kills(config: Config, *, kills: int, postgres: PostgresServer | None = None) -> None:
    """So many kills at random moments under load, of one after the other in turn."""
    chance = random.Random(SEED)
    stage = Stage(config, postgres, chance)
    load, kinds = stage.load, ["service", "agent", *(["database"] if postgres is not None else [])]
    clients = [Client(load, number, SEED) for number in range(CLIENTS)]
    try:
        stage.start()
        for client in clients:
            client.start()
        for number in range(kills):
            what = kinds[number % len(kinds)]
            # An agent is between two steps for a few milliseconds only.
            time.sleep(chance.uniform(0, 0.1) if what == "agent" else chance.uniform(0.1, _MOST_SECONDS))
            stage.kill_one(what)
        # On a busy machine a few short lives of the service answer nobody: the last one may take longer.
        _wait_until(lambda: min(map(load.count, ("submitted", "decided", "redeemed"))) > kills)
        last = stage.journal.lines()[-1]["key"]
        _wait_until(lambda: stage.journal.lines()[-1]["key"] != last)
    finally:
        load.is_over.set()
        for client in clients:
            if client.is_alive():
                client.join()
        stage.close()
    assert not load.problems, load.problems
    counted = judge(config, stage.told())
    print(f"seed {SEED}: {dict(stage.kills)}, {load.unanswered} unanswered,", dict(counted))  # noqa: T201
    # Without these the load would not have been one, and nothing would have been shown.
    assert load.unanswered >= kills // 2
    assert min(counted["submitted"], counted["decided"], counted["redeemed"]) > kills // 4
    # Each thing that the agent asked for came to an end, except for the one it was at.
    ends = Counter(line["key"] for line in stage.journal.lines() if line["what"] in OVER)
    begun = [line["key"] for line in stage.journal.lines() if line["what"] == "begun"]
    assert [key for key in begun[:-1] if ends[key] != 1] == []


def _wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + _ENOUGH_SECONDS
    while not is_so():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.02)


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    _check_kills(Config(home=tmp_path / "home"), kills=300 if TORTURE else 4)


def test_kill_9_of_service_agent_and_postgresql_loses_nothing_and_does_nothing_twice(
    safe_postgres: PostgresServer, tmp_path: Path
) -> None:
    url = safe_postgres.url(schema=safe_postgres.fresh_schema())
    _check_kills(Config(home=tmp_path / "home", database_url=url), kills=300 if TORTURE else 6, postgres=safe_postgres)
