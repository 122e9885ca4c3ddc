"""A cache for slow results: pages show the last value while a newer one is computed in the background."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import msgspec
from starlette.requests import Request

from seasoned.errors import CannotDo
from seasoned.web.background_work import BackgroundWork, TellProgress, WorkRegistry, WorkResult, works_of

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

    def drop(self, name: str) -> None:
        """Forget a value."""
        self._kept.pop(name, None)

    def revision(self, name: str) -> Hashable | None:
        """The revision of the cached value."""
        kept = self._kept.get(name)
        return None if kept is None else kept.revision

    def _is_due(self, name: str, kept: CachedValue | None, revision: Hashable) -> bool:
        # The same data would fail again, and a page that reloads must not repeat that.
        if self._failed.get(name) == revision:
            return False
        return kept is None or self._clock() - kept.made_at >= _PATIENCE * kept.seconds

    def _found(
        self, name: str, revision: Hashable, find: Callable[[TellProgress], Any], tell: TellProgress
    ) -> WorkResult:
        began = self._clock()
        # It counts as failed until it is found, so an exception needs no handling here.
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
    state = request.app.state
    if not hasattr(state, "page_cache"):
        state.page_cache = PageCache(works_of(request))
    found: PageCache = state.page_cache
    return found
