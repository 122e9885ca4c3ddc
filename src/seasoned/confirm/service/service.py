"""One running service: store threads, waiting clients, notifications and the policy in force."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request as HTTPRequest

from seasoned.config import Config
from seasoned.confirm.notify.message import load_channels
from seasoned.confirm.notify.notifier import Notifier
from seasoned.confirm.people.credential import DEFAULT_SECONDS, Credential, UnlockedCredential, UnlockedPhones
from seasoned.confirm.policy import FILE, Policy, check_agreed, load_with_digest
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import SERVICE_LOCK, Request
from seasoned.confirm.request.row import load_seal
from seasoned.errors import CannotDo, Refused, SeasonedError, Unauthorised
from seasoned.file_lock import locked
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Database, open_database

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
        local = self._local
        if not hasattr(local, "book"):
            database = self._open_database()
            self._databases.append(database)
            local.book = self._make_book(database)
        book: Book = local.book
        return book


# How soon a client notices what another process decided.
_POLL_SECONDS = 0.1
_PAGE = 1000


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


_T = TypeVar("_T")
_log = logging.getLogger("seasoned.confirm")


class ConfirmService:
    """The parts of one service. `running` starts and stops them."""

    def __init__(
        self,
        config: Config,
        *,
        policy: Policy | None = None,
        policy_file: Path | None = None,
        base_url: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.clock = clock
        self.phones = UnlockedPhones()
        self.secrecy = Secrecy(load_key(config.home), config.redact)
        self.seal = load_seal(config.home)
        self._policy_file = None if policy is not None else policy_file or config.home / FILE
        # SHA-256 of the bytes that the policy was read from.
        self._digest = ""
        if policy is None:
            assert self._policy_file is not None
            policy, self._digest = load_with_digest(self._policy_file)
        self.policy = policy
        self.base_url = (base_url or self.policy.listen.public_url or "").rstrip("/")
        self.store = StoreThreads(lambda: open_database(config, durable=True, by_turns=True), self.make_book)
        self.waiting = Waiters(self.store, clock=clock)
        self.notifier = Notifier(self.open_book, load_channels(self.policy, config))
        # Called with each new request where the policy has no channel that tells people.
        self.announce: Callable[[Request], None] = lambda request: None
        # Which background task has ended with an error, for /health.
        self.broken: str | None = None

    def make_book(self, database: Database) -> Book:
        """A book on this connection, under the policy in force now."""
        return Book(
            database,
            policy=self.policy,
            seal=self.seal,
            secrecy=self.secrecy,
            clock=self.clock,
            phones=self.phones,
        )

    def open_book(self) -> Book:
        """A book on a new connection, for a thread that is not one of the store threads."""
        return self.make_book(open_database(self.config, durable=True))

    async def unlock_phone(self, who: UnlockedCredential, seconds: float = DEFAULT_SECONDS) -> float:
        """Let the phone of a person decide for a time; returns until when."""
        return await self.store.write(
            lambda book: self.phones.add(book.database, who, now=self.clock(), seconds=seconds)
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run everything that the service needs while it answers requests."""
        # A shared lock: several services may use one store, and no backup is restored while one of them runs.
        lock = locked(self.config.home / SERVICE_LOCK, shared=True, wait_seconds=0.0)
        with lock:
            async with self._running():
                yield

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        await self.store.start()
        try:
            await self._check_policy(self._digest)
        except BaseException:
            await self.store.stop()
            raise
        await self.waiting.start()
        self.notifier.start()
        task = asyncio.ensure_future(self.waiting.run())
        task.add_done_callback(self._ended)
        try:
            yield
        finally:
            # Clients are answered while the store can still be read; its threads stop last.
            self.waiting.stop()
            task.cancel()
            with suppress(asyncio.CancelledError, SeasonedError):
                await task
            await asyncio.to_thread(self.notifier.stop)
            await self.store.stop()

    def _ended(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken = f"a part of the service ended: {error!r}"
            _log.error("%s; restart the service", self.broken, exc_info=error)

    async def _check_policy(self, digest: str) -> None:
        """Refuse a policy file that no person approved, once there is an approved one."""
        if (file := self._policy_file) is not None:
            await self.store.read(lambda book: check_agreed(book.database, file, digest))


def service_of(request: HTTPRequest) -> ConfirmService:
    """The service that a request came to."""
    found: ConfirmService = request.app.state.confirm
    return found
