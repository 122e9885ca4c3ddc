"""Runs store work outside the event loop: several threads read, one writes, each with a separate connection."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from seasoned.confirm.request.book import Book
from seasoned.errors import CannotDo
from seasoned.store import Database

_T = TypeVar("_T")


class StoreThreads:
    """Calls functions with a `Book` in worker threads; the event loop never waits for a lock or the disk."""

    def __init__(
        self, open_database: Callable[[], Database], make_book: Callable[[Database], Book], *, readers: int = 3
    ) -> None:
        self._open_database = open_database
        self._make_book = make_book
        self._reading = ThreadPoolExecutor(readers, thread_name_prefix="seasoned-read")
        # One writer: SQLite has one write lock, and threads that wait for it would only take turns in random order.
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="seasoned-write")
        self._local = threading.local()
        self._databases: list[Database] = []
        self._edition = 0
        self._is_open = False

    async def start(self) -> None:
        """Open the first connections, so that a store that cannot be used is reported here."""
        self._is_open = True
        try:
            await self.write(lambda book: None)
            await self.read(lambda book: None)
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Finish everything that was handed over, then close all connections."""
        self._is_open = False
        for executor in (self._writing, self._reading):
            await asyncio.to_thread(executor.shutdown)
        while self._databases:
            self._databases.pop().close()

    def renew(self) -> None:
        """Make every thread build a new book before its next piece of work, for a policy that has changed."""
        self._edition += 1

    async def read(self, work: Callable[[Book], _T]) -> _T:
        """What a function returns that only reads."""
        return await self._run(self._reading, work)

    async def write(self, work: Callable[[Book], _T]) -> _T:
        """What a function returns that changes the store; it is committed when this returns."""
        return await self._run(self._writing, work)

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[Book], _T]) -> _T:
        if not self._is_open:
            raise CannotDo("The service is stopping: try again when it runs.")
        return await asyncio.get_running_loop().run_in_executor(executor, self._call, work)

    def _call(self, work: Callable[[Book], _T]) -> _T:
        return work(self._book())

    def _book(self) -> Book:
        local, edition = self._local, self._edition
        if not hasattr(local, "database"):
            local.database = self._open_database()
            self._databases.append(local.database)
        if getattr(local, "edition", None) != edition:
            local.book, local.edition = self._make_book(local.database), edition
        book: Book = local.book
        return book
