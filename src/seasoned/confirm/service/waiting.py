"""Whoever waits for a decision: woken by this process at once, and by one look for all at what other processes did."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

from seasoned.confirm.people.credential import Credential, current
from seasoned.confirm.request.book import Book
from seasoned.confirm.request.request import Request
from seasoned.confirm.service.store_threads import StoreThreads
from seasoned.errors import Denied, NotFound, Refused, SeasonedError, Unauthorised

_POLL_SECONDS = 0.1
_EXPIRE_SECONDS = 1.0
"""Requests live for 30 seconds at least, so whatever another process took in is seen long before it expires."""
_PAGE = 1000
_log = logging.getLogger("seasoned.confirm")


class RequestWatcher:
    """One who waits for news of one request."""

    def __init__(self, who: Credential, stopping: asyncio.Event) -> None:
        self.who = who
        self._news: asyncio.Queue[Request | None] = asyncio.Queue()
        self._stopping = stopping

    def put(self, news: Request | None) -> None:
        self._news.put_nowait(news)

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    async def next(self, seconds: float) -> Request | None:
        """How the request stands after its next change; None when time is up or the service stops."""
        if self.is_stopping:
            return None
        try:
            async with asyncio.timeout(seconds):
                return await self._news.get()
        except TimeoutError:
            return None


class ChangeSignal:
    """Rings when any request changed; however often it rang meanwhile, it is heard once."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self._rung = asyncio.Event()
        self._stopping = stopping

    def ring(self) -> None:
        self._rung.set()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    async def heard(self, seconds: float) -> bool:
        """Whether it rings before time is up."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True


class Waiters:
    """All who wait, by the request that they wait for. Used from the event loop alone."""

    def __init__(self, store: StoreThreads, *, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._watches: defaultdict[str, set[RequestWatcher]] = defaultdict(set)
        self._bells: set[ChangeSignal] = set()
        self._stopping = asyncio.Event()
        self._checks: dict[str, asyncio.Future[bool]] = {}
        self._seq = 0

    @property
    def count(self) -> int:
        """How many wait now."""
        return sum(map(len, self._watches.values())) + len(self._bells)

    @staticmethod
    def now() -> float:
        """The clock by which waiting is measured, which nobody sets."""
        return asyncio.get_running_loop().time()

    @contextmanager
    def watch(self, who: Credential, request_id: str) -> Iterator[RequestWatcher]:
        """Begin to wait before looking, so that no change falls in between."""
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
        """A bell for whoever shows all requests; it says that something changed, and not what."""
        bell = ChangeSignal(self._stopping)
        self._bells.add(bell)
        try:
            yield bell
        finally:
            self._bells.discard(bell)

    def _ring(self) -> None:
        for bell in self._bells:
            bell.ring()

    def tell(self, request: Request) -> None:
        """Give news of a request to all who wait for it."""
        for watch in self._watches.get(request.id, ()):
            watch.put(request)
        self._ring()

    async def look(self, who: Credential, request_id: str) -> Request:
        """How a request stands now."""
        return await self._store.read(lambda book: book.look(who, request_id))

    async def is_current(self, who: Credential) -> bool:
        """Whether a credential still counts; all who wait with it and ask at once are answered by one look."""
        check = self._checks.get(who.id)
        if check is None:
            check = asyncio.ensure_future(self._store.read(lambda book: _is_current(book, who)))
            check.add_done_callback(lambda _: self._checks.pop(who.id, None))
            self._checks[who.id] = check
        return await asyncio.shield(check)

    async def until_resolved(
        self, who: Credential, request_id: str, seconds: float, gone: Callable[[], Awaitable[None]]
    ) -> Request:
        """How a request stands once it is resolved, time is up, the one who asks is gone, or the service stops."""
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
        """Begin at the present end of the audit: what is older has been seen by whoever looks."""
        self._seq = await self._store.read(lambda book: book.last_seq())

    def stop(self) -> None:
        """Let all go who wait, with what is known now."""
        self._stopping.set()
        for watches in self._watches.values():
            for watch in watches:
                watch.put(None)
        self._ring()

    async def poll(self) -> None:
        """Look for what any process changed, once for all who wait."""
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            try:
                await self._catch_up()
            except SeasonedError as error:
                _log.warning("cannot look for changes, trying again: %s", error)

    async def _catch_up(self) -> None:
        changed: set[str] = set()
        while True:
            page = await self._store.read(partial(_changes, since=self._seq))
            changed |= {request_id for _, request_id in page}
            if page:
                self._seq = max(seq for seq, _ in page)
            if len(page) < _PAGE:
                break
        if changed:
            self._ring()
        for request_id in changed & self._watches.keys():
            # Everyone here was shown this request before, so what one of them sees the others may see.
            for watch in list(self._watches.get(request_id, ())):
                try:
                    self.tell(await self.look(watch.who, request_id))
                    break
                except (NotFound, Denied):
                    # Revoked while it waited: the others must hear of it all the same.
                    continue

    async def expire(self) -> None:
        """End what nobody decided, at its time."""
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
        return min(max(left, 0.02), _EXPIRE_SECONDS)


def _is_current(book: Book, who: Credential) -> bool:
    try:
        current(book.database, who)
    except Refused:
        return False
    return True


def _changes(book: Book, since: int) -> list[tuple[int, str]]:
    return book.changes_since(since, limit=_PAGE)
