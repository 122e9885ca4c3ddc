"""Long work that a page started: it runs in a thread and reports its progress."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Protocol

import msgspec
from starlette.requests import Request

from seasoned.errors import SeasonedError

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
            # Taken out and put back, so that the newest work is last and the oldest is dropped first.
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
            # Whatever happened, pages must not show the work as running forever.
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
