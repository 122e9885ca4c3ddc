"""The desk: answers come after the commit, groups share one, and one that fails fails alone."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.confirm.people.credential import Credential, make
from seasoned.confirm.policy import Policy, RateRule
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import NewRequest
from seasoned.confirm.request.seal import load_seal
from seasoned.confirm.service.group import Group
from seasoned.confirm.service.store_threads import StoreConnection, StoreThreads, _done_there
from seasoned.errors import CannotDo, StoreError, Unsure, UsageError
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Database, open_database

POLICY = Policy(rate=RateRule(count=10_000))


@asynccontextmanager
async def _desk(config: Config) -> AsyncIterator[tuple[StoreThreads, Credential]]:
    database = open_database(config)
    who, _ = make(database, "agent", "agent", now=time.time())
    database.close()
    secrecy, seal = Secrecy(load_key(config.home)), load_seal(config.home)

    def book(database: Database) -> Book:
        return Book(database, policy=POLICY, seal=seal, secrecy=secrecy)

    desk = StoreThreads(lambda: open_database(config, durable=True, by_turns=True), book)
    await desk.start()
    try:
        yield desk, who
    finally:
        await desk.stop()


def _asked(number: int) -> NewRequest:
    return NewRequest(action="send_report", description=f"Number {number}.")


def _submit(who: Credential, asked: NewRequest) -> Callable[[StoreConnection], str]:
    return lambda place: place.book.submit(who, asked).request.id


def _hold(desk: StoreThreads) -> tuple[asyncio.Future[None], threading.Event]:
    """Keeps the writer busy until the event is set, so that what comes meanwhile makes a group."""
    go_on = threading.Event()
    holding = asyncio.ensure_future(desk.write(lambda _: go_on.wait(10) and None, grouped=False))
    return holding, go_on


def test_a_group_shares_one_commit_and_a_refusal_in_it_is_its_own(database_config: Config) -> None:
    async def run() -> None:
        async with _desk(database_config) as (desk, who):
            holding, go_on = _hold(desk)
            asked = [_asked(number) for number in range(10)]
            asked[4] = NewRequest(action="send_report", description="")
            jobs = [asyncio.ensure_future(desk.write(_submit(who, one))) for one in asked]
            await asyncio.sleep(0.05)
            go_on.set()
            found = await asyncio.gather(*jobs, return_exceptions=True)
            await holding
            assert desk.largest_group == 10
            assert isinstance(found[4], UsageError)
            ids = {one for one in found if isinstance(one, str)}
            assert len(ids) == 9
            listed = await desk.read(lambda place: place.book.list(who))
            assert {one.id for one in listed} == ids

    asyncio.run(run())


def test_one_that_breaks_undoes_the_group_and_all_others_are_done_again(database_config: Config) -> None:
    """An unexpected error may leave the transaction unusable, so none of it is kept and each is done by itself."""

    async def run() -> None:
        async with _desk(database_config) as (desk, who):

            def breaks(place: StoreConnection) -> str:
                place.book.submit(who, _asked(99))
                raise ZeroDivisionError

            holding, go_on = _hold(desk)
            jobs = [asyncio.ensure_future(desk.write(_submit(who, _asked(number)))) for number in range(3)]
            broken = asyncio.ensure_future(desk.write(breaks))
            await asyncio.sleep(0.05)
            go_on.set()
            ids = await asyncio.gather(*jobs)
            with pytest.raises(ZeroDivisionError):
                await broken
            await holding
            listed = await desk.read(lambda place: place.book.list(who))
            assert {one.id for one in listed} > set(ids)
            assert len(listed) == 4, "what it had done by itself before it broke, and three others, each once"

    asyncio.run(run())


def test_an_answer_comes_after_its_commit(tmp_path: Path) -> None:
    """Another connection sees it at the moment when the answer is there."""

    async def run() -> None:
        config = Config(home=tmp_path)
        async with _desk(config) as (desk, who):
            reader = sqlite3.connect(config.store_path)
            for number in range(20):
                made = await desk.write(_submit(who, _asked(number)))
                assert reader.execute("SELECT status FROM request WHERE id = ?", (made,)).fetchone() == ("pending",)
            reader.close()

    asyncio.run(run())


def test_every_connection_of_the_desk_waits_for_the_disk(tmp_path: Path) -> None:
    async def run() -> None:
        async with _desk(Config(home=tmp_path)) as (desk, _):
            levels = set()
            for ask in (desk.read, desk.write):
                levels.add(await ask(_level))
            assert levels == {2}, "synchronous = FULL"

    def _level(place: StoreConnection) -> int:
        inner = place.database._database  # type: ignore[attr-defined]
        return int(inner.connection.execute("PRAGMA synchronous").fetchone()[0])

    asyncio.run(run())


def test_a_store_that_cannot_be_opened_is_an_error_at_the_start(tmp_path: Path) -> None:
    async def run() -> None:
        def refuse() -> Database:
            raise StoreError("no such store")

        desk = StoreThreads(refuse, lambda database: pytest.fail(f"a book on {database}"))
        with pytest.raises(StoreError, match="no such store"):
            await desk.start()

    asyncio.run(run())


def test_a_desk_that_is_closed_takes_no_more_but_finishes_what_it_has(tmp_path: Path) -> None:
    async def run() -> None:
        async with _desk(Config(home=tmp_path)) as (desk, who):
            holding, go_on = _hold(desk)
            job = asyncio.ensure_future(desk.write(_submit(who, _asked(1))))
            await asyncio.sleep(0.02)
            stopping = asyncio.ensure_future(desk.stop())
            await asyncio.sleep(0.02)
            with pytest.raises(CannotDo, match="stopping"):
                await desk.read(lambda place: place.book.pending_count())
            go_on.set()
            assert await job
            await asyncio.gather(holding, stopping)

    asyncio.run(run())


def test_what_comes_in_the_very_turn_in_which_a_desk_is_closed_is_answered(tmp_path: Path) -> None:
    async def run() -> None:
        async with _desk(Config(home=tmp_path)) as (desk, who):
            job = asyncio.ensure_future(desk.write(_submit(who, _asked(1))))
            stopping = asyncio.ensure_future(desk.stop())
            async with asyncio.timeout(10):
                assert await job
                await stopping

    asyncio.run(run())


def test_one_who_left_meanwhile_disturbs_nobody(tmp_path: Path) -> None:
    async def run() -> None:
        async with _desk(Config(home=tmp_path)) as (desk, who):
            holding, go_on = _hold(desk)
            left = asyncio.ensure_future(desk.write(_submit(who, _asked(1))))
            stays = asyncio.ensure_future(desk.write(_submit(who, _asked(2))))
            await asyncio.sleep(0.02)
            left.cancel()
            go_on.set()
            assert await stays
            await holding
            assert await desk.read(lambda place: place.book.pending_count()) == 2, "it was handed over, and is kept"

    asyncio.run(run())


def test_a_store_that_ends_the_transaction_by_itself_has_nothing_of_the_group_twice(tmp_path: Path) -> None:
    """As SQLite does on a full disk: what came before is gone, and what comes after is in no transaction."""

    async def run() -> None:
        async with _desk(Config(home=tmp_path)) as (desk, who):
            ended: list[bool] = []

            def ends(place: StoreConnection) -> str:
                if not ended:
                    ended.append(True)
                    place.database._database.connection.execute("ROLLBACK")  # type: ignore[attr-defined]
                raise StoreError("the disk is full")

            found = await _as_one_group(desk, who, ends)
            assert isinstance(found[2], StoreError)
            listed = await desk.read(lambda place: place.book.list(who))
            assert sorted(one.id for one in listed) == sorted(one for one in found if isinstance(one, str))
            assert len(listed) == 4

    asyncio.run(run())


def test_what_one_adds_wrongly_is_no_harm_to_the_others_when_it_is_written_out(database_config: Config) -> None:
    async def run() -> None:
        async with _desk(database_config) as (desk, who):

            def adds_wrongly(place: StoreConnection) -> str:
                place.database.run("confirm.add_outbox", {"id": "x"})
                return "never said"

            found = await _as_one_group(desk, who, adds_wrongly)
            assert isinstance(found[2], Exception)
            listed = await desk.read(lambda place: place.book.list(who))
            assert sorted(one.id for one in listed) == sorted(one for one in found if isinstance(one, str))
            assert len(listed) == 4

    asyncio.run(run())


def test_a_change_that_may_have_been_kept_is_not_made_again(
    database_config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with _desk(database_config) as (desk, who):
            whole = Group.whole

            @contextmanager
            def lost(group: Group) -> Iterator[None]:
                with whole(group):
                    yield
                raise Unsure("the line was cut while it was kept")

            monkeypatch.setattr(Group, "whole", lost)
            found = await _as_one_group(desk, who, _submit(who, _asked(99)))
            assert [type(one) for one in found] == [Unsure] * 5
            listed = await desk.read(lambda place: place.book.list(who))
            assert len(listed) == 5, "each once"

    asyncio.run(run())


def test_a_store_that_lets_nobody_in_is_waited_for_once_and_not_by_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seasoned.store.database._BUSY_SECONDS", 0.5)

    async def run() -> None:
        config = Config(home=tmp_path)
        async with _desk(config) as (desk, who):
            other = sqlite3.connect(config.store_path, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            begun = time.monotonic()
            jobs = [desk.write(_submit(who, _asked(number))) for number in range(16)]
            found = await asyncio.gather(*jobs, return_exceptions=True)
            taken = time.monotonic() - begun
            other.execute("ROLLBACK")
            other.close()
            assert {type(one) for one in found} == {StoreError}
            assert taken < 16 * 0.5

    asyncio.run(run())


def test_a_loop_that_is_interrupted_lets_the_writer_go() -> None:
    loop = asyncio.new_event_loop()

    def turn() -> None:
        with suppress(SystemExit):
            loop.run_forever()

    thread = threading.Thread(target=turn)
    thread.start()
    with pytest.raises(SystemExit):
        _done_there(loop, lambda: sys.exit(3))
    thread.join(10)
    assert not thread.is_alive()
    loop.close()


async def _as_one_group(
    desk: StoreThreads, who: Credential, odd: Callable[[StoreConnection], str]
) -> list[str | BaseException]:
    """What four submissions give that share a group with something odd, which is the third."""
    holding, go_on = _hold(desk)
    jobs = [_submit(who, _asked(number)) for number in range(4)]
    jobs.insert(2, odd)
    waiting = [asyncio.ensure_future(desk.write(one)) for one in jobs]
    await asyncio.sleep(0.05)
    go_on.set()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    await holding
    return found
