"""Background work and a cache for its results: pages show the last value while a newer one is computed."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Hashable
from typing import IO, Any, Generic, Protocol, TypeVar

import msgspec
from starlette.requests import Request

from seasoned.errors import CannotDo, SeasonedError
from seasoned.insight.report import Revision
from seasoned.web.history_store import HistoryStore, histories_of

# Finished work whose result a page may still show.
_KEPT = 100
_log = logging.getLogger("seasoned.web")


class TellProgress(Protocol):
    """Reports the progress of work."""

    def __call__(self, said: str, *, done: int = 0, total: int = 0) -> None: ...


class BackgroundWork(msgspec.Struct, frozen=True, kw_only=True):
    """The current state of one piece of work."""

    name: str
    title: str
    began_at: float
    said: str = ""
    done: int = 0
    # 0 if the total is unknown.
    total: int = 0
    ended_at: float | None = None
    failure: str = ""
    # The page of its result, relative to the address of the browser session.
    href: str = ""

    @property
    def is_running(self) -> bool:
        return self.ended_at is None


class WorkResult(msgspec.Struct, frozen=True):
    """The result of work: one sentence, and the page that shows it."""

    said: str
    href: str = ""


class WorkRegistry:
    """All long work of a running server, one at a time for each name."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._works: dict[str, BackgroundWork] = {}

    def find(self, name: str) -> BackgroundWork | None:
        """The work with this name, running or finished."""
        with self._lock:
            return self._works.get(name)

    def running(self) -> list[BackgroundWork]:
        """The work that is running."""
        with self._lock:
            return [work for work in self._works.values() if work.is_running]

    def begin(self, name: str, title: str, do: Callable[[TellProgress], WorkResult]) -> BackgroundWork:
        """Start it in a thread; if it runs already, return that one."""
        with self._lock:
            # Removed and added again, so that the newest work is last and the oldest is dropped first.
            known = self._works.pop(name, None)
            if known is not None and known.is_running:
                self._works[name] = known
                return known
            work = self._works[name] = BackgroundWork(name=name, title=title, began_at=self._clock())
            ended = [key for key, one in self._works.items() if not one.is_running]
            for key in ended[: max(0, len(self._works) - _KEPT)]:
                del self._works[key]
        # A daemon: long work must not keep the server from stopping.
        threading.Thread(target=self._carry_out, args=(name, do), name="seasoned-work", daemon=True).start()
        return work

    def _carry_out(self, name: str, do: Callable[[TellProgress], WorkResult]) -> None:
        def tell(said: str, *, done: int = 0, total: int = 0) -> None:
            self._change(name, said=said, done=done, total=total)

        try:
            done = do(tell)
        except SeasonedError as error:
            self._change(name, ended_at=self._clock(), failure=str(error))
        except BaseException:
            # Otherwise pages would show the work as running forever.
            self._change(name, ended_at=self._clock(), failure="it failed with an error. See the server's log.")
            _log.exception("%s failed with an error", name)
            raise
        else:
            self._change(name, ended_at=self._clock(), said=done.said, href=done.href)

    def _change(self, name: str, **changes: object) -> None:
        with self._lock:
            self._works[name] = msgspec.structs.replace(self._works[name], **changes)


def works_of(request: Request) -> WorkRegistry:
    """The work of the server that handles a request."""
    found: WorkRegistry = request.app.state.works
    return found


_T = TypeVar("_T")
_MOST_KEPT = 64
# How long a page waits for a quick result; a slower one appears later by itself.
_WAIT_SECONDS = 0.25
# How long a request for a file waits.
_FILE_SECONDS = 60.0
_LOOK_SECONDS = 0.01
# A result that took a minute is computed again after five at the earliest, so that other work gets its turn.
_PATIENCE = 5.0


class CachedValue(msgspec.Struct, frozen=True):
    """A value, the revision it was computed for, when, and how long it took."""

    value: Any
    revision: Hashable
    made_at: float
    seconds: float


class CacheLookup(msgspec.Struct, Generic[_T], frozen=True):
    """What a page can show now."""

    # None if there is no value yet.
    value: _T | None
    made_at: float | None = None
    is_current: bool = False
    # The work that computes it, or the last one if it failed.
    work: BackgroundWork | None = None


class PageCache:
    """The cached values of a running server."""

    def __init__(self, works: WorkRegistry, clock: Callable[[], float] = time.time) -> None:
        self._works = works
        self._clock = clock
        self._kept: dict[str, CachedValue] = {}
        self._failed: dict[str, Hashable] = {}

    async def look(
        self,
        name: str,
        title: str,
        revision: Hashable,
        find: Callable[[TellProgress], _T],
        *,
        is_asked: bool = False,
        first_seconds: float = _WAIT_SECONDS,
    ) -> CacheLookup[_T]:
        """The cached value; if the revision has changed, compute a new one meanwhile. `is_asked`: compute it now.

        Without a cached value, wait this long for the first one.
        """
        kept = self._kept.get(name)
        if kept is not None and kept.revision == revision and not is_asked:
            return CacheLookup(kept.value, kept.made_at, is_current=True)
        work = self._works.find(name)
        is_running = work is not None and work.is_running
        is_due = not is_running and (is_asked or self._is_due(name, kept, revision))
        if is_due:
            self._works.begin(name, title, lambda tell: self._found(name, revision, find, tell))
        # Only the page that started it waits: otherwise slow work would delay every later page as well.
        if is_due or first_seconds > _WAIT_SECONDS:
            await self._wait(name, first_seconds if kept is None else _WAIT_SECONDS)
        kept = self._kept.get(name)
        work = self._works.find(name)
        shown = work if work is not None and (work.is_running or work.failure) else None
        if kept is None:
            return CacheLookup(None, work=shown)
        return CacheLookup(kept.value, kept.made_at, kept.revision == revision, shown)

    def drop_if(self, name: str, is_stale: Callable[[Hashable], bool]) -> None:
        """Forget a value whose revision says that it may quote something that was forgotten."""
        if name in self._kept and is_stale(self._kept[name].revision):
            del self._kept[name]

    def _is_due(self, name: str, kept: CachedValue | None, revision: Hashable) -> bool:
        # The same data would fail again, and a page that reloads must not repeat that.
        if self._failed.get(name) == revision:
            return False
        return kept is None or self._clock() - kept.made_at >= _PATIENCE * kept.seconds

    def _found(
        self, name: str, revision: Hashable, find: Callable[[TellProgress], Any], tell: TellProgress
    ) -> WorkResult:
        began = self._clock()
        # Counted as failed until there is a result, so that an exception needs no handling here.
        self._failed[name] = revision
        value = find(tell)
        now = self._clock()
        self._kept.pop(name, None)
        self._kept[name] = CachedValue(value, revision, now, now - began)
        self._failed.pop(name, None)
        for oldest in list(self._kept)[:-_MOST_KEPT]:
            self._kept.pop(oldest, None)
        return WorkResult("")

    async def _wait(self, name: str, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (work := self._works.find(name)) is not None and work.is_running and time.monotonic() < end:
            await asyncio.sleep(_LOOK_SECONDS)


async def look_up(
    request: Request,
    name: str,
    title: str,
    revision: Hashable,
    find: Callable[[TellProgress], _T],
    *,
    is_asked: bool = False,
) -> CacheLookup[_T]:
    """The cached value for a page. A request for a file waits longer: a file without rows would be wrong."""
    is_file = "as" in request.query_params
    first = _FILE_SECONDS if is_file else _WAIT_SECONDS
    found = await cache_of(request).look(name, title, revision, find, is_asked=is_asked, first_seconds=first)
    if is_file and found.value is None:
        raise CannotDo("This is still being computed. Try again in a minute.")
    return found


def cache_of(request: Request) -> PageCache:
    """The cache of the server that handles a request."""
    found: PageCache = request.app.state.page_cache
    return found


# The server and the agents come first.
_NICENESS = 5
_SAID_CHARS = 300


def run_in_process(
    module: str, histories: HistoryStore, tell: TellProgress, project: str | None, *, what: str
) -> bytes:
    """What a module's `main` answers about the history store, in another process with a low priority."""
    given = f"{str(histories.path)!r}, {project!r}"
    code = f"import os; os.nice({_NICENESS}); from {module} import main; main({given})"
    with (
        # A file, since a full pipe would stop the process while its other pipe is being read.
        tempfile.TemporaryFile() as said,
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=said) as process,
    ):
        assert process.stdout is not None
        try:
            data = _answer_bytes(process.stdout, tell)
        except BaseException:
            # Leaving the block waits for the process, which may take minutes.
            process.kill()
            raise
        if process.wait() != 0 or data is None:
            raise CannotDo(f"{what} could not be computed: {_last_line(said)}")
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


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_SAID_CHARS] if lines else "its process ended without a message."


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
    """The cached value for one project or for all; dropped when something it may quote was forgotten."""
    named = name if project is None else f"{name} of {project}"
    cache_of(request).drop_if(named, lambda earlier: isinstance(earlier, Revision) and now.takes_back(earlier))
    histories = histories_of(request)
    return await look_up(request, named, title, now, lambda tell: make(histories, tell, project), is_asked=is_asked)
