"""Access to the history store for pages: threads with a connection each, so that a slow query blocks no other page."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request

from seasoned.errors import CannotDo, StoreError
from seasoned.gateway.history_usage import fill_prices
from seasoned.store import Store, open_store
from seasoned.store.search import fill

_T = TypeVar("_T")
_THREADS = 4
_DAY = 86_400.0
# How often to look for sessions to index, and how long to leave the processor to pages in between.
_INDEX_SECONDS = 2.0
_PAUSE_SECONDS = 0.01
_STOP_SECONDS = 2.0


class HistoryStore:
    """Runs queries on the history store in threads. Confirmations may be in another database."""

    def __init__(self, path: Path, *, is_sample: bool = False) -> None:
        self.path = path
        self.is_sample = is_sample
        self._threads: ThreadPoolExecutor | None = None
        # A connection of SQLite belongs to one thread.
        self._local = threading.local()
        self._stopping = threading.Event()
        self._indexing: threading.Thread | None = None

    def start(self) -> None:
        """Start the threads."""
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="seasoned-pages")
        self._stopping.clear()
        self._indexing = threading.Thread(target=self._index, name="seasoned-index", daemon=True)
        self._indexing.start()

    async def stop(self) -> None:
        """Finish the running queries; each connection ends with its thread."""
        # Without threads, requests that still arrive get an error instead of waiting forever.
        threads, self._threads = self._threads, None
        self._stopping.set()
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)
        if self._indexing is not None:
            # It ends between two short steps; loading prices may take a moment longer.
            await asyncio.to_thread(self._indexing.join, _STOP_SECONDS)

    def _index(self) -> None:
        """Price what scans have read, and index it for search."""
        if self._stopping.wait(_INDEX_SECONDS):
            return
        with suppress(StoreError, StopIteration), self.open() as store:
            known: int | None = None
            while True:
                # Changes with every write of another connection.
                now = store.connection.execute("PRAGMA data_version").fetchone()[0]
                if now != known:
                    try:
                        fill_prices(store)
                        fill(store, pause=self._pause)
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
