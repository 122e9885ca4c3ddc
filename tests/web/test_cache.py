"""What takes long is found once, kept, found anew when something changed, and tried once where it fails."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from seasoned.errors import CannotDo
from seasoned.report.report import Revision
from seasoned.web.history_store import PageCache

ONE, TWO = Revision(1, 9, 0), Revision(2, 12, 0)


def test_what_is_known_is_not_found_again_until_something_changes() -> None:
    async def check() -> None:
        standings, found = PageCache(), []

        def find(_: Any) -> int:
            found.append(1)
            return len(found)

        first = await standings.look("a", "A", ONE, find)
        same = await standings.look("a", "A", ONE, find)
        later = await standings.look("a", "A", TWO, find)
        asked = await standings.look("a", "A", TWO, find, is_asked=True)
        assert [one.value for one in (first, same, later, asked)] == [1, 1, 2, 3]
        assert all(one.is_current for one in (first, same, later, asked))

    asyncio.run(check())


def test_a_slow_one_is_shown_as_it_was_while_it_is_found_anew() -> None:
    async def check() -> None:
        go_on, standings = threading.Event(), PageCache()
        await standings.look("a", "A", ONE, lambda _: "old")

        def slow(_: Any) -> str:
            go_on.wait(10)
            return "new"

        meanwhile = await standings.look("a", "A", TWO, slow)
        assert (meanwhile.value, meanwhile.is_current) == ("old", False)
        assert meanwhile.work is not None and meanwhile.work.is_running
        go_on.set()
        while (seen := await standings.look("a", "A", TWO, slow)).value == "old":
            await asyncio.sleep(0.01)
        assert (seen.value, seen.is_current) == ("new", True)

    asyncio.run(check())


def test_one_that_fails_says_why_and_is_not_tried_without_end() -> None:
    async def check() -> None:
        standings, tried = PageCache(), []

        def fail(_: Any) -> None:
            tried.append(1)
            raise CannotDo("the disk is full: make room.")

        for _ in range(3):
            seen = await standings.look("a", "A", ONE, fail)
        assert seen.value is None and seen.work is not None and "make room" in seen.work.failure
        assert len(tried) == 1
        assert (await standings.look("a", "A", TWO, lambda _: "well")).value == "well"

    asyncio.run(check())


def test_work_that_ends_while_the_page_is_drawn_still_looks_running_there() -> None:
    async def check() -> None:
        go_on, cache = threading.Event(), PageCache()

        def slow(_: Any) -> str:
            go_on.wait(10)
            return "found"

        seen = await cache.look("a", "A", ONE, slow)
        go_on.set()
        while any(thread.name == "seasoned-work" for thread in threading.enumerate()):
            await asyncio.sleep(0.01)
        # Without a value and without running work, the page would never look again.
        assert seen.value is None and seen.work is not None and seen.work.is_running
        assert (await cache.look("a", "A", ONE, slow)).value == "found"

    asyncio.run(check())
