"""One running service: store threads, waiting clients, notifications and the policy in force."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request as HTTPRequest

from seasoned.config import Config
from seasoned.confirm.notify.message import load_channels
from seasoned.confirm.notify.notifier import Notifier
from seasoned.confirm.people.credential import DEFAULT_SECONDS, UnlockedCredential, UnlockedPhones
from seasoned.confirm.policy import FILE, Policy, check_agreed, load_with_digest
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import SERVICE_LOCK, Request
from seasoned.confirm.request.row import load_seal
from seasoned.confirm.service.waiting import StoreThreads, Waiters
from seasoned.errors import SeasonedError
from seasoned.file_lock import locked
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Database, open_database

# How soon a changed policy file is noticed.
_POLICY_SECONDS = 1.0
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
        work = (self.waiting.run, self._watch_policy)
        tasks = [asyncio.ensure_future(start()) for start in work]
        for task in tasks:
            task.add_done_callback(self._ended)
        try:
            yield
        finally:
            # Clients are answered while the store can still be read; its threads stop last.
            self.waiting.stop()
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError, SeasonedError):
                    await task
            await asyncio.to_thread(self.notifier.stop)
            await self.store.stop()

    def _ended(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken = f"a part of the service ended: {error!r}"
            _log.error("%s; restart the service", self.broken, exc_info=error)

    async def _watch_policy(self) -> None:
        """Load a changed policy file that was approved; with any other, the last good policy stays in force."""
        seen = self._stamp()
        while self._policy_file is not None:
            await asyncio.sleep(_POLICY_SECONDS)
            if (stamp := self._stamp()) == seen:
                continue
            # Before it is read: a wrong file is reported once, not every second.
            seen = stamp
            try:
                policy, digest = load_with_digest(self._policy_file)
                await self._check_policy(digest)
            except SeasonedError as error:
                _log.error("the policy was not changed: %s", error)
                continue
            self.policy = policy
            self.store.renew()
            try:
                await asyncio.to_thread(self.notifier.use, load_channels(policy, self.config))
            except SeasonedError as error:
                _log.error("the channels were not changed: %s", error)
            _log.info("the policy was reloaded")

    async def _check_policy(self, digest: str) -> None:
        """Refuse a policy file that no person approved, once there is an approved one."""
        if (file := self._policy_file) is not None:
            await self.store.read(lambda book: check_agreed(book.database, file, digest))

    def _stamp(self) -> tuple[int, int, int] | None:
        if self._policy_file is None:
            return None
        try:
            found = self._policy_file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def service_of(request: HTTPRequest) -> ConfirmService:
    """The service that a request came to."""
    found: ConfirmService = request.app.state.confirm
    return found
