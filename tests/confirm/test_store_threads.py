"""Store work outside the event loop: results come after the commit, and one job that fails fails alone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.confirm.people.credential import Credential
from seasoned.confirm.policy import Policy, RateRule
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest
from seasoned.confirm.request.row import load_seal
from seasoned.confirm.service import ConfirmService
from seasoned.confirm.service.service import StoreThreads
from seasoned.errors import CannotDo, UsageError
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Database, Store, open_database
from seasoned.store.postgres import PostgresStore
from tests.confirm.keys import make

POLICY = Policy(rate=RateRule(count=10_000))


@asynccontextmanager
async def _store(config: Config) -> AsyncIterator[tuple[StoreThreads, Credential]]:
    database = open_database(config)
    who, _ = make(database, "agent", "agent", now=time.time())
    database.close()
    secrecy, seal = Secrecy(load_key(config.home)), load_seal(config.home)

    def book(database: Database) -> Book:
        return Book(database, policy=POLICY, seal=seal, secrecy=secrecy)

    store = StoreThreads(lambda: open_database(config, durable=True, by_turns=True), book)
    await store.start()
    try:
        yield store, who
    finally:
        await store.stop()


def _new(number: int) -> NewRequest:
    return NewRequest(action="send_report", description=f"Number {number}.")


def _submit(who: Credential, asked: NewRequest) -> Callable[[Book], str]:
    return lambda book: book.submit(who, asked).request.id


def _hold(store: StoreThreads) -> tuple[asyncio.Future[None], threading.Event]:
    """Keeps the writer busy until the event is set."""
    go_on = threading.Event()
    return asyncio.ensure_future(store.write(lambda _: go_on.wait(10) and None)), go_on


def test_many_at_once_are_all_kept_and_one_that_fails_fails_alone(database_config: Config) -> None:
    def breaks(book: Book) -> str:
        book.submit(who, _new(99))
        raise ZeroDivisionError("unexpected")

    async def run() -> None:
        nonlocal who
        async with _store(database_config) as (store, who):
            jobs = [store.write(_submit(who, _new(number))) for number in range(40)]
            jobs.insert(20, store.write(_submit(who, NewRequest(action="", description="wrong"))))
            jobs.insert(10, store.write(breaks))
            found = await asyncio.gather(*jobs, return_exceptions=True)
            ids = [one for one in found if isinstance(one, str)]
            assert len(set(ids)) == 40
            assert {type(one) for one in found if not isinstance(one, str)} == {ZeroDivisionError, UsageError}
            kept = {one.id for one in await store.read(lambda book: book.list(who, limit=100))}
            assert kept > set(ids) and len(kept) == 41, "what broke had committed its own request before"

    who: Credential
    who = None  # type: ignore[assignment]
    asyncio.run(run())


def test_stopping_finishes_what_was_handed_over_and_takes_no_more(tmp_path: Path) -> None:
    async def run() -> None:
        async with _store(Config(home=tmp_path)) as (store, who):
            holding, go_on = _hold(store)
            job = asyncio.ensure_future(store.write(_submit(who, _new(1))))
            await asyncio.sleep(0.02)
            stopping = asyncio.ensure_future(store.stop())
            await asyncio.sleep(0.02)
            with pytest.raises(CannotDo, match="stopping"):
                await store.read(lambda book: book.pending_count())
            go_on.set()
            assert await job
            await asyncio.gather(holding, stopping)

    asyncio.run(run())


def _settings(book: Book) -> dict[str, object]:
    """What is in force on the very connection that the service writes with."""
    database = book.database
    if isinstance(database, Store):
        names = ("journal_mode", "synchronous", "fullfsync")
        return {name: database.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}
    assert isinstance(database, PostgresStore)
    found = database._connection.execute("SHOW synchronous_commit").fetchone()
    assert found is not None
    return dict(found)


def _in_force(config: Config) -> dict[str, object]:
    async def ask() -> dict[str, object]:
        service = ConfirmService(config)
        await service.store.start()
        try:
            return await service.store.write(_settings)
        finally:
            await service.store.stop()

    return asyncio.run(ask())


def test_the_service_writes_through_a_log_and_waits_for_the_disk(tmp_path: Path) -> None:
    assert _in_force(Config(home=tmp_path)) == {"journal_mode": "wal", "synchronous": 2, "fullfsync": 1}


def test_postgresql_answers_after_its_log_is_written_even_where_it_is_told_not_to(
    tmp_path: Path, postgres_url: str
) -> None:
    careless = f"{postgres_url}%20-csynchronous_commit%3Doff"
    assert _in_force(Config(home=tmp_path, database_url=careless)) == {"synchronous_commit": "on"}
