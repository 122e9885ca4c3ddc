"""What one running service holds: its desk, its waiters, its counters and the policy in force."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from fastapi import APIRouter
from starlette.requests import Request

from seasoned.config import Config
from seasoned.confirm.notify import incoming, link
from seasoned.confirm.notify.channel import ConfiguredChannel, load_channels
from seasoned.confirm.notify.notifier import Notifier
from seasoned.confirm.policy import FILE, Policy, check_agreed, load_with_digest
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.seal import load_seal
from seasoned.confirm.service.audit_exporter import AuditExporter
from seasoned.confirm.service.metrics import ConfirmMetrics
from seasoned.confirm.service.store_threads import StoreThreads
from seasoned.confirm.service.waiting import Waiters
from seasoned.errors import SeasonedError
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import Database, open_database

LINK_PURPOSE = "links"
"""What the key of links is derived for."""
_T = TypeVar("_T")
_log = logging.getLogger("seasoned.confirm")


class Notifications:
    """The channels of the policy in force, and the courier that serves them."""

    def __init__(
        self,
        config: Config,
        policy: Policy,
        open_book: Callable[[], Book],
        *,
        link_key: bytes,
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._open_book = open_book
        self._link_key = link_key
        self._clock = clock
        self.channels: dict[str, ConfiguredChannel] = load_channels(policy, config)
        self._notifier: Notifier | None = None

    def start(self) -> None:
        """Begin to send, where there is anybody to tell."""
        if self.channels:
            self._notifier = Notifier(self._open_book, self.channels, link_key=self._link_key, clock=self._clock)
            self._notifier.start()

    def wake(self) -> None:
        """Something was written: look at once."""
        if self._notifier is not None:
            self._notifier.wake()

    async def stop(self) -> None:
        """End after what is under way; the rest is sent at the next start."""
        if self._notifier is not None:
            await asyncio.to_thread(self._notifier.stop)
            self._notifier = None

    async def renew(self, policy: Policy) -> None:
        """Take up the channels of a changed policy; those that cannot be used leave the old ones in place."""
        try:
            channels = load_channels(policy, self._config)
        except SeasonedError as error:
            _log.error("the channels stay as they were: %s", error)
            return
        if channels != self.channels:
            await self.stop()
            self.channels = channels
            self.start()

    def routers(self, store: StoreThreads) -> tuple[APIRouter, APIRouter]:
        """The pages of links, and the addresses that Telegram, Discord and webhooks call."""

        def ask(do: Callable[[Book], _T], /) -> Awaitable[_T]:
            return store.write(lambda book: do(book))

        pages = link.router(ask, self._link_key, self._clock)
        return pages, incoming.router(ask, lambda: self.channels, self._clock)


_POLICY_SECONDS = 1.0
_log = logging.getLogger("seasoned.confirm")


class ConfirmService:
    """The parts of one service. `running` brings them to life and ends them."""

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
        self.secrecy = Secrecy(load_key(config.home), config.redact)
        self.redactor = self.secrecy.redactor()
        """For what is made ready in the event loop; each book has its own."""
        self.seal = load_seal(config.home)
        self._policy_file = None if policy is not None else policy_file or config.home / FILE
        self._digest = ""
        """Of the bytes that the policy was read from."""
        if policy is None:
            assert self._policy_file is not None
            policy, self._digest = load_with_digest(self._policy_file)
        self.policy = policy
        self.base_url = (base_url or self.policy.listen.public_url or "").rstrip("/")
        self.store = StoreThreads(lambda: open_database(config, durable=True, by_turns=True), self.make_book)
        self.waiting = Waiters(self.store, clock=clock)
        self.heads = AuditExporter(config, self.store, lambda: self.policy.audit, clock=clock)
        self.metrics = ConfirmMetrics(self.waiting, self.heads)
        link_key = self.seal.derive(LINK_PURPOSE)
        self.notices = Notifications(config, self.policy, self.open_book, link_key=link_key, clock=clock)
        self.broken: str | None = None
        """What ended that should run as long as the service; health says it."""
        self._pending = (-1, 0.0, 0)

    async def pending_count(self) -> int:
        """Requests that wait for a person; counted anew only after a change, or when one of them expires."""
        seq, until, count = self._pending
        if seq != await self.store.read(lambda book: book.last_seq()) or self.clock() >= until:
            seq, until, count = self._pending = await self.store.read(_count_pending)
        return count

    def make_book(self, database: Database) -> Book:
        """A book on a connection, under the policy that is in force now."""
        return Book(database, policy=self.policy, seal=self.seal, secrecy=self.secrecy, clock=self.clock)

    def open_book(self) -> Book:
        """A book on a connection of its own, for a thread that is not the desk's."""
        return self.make_book(open_database(self.config, durable=True))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everything that must run while requests are answered."""
        await self.store.start()
        try:
            await self._check_policy(self._digest)
        except BaseException:
            await self.store.stop()
            raise
        await self.waiting.start()
        self.notices.start()
        work = (self.waiting.poll, self.waiting.expire, self._watch_policy, self.heads.run)
        tasks = [asyncio.ensure_future(start()) for start in work]
        for task in tasks:
            task.add_done_callback(self._ended)
        try:
            yield
        finally:
            self.waiting.stop()
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError, SeasonedError):
                    await task
            await self.notices.stop()
            await self.store.stop()

    def _ended(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken = f"a part of the service ended: {error!r}"
            _log.error("%s; restart the service", self.broken, exc_info=error)

    async def _watch_policy(self) -> None:
        """Take up a changed policy file that was agreed to; any other leaves the last good one in force."""
        seen = self._stamp()
        while self._policy_file is not None:
            await asyncio.sleep(_POLICY_SECONDS)
            if (stamp := self._stamp()) == seen:
                continue
            seen = stamp
            try:
                policy, digest = load_with_digest(self._policy_file)
                await self._check_policy(digest)
            except SeasonedError as error:
                _log.error("the policy stays as it was: %s", error)
                continue
            self.policy = policy
            self.store.renew()
            await self.notices.renew(self.policy)
            _log.info("the policy was read anew")

    async def _check_policy(self, digest: str) -> None:
        """Changing the policy needs a person: after the first agreed one, a file that nobody agreed to is refused."""
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


def _count_pending(book: Book) -> tuple[int, float, int]:
    # The number first: what changes after it is seen at the next question.
    seq, due = book.last_seq(), book.next_expiry()
    return seq, math.inf if due is None else due, book.pending_count()


def service_of(request: Request) -> ConfirmService:
    """The service that a request came to."""
    found: ConfirmService = request.app.state.confirm
    return found
