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

_T = TypeVar("_T")
# Results and finished work that pages may still show.
_KEPT = 100
# How long a page waits for a quick result; a slower one appears later by itself.
_WAIT_SECONDS = 0.25
_LONG_SECONDS = 60.0
_LOOK_SECONDS = 0.01
# A result that took a minute is computed again after five at the earliest, so that other work gets its turn.
_PATIENCE = 5.0
# The server and the agents come first.
_NICENESS = 5
_SAID_CHARS = 300
_log = logging.getLogger("seasoned.web")


class TellProgress(Protocol):
    """Reports the progress of work."""

    def __call__(self, said: str, *, done: int = 0, total: int = 0) -> None: ...


class BackgroundWork(msgspec.Struct, frozen=True, kw_only=True):
    """The current state of one piece of work."""

    title: str
    # Of the data that it is computed from; None for work that is done once.
    revision: Hashable = None
    began_at: float
    said: str = ""
    done: int = 0
    # 0 if the total is unknown.
    total: int = 0
    is_running: bool = True
    failure: str = ""
    # The page of its result, relative to the address of the browser session.
    href: str = ""


class WorkResult(msgspec.Struct, frozen=True):
    """The result of work: one sentence and the page that shows it, or a value to keep."""

    said: str = ""
    href: str = ""
    value: Any = None


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
    """The long work of a running server, one at a time for each name, and what it found."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._works: dict[str, BackgroundWork] = {}
        self._kept: dict[str, CachedValue] = {}

    def find(self, name: str) -> BackgroundWork | None:
        """The work with this name, running or finished."""
        return self._works.get(name)

    def running(self) -> list[BackgroundWork]:
        """The work that is running."""
        with self._lock:
            return [work for work in self._works.values() if work.is_running]

    def begin(
        self, name: str, title: str, do: Callable[[TellProgress], WorkResult], *, revision: Hashable = None
    ) -> None:
        """Start work in a thread, unless it is running already."""
        with self._lock:
            known = self._works.get(name)
            if known is not None and known.is_running:
                return
            # Removed first, so that the newest is last.
            self._works.pop(name, None)
            self._works[name] = BackgroundWork(title=title, revision=revision, began_at=self._clock())
            ended = [key for key, work in self._works.items() if not work.is_running]
            for key in ended[:-_KEPT]:
                del self._works[key]
                self._kept.pop(key, None)
        # A daemon: long work must not keep the server from stopping.
        threading.Thread(target=self._carry_out, args=(name, do), name="seasoned-work", daemon=True).start()

    def _carry_out(self, name: str, do: Callable[[TellProgress], WorkResult]) -> None:
        work = self._works[name]

        def tell(said: str, *, done: int = 0, total: int = 0) -> None:
            self._works[name] = msgspec.structs.replace(work, said=said, done=done, total=total)

        # Without a result, pages must not show the work as running forever.
        ended = msgspec.structs.replace(
            work, is_running=False, failure="it failed with an error. See the server's log."
        )
        try:
            result = do(tell)
            ended = msgspec.structs.replace(ended, failure="", said=result.said, href=result.href)
            if work.revision is not None:
                now = self._clock()
                self._kept[name] = CachedValue(result.value, work.revision, now, now - work.began_at)
        except SeasonedError as error:
            ended = msgspec.structs.replace(ended, failure=str(error))
        except BaseException:
            _log.exception("%s failed with an error", name)
            raise
        finally:
            self._works[name] = ended

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
        is_due = is_asked or self._is_due(name, revision)
        if is_due:
            self.begin(name, title, lambda tell: WorkResult(value=find(tell)), revision=revision)
        # Only the page that started it waits: otherwise slow work would delay every later page as well.
        has_value = name in self._kept
        if is_due or (not has_value and first_seconds > _WAIT_SECONDS):
            end = time.monotonic() + (_WAIT_SECONDS if has_value else first_seconds)
            while (work := self._works.get(name)) is not None and work.is_running and time.monotonic() < end:
                await asyncio.sleep(_LOOK_SECONDS)
        kept, work = self._kept.get(name), self._works.get(name)
        shown = work if work is not None and (work.is_running or work.failure) else None
        if kept is None:
            return CacheLookup(None, work=shown)
        return CacheLookup(kept.value, kept.made_at, kept.revision == revision, shown)

    def _is_due(self, name: str, revision: Hashable) -> bool:
        kept, work = self._kept.get(name), self._works.get(name)
        # The same data would fail again, and a page that reloads must not repeat that.
        if work is not None and (work.is_running or (work.failure and work.revision == revision)):
            return False
        if kept is None:
            return True
        is_quick = kept.seconds < _WAIT_SECONDS
        return kept.revision != revision and (is_quick or self._clock() - kept.made_at >= _PATIENCE * kept.seconds)

    def forget(self, name: str, now: Revision) -> None:
        """Drop a value that may quote something that was forgotten since."""
        kept = self._kept.get(name)
        if kept is not None and isinstance(kept.revision, Revision) and now.takes_back(kept.revision):
            del self._kept[name]


def cache_of(request: Request) -> PageCache:
    """The cache of the server that handles a request."""
    found: PageCache = request.app.state.page_cache
    return found


async def look_up(
    request: Request,
    name: str,
    title: str,
    revision: Hashable,
    find: Callable[[TellProgress], _T],
    *,
    is_asked: bool = False,
    is_needed: bool = False,
) -> CacheLookup[_T]:
    """The cached value for a page; wait longer for the first one if the page shows nothing without it."""
    # A file without rows would be wrong.
    is_file = "as" in request.query_params
    first = _LONG_SECONDS if is_file or is_needed else _WAIT_SECONDS
    found = await cache_of(request).look(name, title, revision, find, is_asked=is_asked, first_seconds=first)
    if (is_file or is_needed) and found.value is None:
        raise CannotDo("This is still being computed. Try again in a minute.")
    return found


async def look_up_project(
    request: Request,
    name: str,
    title: str,
    now: Revision,
    project: str | None,
    make: Callable[[HistoryStore, TellProgress, str | None], _T],
    *,
    is_asked: bool = False,
    is_needed: bool = False,
) -> CacheLookup[_T]:
    """The cached value for one project or for all."""
    named = name if project is None else f"{name} of {project}"
    cache_of(request).forget(named, now)
    histories = histories_of(request)
    return await look_up(
        request,
        named,
        title,
        now,
        lambda tell: make(histories, tell, project),
        is_asked=is_asked,
        is_needed=is_needed,
    )


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
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
            last = lines[-1][:_SAID_CHARS] if lines else "its process ended without a message."
            raise CannotDo(f"{what} could not be computed: {last}")
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
