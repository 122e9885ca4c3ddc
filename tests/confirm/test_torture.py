"""Kill -9 of the service at random moments, under load from eight processes over HTTP.

With SEASONED_TORTURE=1: 300 times on SQLite, and 60 times on PostgreSQL whose server is crashed as well.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.confirm.policy import Policy
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest, Request
from seasoned.confirm.request.seal import load_seal
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_database
from tests.confirm.keys import make_person
from tests.confirm.killing import judge, torture
from tests.confirm.load import Told
from tests.databases import PostgresServer, start_postgres
from tests.torture import TORTURE

SEED = int(os.environ.get("SEASONED_SEED", "7"))


def _check_load(counted: Counter[str], kills: int) -> None:
    print(f"seed {SEED}:", dict(counted))  # noqa: T201
    assert counted["kills"] == kills
    # Without these the load would not have been one, and nothing would have been shown.
    assert counted["unanswered"] >= kills // 2
    assert min(counted["submitted"], counted["decided"], counted["redeemed"]) > kills // 4


def test_kill_9_at_random_moments_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    kills = 300 if TORTURE else 6
    counted = torture(Config(home=tmp_path / "home"), tmp_path, kills=kills, seed=SEED)
    _check_load(counted, kills)


def test_kill_9_and_a_crash_of_postgresql_lose_nothing_that_was_acknowledged(
    safe_postgres: PostgresServer, tmp_path: Path
) -> None:
    kills = 60 if TORTURE else 3
    url = safe_postgres.url(schema=safe_postgres.fresh_schema())
    crashes = {kills // 2}

    def between(number: int) -> None:
        if number in crashes:
            safe_postgres.crash()
            safe_postgres.start()

    counted = torture(
        Config(home=tmp_path / "home", database_url=url), tmp_path, kills=kills, seed=SEED, between=between
    )
    _check_load(counted, kills)


@pytest.fixture
def safe_postgres() -> Iterator[PostgresServer]:
    """A server that waits for its disk, as those in earnest do."""
    server = start_postgres({"fsync": "on", "full_page_writes": "on"})
    yield server
    server.stop()


def _kept(config: Config) -> dict[str, Request]:
    """A store with one request that was redeemed and one that was denied."""
    database = open_database(config)
    try:
        agent, _ = make_person(database, "agent", "agent", now=time.time())
        alice, _ = make_person(database, "alice", "approver", now=time.time())
        secrecy = Secrecy(load_key(config.home))
        book = Book(database, policy=Policy(), seal=load_seal(config.home), secrecy=secrecy)
        used, denied = (
            book.submit(agent, NewRequest(action="send_report", description=f"Report {number}.")).request
            for number in range(2)
        )
        book.decide(alice, used.id, approve=True)
        book.decide(alice, denied.id, approve=False)
        book.redeem(agent, used.id, digest=used.digest)
        return {"used": book.look(agent, used.id), "denied": book.look(agent, denied.id)}
    finally:
        database.close()


LIES = {
    "lost": lambda kept: [Told("submitted", "never-kept", "pending")],
    "another one than it was": lambda kept: [Told("submitted", kept["used"].id, "pending", "0" * 64)],
    "taken back": lambda kept: [Told("seen", kept["denied"].id, "approved")],
    "decided anew": lambda kept: [Told("decided", kept["denied"].id, "denied", "", "", 1.0, "alice")],
    "redeemed anew": lambda kept: [Told("redeemed", kept["used"].id, "approved", "", "", 1.0)],
    "one key, two requests": lambda kept: [Told("submitted", one.id, "pending", "", "key") for one in kept.values()],
    "two were told": lambda kept: [
        Told("redeemed", kept["used"].id, "approved", "", "", kept["used"].redeemed_at) for _ in range(2)
    ],
}


@pytest.mark.parametrize("sentence", LIES)
def test_what_was_acknowledged_and_is_not_so_is_noticed(sentence: str, tmp_path: Path) -> None:
    config = Config(home=tmp_path / "home")
    kept = _kept(config)
    judge(config, tmp_path)
    (tmp_path / "told-0.jsonl").write_text("".join(f"{json.dumps(told)}\n" for told in LIES[sentence](kept)), "utf-8")
    with pytest.raises(AssertionError, match=sentence):
        judge(config, tmp_path)
