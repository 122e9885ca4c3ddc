"""Access to the history store for pages: threads with a connection each, so that a slow query blocks no other page."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request

from seasoned.errors import CannotDo, StoreError
from seasoned.gateway.history_usage import fill_prices
from seasoned.insight.report import Revision, revision
from seasoned.store import Store, open_store
from seasoned.store.full_text import fill

_T = TypeVar("_T")
_log = logging.getLogger("seasoned.web")
_THREADS = 4
_DAY = 86_400.0
# How often to look for sessions to index, and how long to leave the processor to pages in between.
_INDEX_SECONDS = 2.0
_PAUSE_SECONDS = 0.01
_STOP_SECONDS = 2.0
# Answers that took longer are shown while a new one is computed. Processor time, so that a busy machine does not count.
_SLOW_SECONDS = 0.15
_MOST_KEPT = 64


class StoreState(msgspec.Struct, frozen=True):
    """Changes with every write to the store, and says whether something was removed."""

    version: int
    revision: Revision

    def lost_anything_by(self, now: StoreState) -> bool:
        """Whether something was removed since that an earlier answer may show."""
        return now.revision.takes_back(self.revision)


class CachedAnswer(msgspec.Struct, frozen=True):
    """The answer to a query, the state of the store it was computed for, and how long that took."""

    value: Any
    state: StoreState
    seconds: float


class HistoryStore:
    """Runs queries on the history store in threads. Confirmations may be in another database."""

    def __init__(self, path: Path, *, is_sample: bool = False) -> None:
        self.path = path
        self.is_sample = is_sample
        self._threads: ThreadPoolExecutor | None = None
        # A connection of SQLite belongs to one thread.
        self._local = threading.local()
        # `data_version` differs between connections, so one connection watches the store for all pages.
        self._watch: ThreadPoolExecutor | None = None
        self._watched: StoreState | None = None
        self._cached: dict[str, CachedAnswer] = {}
        self._asked: dict[str, tuple[StoreState, asyncio.Task[Any]]] = {}
        self._stopping = threading.Event()
        self._indexing: threading.Thread | None = None

    def start(self) -> None:
        """Start the threads."""
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="seasoned-pages")
        self._watch = ThreadPoolExecutor(1, thread_name_prefix="seasoned-watch")
        self._cached.clear()
        self._watched = None
        self._stopping.clear()
        self._indexing = threading.Thread(target=self._index, name="seasoned-index", daemon=True)
        self._indexing.start()

    async def stop(self) -> None:
        """Finish the running queries; each connection ends with its thread."""
        # Without threads, requests that still arrive get an error instead of waiting forever.
        threads, self._threads = self._threads, None
        self._stopping.set()
        for each in (threads, self._watch):
            if each is not None:
                await asyncio.to_thread(each.shutdown)
        if self._indexing is not None:
            # It ends between two short steps; loading prices may take a moment longer.
            await asyncio.to_thread(self._indexing.join, _STOP_SECONDS)

    def _index(self) -> None:
        """Index what scans have read for search, and price it."""
        if self._stopping.wait(_INDEX_SECONDS):
            return
        with suppress(StoreError, StopIteration), self.open() as store:
            known: int | None = None
            while True:
                # Changes with every write of another connection.
                now = store.connection.execute("PRAGMA data_version").fetchone()[0]
                if now != known:
                    try:
                        fill(store, pause=self._pause)
                        fill_prices(store)
                        known = now
                    except StoreError:
                        # Another process holds the lock; the sessions still wait.
                        known = None
                if self._stopping.wait(_INDEX_SECONDS):
                    return

    def _pause(self) -> None:
        """Let the pages go first, and end soon when the server stops."""
        if self._stopping.wait(_PAUSE_SECONDS):
            raise StopIteration

    def open(self) -> Store:
        """A connection for work in the background; the caller closes it."""
        return open_store(self.path)

    def now(self, store: Store) -> float:
        """The current time; for samples the day after the last one, as by today's date all examples would be stale."""
        if not self.is_sample:
            return time.time()
        return max((row["last"] or 0.0 for row in store.rows("session.totals")), default=0.0) + _DAY

    async def read(self, ask: Callable[[Store], _T]) -> _T:
        """The answer to a query; it may also write, in a short transaction."""
        if self._threads is None:
            raise CannotDo("The server is stopping. Try again when it is running.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answer, ask)

    async def cached(self, name: str, ask: Callable[[Store], _T]) -> _T:
        """Like `read` for a repeated query: the answer is cached until the store changes.

        A slow answer is then computed again in the background, and the old one is shown until that is done.
        """
        now = await self._state()
        kept = self._cached.get(name)
        if kept is not None and kept.state == now:
            found: _T = kept.value
            return found
        # An answer that may quote something removed must not be shown.
        is_shown = kept is not None and kept.seconds > _SLOW_SECONDS and not kept.state.lost_anything_by(now)
        asked = self._asked.get(name)
        if asked is None or (asked[0] != now and not is_shown):
            asked = self._asked[name] = (now, asyncio.create_task(self._ask(name, ask, now)))
            asked[1].add_done_callback(lambda task: self._done(name, task))
        if kept is not None and is_shown:
            found = kept.value
        else:
            # Shielded: a visitor who leaves must not cancel what others are waiting for.
            found = await asyncio.shield(asked[1])
        return found

    def _done(self, name: str, task: asyncio.Task[Any]) -> None:
        if name in self._asked and self._asked[name][1] is task:
            del self._asked[name]
        # No page may be waiting for it; the next one asks again.
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.debug("%s could not be computed: %s", name, error)

    async def _ask(self, name: str, ask: Callable[[Store], _T], now: StoreState) -> _T:
        def timed(store: Store) -> tuple[_T, float]:
            began = time.thread_time()
            return ask(store), time.thread_time() - began

        value, seconds = await self.read(timed)
        self._cached.pop(name, None)
        self._cached[name] = CachedAnswer(value, now, seconds)
        for oldest in list(self._cached)[:-_MOST_KEPT]:
            self._cached.pop(oldest, None)
        return value

    async def _state(self) -> StoreState:
        if self._threads is None or self._watch is None:
            raise CannotDo("The server is stopping. Try again when it is running.")
        return await asyncio.get_running_loop().run_in_executor(self._watch, self._answer, self._look)

    def _look(self, store: Store) -> StoreState:
        version = store.connection.execute("PRAGMA data_version").fetchone()[0]
        if self._watched is None or self._watched.version != version:
            self._watched = StoreState(version, revision(store))
        return self._watched

    def _answer(self, ask: Callable[[Store], _T]) -> _T:
        store: Store | None = getattr(self._local, "store", None)
        if store is None:
            # Before the first scan the pages are empty; that is not an error.
            store = self._local.store = self.open()
        return ask(store)


def histories_of(request: Request) -> HistoryStore:
    """The history store of the server that handles a request."""
    found: HistoryStore = request.app.state.histories
    return found
