"""Clients that wait for a decision: woken at once by this process, and by one poll for what other processes did.

Store work runs outside the event loop: several threads read, one writes, each with a separate connection.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from seasoned.confirm.people.credential import Credential
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.errors import CannotDo, Refused, SeasonedError, Unauthorised
from seasoned.store import Database

_T = TypeVar("_T")
_READERS = 3


class StoreThreads:
    """Calls functions with a `Book` in worker threads; the event loop never waits for a lock or the disk."""

    def __init__(self, open_database: Callable[[], Database], make_book: Callable[[Database], Book]) -> None:
        self._open_database = open_database
        self._make_book = make_book
        self._reading = ThreadPoolExecutor(_READERS, thread_name_prefix="seasoned-read")
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
        """Finish everything that was submitted, then close all connections."""
        self._is_open = False
        for executor in (self._writing, self._reading):
            await asyncio.to_thread(executor.shutdown)
        while self._databases:
            self._databases.pop().close()

    def renew(self) -> None:
        """Make every thread build a new book before its next piece of work, for a policy that has changed."""
        self._edition += 1

    async def read(self, work: Callable[[Book], _T]) -> _T:
        """Call a function that only reads."""
        return await self._run(self._reading, work)

    async def write(self, work: Callable[[Book], _T]) -> _T:
        """Call a function that changes the store; its changes are committed when this returns."""
        return await self._run(self._writing, work)

    async def _run(self, executor: ThreadPoolExecutor, work: Callable[[Book], _T]) -> _T:
        if not self._is_open:
            raise CannotDo("The service is stopping: try again when it runs.")
        return await asyncio.get_running_loop().run_in_executor(executor, lambda: work(self._book()))

    def _book(self) -> Book:
        local, edition = self._local, self._edition
        if not hasattr(local, "database"):
            local.database = self._open_database()
            self._databases.append(local.database)
        if getattr(local, "edition", None) != edition:
            local.book, local.edition = self._make_book(local.database), edition
        book: Book = local.book
        return book


# How soon a client notices what another process decided.
_POLL_SECONDS = 0.1
_PAGE = 1000
_log = logging.getLogger("seasoned.confirm")


class ChangeSignal:
    """Set when something changed; several changes count as one."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self._changed = asyncio.Event()
        self._stopping = stopping

    def set(self) -> None:
        self._changed.set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    async def wait(self, seconds: float) -> bool:
        """Whether something changes before time is up."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True


class Waiters:
    """All waiting clients, by request; those of None wait for any change. Used from the event loop only."""

    def __init__(self, store: StoreThreads, *, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._signals: defaultdict[str | None, set[ChangeSignal]] = defaultdict(set)
        self._stopping = asyncio.Event()
        self._seq = 0

    @contextmanager
    def listen(self, request_id: str | None = None) -> Iterator[ChangeSignal]:
        """A signal for one request, or for all; it says that something changed, not what."""
        signal = ChangeSignal(self._stopping)
        self._signals[request_id].add(signal)
        try:
            yield signal
        finally:
            self._signals[request_id].discard(signal)
            if not self._signals[request_id]:
                del self._signals[request_id]

    def tell(self, request_id: str) -> None:
        """Wake every client that waits for this request, or for any."""
        for waiting in (request_id, None):
            for signal in self._signals.get(waiting, ()):
                signal.set()

    async def until_resolved(
        self, who: Credential, request_id: str, seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> Request:
        """The request once it is resolved, time is up, the client is gone, or the service stops."""
        clock = asyncio.get_running_loop().time
        ends = clock() + seconds
        # Listening before looking, so that no change falls in between.
        with self.listen(request_id) as signal:
            leaving = asyncio.ensure_future(gone())
            leaving.add_done_callback(lambda _: signal.set())
            try:
                while True:
                    found = await self._store.read(lambda book: book.look(who, request_id))
                    is_over = clock() >= ends or leaving.done() or signal.is_stopping
                    if found.is_resolved or is_over:
                        return found
                    await signal.wait(ends - clock())
            except Refused as error:
                # Waiting can last an hour: a credential that was revoked meanwhile does not learn the decision.
                raise Unauthorised(str(error)) from error
            finally:
                leaving.cancel()

    async def start(self) -> None:
        """Start at the present end of the audit."""
        self._seq = await self._store.read(lambda book: book.last_seq())

    def stop(self) -> None:
        """Answer every waiting client with what is known now."""
        self._stopping.set()
        for signals in self._signals.values():
            for signal in signals:
                signal.set()

    async def run(self) -> None:
        """Look for changes by any process, with one query for all waiting clients, and let overdue requests expire."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                await self._catch_up()
                due = await self._store.read(lambda book: book.next_expiry())
                if due is not None and due <= self._clock():
                    # The next look at the changes tells who waits for them.
                    await self._store.write(lambda book: book.expire_due())
            except SeasonedError as error:
                _log.warning("cannot look for changes, trying again: %s", error)

    async def _catch_up(self) -> None:
        while True:
            page = await self._store.read(lambda book: book.changes_since(self._seq, limit=_PAGE))
            for seq, request_id in page:
                self._seq = max(self._seq, seq)
                self.tell(request_id)
            if len(page) < _PAGE:
                return
