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
from typing import IO, Any, Generic, Protocol, TypeVar

import msgspec
from starlette.requests import Request

from seasoned.errors import CannotDo, SeasonedError, StoreError
from seasoned.gateway.history_usage import fill_prices
from seasoned.report.report import Revision
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


# Results that pages may still show.
_KEPT = 100
# How long a page waits for a quick result; a slower one appears later by itself.
_WAIT_SECONDS = 0.25
_LOOK_SECONDS = 0.01
# The server and the agents come first.
_NICENESS = 5
_log = logging.getLogger("seasoned.web")


class TellProgress(Protocol):
    """Reports the progress of work."""

    def __call__(self, said: str, *, done: int = 0, total: int = 0) -> None: ...


class BackgroundWork(msgspec.Struct, kw_only=True):
    """One piece of work, changed by the thread that does it."""

    title: str
    # Of the data that it is computed from.
    revision: Revision
    said: str = ""
    done: int = 0
    # 0 if the total is unknown.
    total: int = 0
    is_running: bool = True
    failure: str = ""

    def tell(self, said: str, *, done: int = 0, total: int = 0) -> None:
        self.said, self.done, self.total = said, done, total


class CacheLookup(msgspec.Struct, Generic[_T], frozen=True):
    """What a page can show now."""

    # None if there is no value yet.
    value: _T | None
    is_current: bool = False
    # The work that computes it, or the last one if it failed.
    work: BackgroundWork | None = None


class PageCache:
    """The long work of a running server, one at a time for each name, and what it found."""

    def __init__(self) -> None:
        self._works: dict[str, BackgroundWork] = {}
        # The value of each name, and the revision it was computed for.
        self._kept: dict[str, tuple[Revision, Any]] = {}

    async def look(
        self,
        name: str,
        title: str,
        now: Revision,
        find: Callable[[TellProgress], _T],
        *,
        is_asked: bool = False,
    ) -> CacheLookup[_T]:
        """The kept value; if the revision has changed, compute a new one meanwhile. `is_asked`: compute it now."""
        kept, work = self._kept.get(name), self._works.get(name)
        if kept is not None and now.takes_back(kept[0]):
            # It may quote something that was forgotten since.
            del self._kept[name]
            kept = None
        # The same data would fail again, and a page that reloads must not repeat that.
        is_tried = work is not None and work.failure and work.revision == now
        # Only the page that starts it waits.
        waits = False
        is_due = is_asked or (not is_tried and (kept is None or kept[0] != now))
        if is_due and (work is None or not work.is_running):
            waits = True
            work = self._begin(name, BackgroundWork(title=title, revision=now), find)
        end = time.monotonic() + _WAIT_SECONDS
        while waits and work is not None and work.is_running and time.monotonic() < end:
            await asyncio.sleep(_LOOK_SECONDS)
        # As it is now, before the value is read: work that ends while the page is drawn must not look finished there.
        as_now = None if work is None else msgspec.structs.replace(work)
        shown = as_now if as_now is not None and (as_now.is_running or as_now.failure) else None
        at, value = self._kept.get(name, (None, None))
        return CacheLookup(value, at == now, shown)

    def _begin(self, name: str, work: BackgroundWork, find: Callable[[TellProgress], Any]) -> BackgroundWork:
        self._works[name] = work
        for oldest in list(self._kept)[:-_KEPT]:
            del self._kept[oldest]
        # A daemon: long work must not keep the server from stopping.
        threading.Thread(target=self._carry_out, args=(name, work, find), name="seasoned-work", daemon=True).start()
        return work

    def _carry_out(self, name: str, work: BackgroundWork, find: Callable[[TellProgress], Any]) -> None:
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


async def look_up_project(
    request: Request,
    name: str,
    title: str,
    now: Revision,
    project: str | None,
    make: Callable[[HistoryStore, TellProgress, str | None], _T],
    *,
    is_asked: bool = False,
) -> CacheLookup[_T]:
    """The kept value for one project or for all."""
    cache: PageCache = request.app.state.page_cache
    histories = histories_of(request)
    return await cache.look(
        name if project is None else f"{name} of {project}",
        title,
        now,
        lambda tell: make(histories, tell, project),
        is_asked=is_asked,
    )


def run_in_process(
    module: str, histories: HistoryStore, tell: TellProgress, project: str | None, *, what: str
) -> bytes:
    """What a module's `main` answers about the history store, in another process with a low priority."""
    given = f"{str(histories.path)!r}, {project!r}"
    code = f"import os; os.nice({_NICENESS}); from {module} import main; main({given})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        data = _answer_bytes(process.stdout, tell)
    if process.returncode != 0 or data is None:
        raise CannotDo(f"{what} could not be computed. The server printed why.")
    return data


def _answer_bytes(lines: IO[bytes], tell: TellProgress) -> bytes | None:
    for line in lines:
        first, _, second = line.decode("ascii", "replace").strip().partition(" ")
        # Progress comes in lines of two numbers; then `answer` and the length of what follows.
        if first == "answer":
            return lines.read(int(second))
        done, every = int(first), int(second)
        said = f"{done:,} of {every:,} sessions read" if done < every else "all sessions read; computing the figures"
        tell(said, done=done, total=every)
    return None
