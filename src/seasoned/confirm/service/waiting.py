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

from seasoned.confirm.people.credential import Credential, current
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.errors import CannotDo, Denied, NotFound, Refused, SeasonedError, Unauthorised
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
# Requests live for at least 30 seconds, so a request of another process is noticed long before it expires.
_EXPIRE_SECONDS = 1.0
_PAGE = 1000
_log = logging.getLogger("seasoned.confirm")


class RequestWatcher:
    """One client that waits for changes of one request."""

    def __init__(self, who: Credential, stopping: asyncio.Event) -> None:
        self.who = who
        self._news: asyncio.Queue[Request | None] = asyncio.Queue()
        self._stopping = stopping

    def put(self, news: Request | None) -> None:
        self._news.put_nowait(news)

    async def next(self, seconds: float) -> Request | None:
        """The request after its next change; None when time is up or the service stops."""
        if self._stopping.is_set():
            return None
        try:
            async with asyncio.timeout(seconds):
                return await self._news.get()
        except TimeoutError:
            return None


class ChangeSignal:
    """Set when any request changed; several changes count as one."""

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
    """All waiting clients, by request. Used from the event loop only."""

    def __init__(self, store: StoreThreads, *, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._watches: defaultdict[str, set[RequestWatcher]] = defaultdict(set)
        self._signals: set[ChangeSignal] = set()
        self._stopping = asyncio.Event()
        self._seq = 0

    @property
    def count(self) -> int:
        """How many clients wait now."""
        return sum(map(len, self._watches.values())) + len(self._signals)

    @staticmethod
    def now() -> float:
        """The monotonic clock that waiting is measured by."""
        return asyncio.get_running_loop().time()

    @contextmanager
    def watch(self, who: Credential, request_id: str) -> Iterator[RequestWatcher]:
        """Register before looking at the request, so that no change falls in between."""
        watch = RequestWatcher(who, self._stopping)
        self._watches[request_id].add(watch)
        try:
            yield watch
        finally:
            self._watches[request_id].discard(watch)
            if not self._watches[request_id]:
                del self._watches[request_id]

    @contextmanager
    def listen(self) -> Iterator[ChangeSignal]:
        """A signal for pages that show all requests: it says that something changed, not what."""
        signal = ChangeSignal(self._stopping)
        self._signals.add(signal)
        try:
            yield signal
        finally:
            self._signals.discard(signal)

    def _signal_change(self) -> None:
        for signal in self._signals:
            signal.set()

    def tell(self, request: Request) -> None:
        """Give the changed request to every client that waits for it."""
        for watch in self._watches.get(request.id, ()):
            watch.put(request)
        self._signal_change()

    async def look(self, who: Credential, request_id: str) -> Request:
        """The request as it is now."""
        return await self._store.read(lambda book: book.look(who, request_id))

    async def is_current(self, who: Credential) -> bool:
        """Whether a credential is still valid."""
        return await self._store.read(lambda book: _is_current(book, who))

    async def until_resolved(
        self, who: Credential, request_id: str, seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> Request:
        """The request once it is resolved, time is up, the client is gone, or the service stops."""
        with self.watch(who, request_id) as watch:
            found = await self.look(who, request_id)
            if found.is_resolved or seconds <= 0:
                return found
            ends = self.now() + seconds
            leaving = asyncio.ensure_future(gone())
            leaving.add_done_callback(lambda _: watch.put(None))
            try:
                while not found.is_resolved:
                    news = await watch.next(ends - self.now())
                    if news is None:
                        break
                    found = news
            finally:
                leaving.cancel()
        if not await self.is_current(who):
            # Waiting can last an hour: a credential that was revoked meanwhile must not learn the decision.
            raise Unauthorised("The credential was revoked while it waited: ask an admin for another one.")
        return found

    async def start(self) -> None:
        """Start at the present end of the audit."""
        self._seq = await self._store.read(lambda book: book.last_seq())

    def stop(self) -> None:
        """Answer every waiting client with what is known now."""
        self._stopping.set()
        for watches in self._watches.values():
            for watch in watches:
                watch.put(None)
        self._signal_change()

    async def poll(self) -> None:
        """Look for changes by any process, with one query for all waiting clients."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                await self._catch_up()
            except SeasonedError as error:
                _log.warning("cannot look for changes, trying again: %s", error)

    async def _catch_up(self) -> None:
        changed: set[str] = set()
        while True:
            page = await self._store.read(lambda book: book.changes_since(self._seq, limit=_PAGE))
            changed |= {request_id for _, request_id in page}
            if page:
                self._seq = max(seq for seq, _ in page)
            if len(page) < _PAGE:
                break
        if changed:
            self._signal_change()
        for request_id in changed & self._watches.keys():
            # All of them may see this request, so one query serves them all.
            for watch in list(self._watches.get(request_id, ())):
                try:
                    self.tell(await self.look(watch.who, request_id))
                    break
                except (NotFound, Denied):
                    # Revoked while it waited; the others must still get the change.
                    continue

    async def expire(self) -> None:
        """Expire requests that were not decided in time."""
        while True:
            try:
                seconds = await self._expire_due()
            except SeasonedError as error:
                _log.warning("cannot expire requests, trying again: %s", error)
                seconds = _EXPIRE_SECONDS
            await asyncio.sleep(seconds)

    async def _expire_due(self) -> float:
        due = await self._store.read(lambda book: book.next_expiry())
        if due is not None and due <= self._clock():
            for request in await self._store.write(lambda book: book.expire_due()):
                self.tell(request)
            due = await self._store.read(lambda book: book.next_expiry())
        left = _EXPIRE_SECONDS if due is None else due - self._clock()
        # Never zero, so that a row that cannot expire yet makes no busy loop.
        return min(max(left, 0.02), _EXPIRE_SECONDS)


def _is_current(book: Book, who: Credential) -> bool:
    try:
        current(book.database, who)
    except Refused:
        return False
    return True
