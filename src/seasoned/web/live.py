"""Running sessions for pages: they are followed only while a page is open."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.requests import Request

from seasoned.app.live import live_sessions
from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.confirm.service.waiting import ChangeSignal
from seasoned.errors import SeasonedError
from seasoned.live.follow import LiveNews, RunningSession, RunningSessions

# After the last look it goes on for a moment: a page that reloads need not wait.
_LINGER_SECONDS = 20.0
_FIRST_SECONDS = 1.5
# Before following is tried again after something went wrong.
_AGAIN_SECONDS = 5.0


class LiveListener:
    """One open page: woken when something happens, or when its session goes on."""

    def __init__(self, session: str | None, signal: ChangeSignal) -> None:
        self.session = session
        self._signal = signal
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        """Called by the thread that follows."""
        # The server may have stopped meanwhile.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._signal.set)


class LiveHub:
    """Follows running sessions in one thread for all open pages."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._listeners: set[LiveListener] = set()
        self._stop: threading.Event | None = None
        self._live: RunningSessions | None = None
        self._looked_at = 0.0
        # Why nothing can be followed.
        self.problem = ""

    @contextmanager
    def listen(self, session: str | None, signal: ChangeSignal) -> Iterator[None]:
        """Set the signal whenever something happens, or this session goes on, for as long as the block lasts."""
        listener = LiveListener(session, signal)
        with self._lock:
            self._listeners.add(listener)
        self._start()
        try:
            yield
        finally:
            with self._lock:
                self._listeners.discard(listener)
                self._looked_at = time.monotonic()

    async def running(self) -> list[RunningSession] | None:
        """The running sessions; None while they are read for the first time."""
        self._start()
        end = time.monotonic() + _FIRST_SECONDS
        while self._live is None and not self.problem and time.monotonic() < end:
            await asyncio.sleep(0.02)
        live = self._live
        return None if live is None else live.running()

    def find(self, ref: str) -> RunningSession | None:
        """A session that is being followed."""
        live = self._live
        return None if live is None else live.find(ref)

    def stop(self) -> None:
        """Stop following; the thread ends within half a second."""
        with self._lock:
            if self._stop is not None:
                self._stop.set()

    def _start(self) -> None:
        with self._lock:
            self._looked_at = time.monotonic()
            if self._stop is not None:
                return
            self._stop = threading.Event()
            threading.Thread(target=self._follow, args=(self._stop,), name="seasoned-live", daemon=True).start()

    def _follow(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set():
                try:
                    self._follow_until(stop)
                # watchfiles gives up with a RuntimeError.
                except (SeasonedError, OSError, RuntimeError) as error:
                    # Open pages rely on this thread: they say what is wrong, and it is tried again.
                    self.problem, self._live = str(error), None
                    self._wake(None)
                    if not self._is_alone():
                        stop.wait(_AGAIN_SECONDS)
        finally:
            with self._lock:
                if self._stop is stop:
                    self._stop, self._live = None, None

    def _follow_until(self, stop: threading.Event) -> None:
        """Follow until no page is open."""
        live = live_sessions(self._config)
        for news in live.follow(stop):
            if self._live is not live:
                self._live, self.problem = live, ""
                self._wake(None)
            elif news:
                self._wake(news)
            if self._is_alone():
                break

    def _is_alone(self) -> bool:
        with self._lock:
            is_alone = not self._listeners and time.monotonic() - self._looked_at > _LINGER_SECONDS
            if is_alone and self._stop is not None:
                # Whoever looks from now on starts another thread: this one is about to end. What was read is dropped,
                # and with it the memory it takes.
                self._stop.set()
                self._stop, self._live = None, None
            return is_alone

    def _wake(self, news: list[LiveNews] | None) -> None:
        changed = None if news is None else {one.session.ref for one in news}
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            if changed is None or listener.session is None or listener.session in changed:
                listener.wake()


def live_of(request: Request) -> LiveHub:
    """The running sessions of the server that handles a request."""
    state = request.app.state
    if not hasattr(state, "live"):
        state.live = LiveHub(service_of(request).config)
    found: LiveHub = state.live
    return found
