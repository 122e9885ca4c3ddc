"""Access to the history store for pages, and what takes longer than a page may.

Queries run in threads with a connection each, so that a slow one blocks no other page. Long work is done once in the
background, and kept until the sessions change.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from starlette.requests import Request

from seasoned.errors import CannotDo, SeasonedError, StoreError
from seasoned.gateway.history_usage import fill_prices
from seasoned.lesson.storage import refresh
from seasoned.report.report import Revision, Tell
from seasoned.stats.interval import two_sided_t
from seasoned.store import Store, open_store
from seasoned.store.search import fill

_T = TypeVar("_T")
_THREADS = 4
_DAY = 86_400.0
# How often to look for sessions to index, and how long to leave the processor to pages in between.
_INDEX_SECONDS = 2.0
_PAUSE_SECONDS = 0.01
_STEP_SECONDS = 0.1
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
        """Price what scans have read, index it for search, and learn from what no scan has learned from."""
        # What intervals need takes a fifth of a second to import, for which the first page would wait.
        two_sided_t(0.95, 2.0)
        with suppress(StoreError, StopIteration), self.open() as store:
            known: int | None = None
            while not self._stopping.wait(_INDEX_SECONDS):
                # Changes with every write of another connection.
                now = store.connection.execute("PRAGMA data_version").fetchone()[0]
                if now != known:
                    try:
                        fill_prices(store)
                        fill(store, pause=self._pause)
                        # After an update these may be all sessions.
                        while not refresh(store, within_seconds=_STEP_SECONDS):
                            self._pause()
                        known = now
                    except StoreError:
                        # Another process holds the lock; the sessions still wait.
                        known = None

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


# Results that pages may still show.
_KEPT = 100
# The server and the agents come first.
_NICENESS = 5
_log = logging.getLogger("seasoned.web")


class BackgroundWork(msgspec.Struct, kw_only=True):
    """One piece of work, changed by the thread that does it."""

    title: str
    # Of the data that it is computed from.
    revision: Revision
    # Sessions read, of how many; 0 while that is unknown.
    done: int = 0
    total: int = 0
    is_running: bool = True
    failure: str = ""

    def tell(self, done: int, total: int) -> None:
        self.done, self.total = done, total


class CacheLookup(msgspec.Struct, Generic[_T], frozen=True):
    """What a page can show now."""

    # None if there is no value yet.
    value: _T | None
    is_current: bool = False
    # The work that computes it, or the last one if it failed.
    work: BackgroundWork | None = None


class PageCache:
    """The long work of a running server, one at a time for each name, and what it found. No page waits for it."""

    def __init__(self) -> None:
        self._works: dict[str, BackgroundWork] = {}
        # The value of each name, and the revision it was computed for.
        self._kept: dict[str, tuple[Revision, Any]] = {}

    def look(self, name: str, title: str, now: Revision, find: Callable[[Tell], _T]) -> CacheLookup[_T]:
        """The kept value; if the revision has changed, a new one is computed meanwhile."""
        kept, work = self._kept.get(name), self._works.get(name)
        if kept is not None and now.takes_back(kept[0]):
            # It may quote something that was forgotten since.
            del self._kept[name]
            kept = None
        # The same data would fail again, and a page that reloads must not repeat that.
        is_tried = work is not None and work.failure and work.revision == now
        is_due = not is_tried and (kept is None or kept[0] != now)
        if is_due and (work is None or not work.is_running):
            work = self._begin(name, BackgroundWork(title=title, revision=now), find)
        # As it is now, before the value is read: work that ends while the page is drawn must not look finished there.
        as_now = None if work is None else msgspec.structs.replace(work)
        shown = as_now if as_now is not None and (as_now.is_running or as_now.failure) else None
        at, value = self._kept.get(name, (None, None))
        return CacheLookup(value, at == now, shown)

    def _begin(self, name: str, work: BackgroundWork, find: Callable[[Tell], Any]) -> BackgroundWork:
        self._works[name] = work
        for oldest in list(self._kept)[:-_KEPT]:
            del self._kept[oldest]
        # A daemon: long work must not keep the server from stopping.
        threading.Thread(target=self._carry_out, args=(name, work, find), name="seasoned-work", daemon=True).start()
        return work

    def _carry_out(self, name: str, work: BackgroundWork, find: Callable[[Tell], Any]) -> None:
        try:
            self._kept[name] = (work.revision, find(work.tell))
        except SeasonedError as error:
            work.failure = str(error)
        except BaseException:
            work.failure = "it failed with an error. See the server's log."
            _log.exception("%s failed with an error", name)
            raise
        finally:
            work.is_running = False


def look_up(
    request: Request, module: str, kind: type[_T], title: str, now: Revision, project: str | None
) -> CacheLookup[_T]:
    """What a module's `main` answers about a project or all, from another process, kept until the sessions change."""
    cache: PageCache = request.app.state.page_cache
    path = histories_of(request).path

    def find(tell: Tell) -> _T:
        return msgspec.msgpack.decode(_run(module, path, project, tell), type=kind)

    return cache.look(f"{module} of {project}", title, now, find)


def _run(module: str, path: Path, project: str | None, tell: Tell) -> bytes:
    code = f"import os; os.nice({_NICENESS}); from {module} import main; main({str(path)!r}, {project!r})"
    answer = None
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            first, _, second = line.decode("ascii", "replace").strip().partition(" ")
            # Progress comes in lines of two numbers; then `answer` and the length of what follows.
            if first == "answer":
                answer = process.stdout.read(int(second))
                break
            tell(int(first), int(second))
    if process.returncode != 0 or answer is None:
        raise CannotDo("it could not be computed. The server printed why.")
    return answer
