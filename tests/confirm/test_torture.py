"""Kill -9 of the service at random moments, under load from eight clients over HTTP.

With SEASONED_TORTURE=1: 300 times on SQLite, and 60 times on PostgreSQL whose server is crashed as well.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from seasoned.config import Config
from tests.confirm.load import CLIENTS, Client, Load, judge
from tests.confirm.serving import start_process
from tests.databases import PostgresServer
from tests.torture import TORTURE

SEED = int(os.environ.get("SEASONED_SEED", "7"))
POLICY = "redeem_seconds = 3600\n[rate]\ncount = 1_000_000\n"
_MOST_SECONDS = 0.7
_ENOUGH_SECONDS = 60


def _kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _check_kills(config: Config, *, kills: int, between: Callable[[int], None] = lambda _: None) -> None:
    """So many kills at random moments under load; `between` is called after each with its number."""
    chance = random.Random(SEED)
    load = Load(config)
    config.home.mkdir(exist_ok=True)
    (config.home / "policy.toml").write_text(POLICY, "utf-8")
    (config.home / "policy.toml").chmod(0o600)
    clients = [Client(load, number, SEED) for number in range(CLIENTS)]
    process = start_process(config)
    load.address = _address(process)
    for client in clients:
        client.start()
    try:
        for number in range(kills):
            time.sleep(chance.uniform(0.1, _MOST_SECONDS))
            _kill(process)
            between(number)
            process = start_process(config)
            if chance.random() < 0.15:
                # While it starts, before it has answered anybody.
                time.sleep(chance.uniform(0, 1))
                _kill(process)
                process = start_process(config)
            load.address = _address(process)
        # On a busy machine a few short lives of the service answer nobody: the last one may take longer.
        until = time.monotonic() + _ENOUGH_SECONDS
        while time.monotonic() < until and min(map(load.count, ("submitted", "decided", "redeemed"))) <= kills:
            time.sleep(0.1)
    finally:
        load.is_over.set()
        for client in clients:
            client.join()
        _kill(process)
    assert not load.problems, load.problems
    counted = judge(config, load.told)
    print(f"seed {SEED}: {kills} kills, {load.unanswered} unanswered,", dict(counted))  # noqa: T201
    # Without these the load would not have been one, and nothing would have been shown.
    assert load.unanswered >= kills // 2
    assert min(counted["submitted"], counted["decided"], counted["redeemed"]) > kills // 4


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    _check_kills(Config(home=tmp_path / "home"), kills=300 if TORTURE else 4)


def test_kill_9_and_a_crash_of_postgresql_lose_nothing_that_was_acknowledged(
    safe_postgres: PostgresServer, tmp_path: Path
) -> None:
    kills = 60 if TORTURE else 2
    url = safe_postgres.url(schema=safe_postgres.fresh_schema())

    def between(number: int) -> None:
        if number == kills // 2:
            safe_postgres.crash()
            safe_postgres.start()

    _check_kills(Config(home=tmp_path / "home", database_url=url), kills=kills, between=between)
