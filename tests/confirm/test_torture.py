"""Kill -9 of the service at random moments, under load from eight processes over HTTP.

With SEASONED_TORTURE=1: 300 times on SQLite, and 60 times on PostgreSQL whose server is crashed as well.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.config import Config
from tests.confirm.killing import judge, torture
from tests.confirm.load import Told
from tests.databases import PostgresServer, start_postgres

TORTURE = bool(os.environ.get("SEASONED_TORTURE"))
SEED = int(os.environ.get("SEASONED_SEED", "7"))


def _check(counted: Counter[str], kills: int) -> None:
    print(f"seed {SEED}:", dict(counted))  # noqa: T201
    assert counted["kills"] == kills
    # Without these the load would not have been one, and nothing would have been shown.
    assert counted["unanswered"] >= kills // 2
    assert min(counted["submitted"], counted["decided"], counted["redeemed"]) >= kills


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    kills = 300 if TORTURE else 6
    counted = torture(Config(home=tmp_path / "home"), tmp_path, kills=kills, seed=SEED)
    _check(counted, kills)


def test_kill_9_and_a_crash_of_postgresql_lose_nothing_that_was_acknowledged(
    safe_postgres: PostgresServer, tmp_path: Path
) -> None:
    kills = 60 if TORTURE else 4
    url = safe_postgres.url(schema=safe_postgres.fresh_schema())
    crashes = {kills // 2}

    def between(number: int) -> None:
        if number in crashes:
            safe_postgres.crash()
            safe_postgres.start()

    counted = torture(Config(home=tmp_path / "home", database_url=url), tmp_path, kills=kills, seed=SEED, between=between)
    _check(counted, kills)


@pytest.fixture
def safe_postgres() -> Iterator[PostgresServer]:
    """A server that waits for its disk, as those in earnest do."""
    server = start_postgres({"fsync": "on", "full_page_writes": "on"})
    yield server
    server.stop()


@pytest.mark.parametrize(
    "told",
    [
        Told("submitted", "never-kept", "pending"),
        Told("decided", "{decided}", "denied", "", "", 1.0, "somebody"),
        Told("decided", "{decided}", "approved", "", "", 1.0, "somebody"),
        Told("redeemed", "{redeemed}", "approved", "", "", 1.0),
        Told("submitted", "{decided}", "pending", "another digest"),
    ],
)
def test_what_is_acknowledged_and_not_kept_is_noticed(told: Told, tmp_path: Path) -> None:
    home, folder = _KEPT.get("home"), tmp_path / "folder"
