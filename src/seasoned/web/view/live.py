"""Running sessions, followed while a page is open, and the streams that tell pages what changed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from seasoned.app.stores import live_sessions
from seasoned.command.call_text import brief_of
from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.confirm.service.waiting import ChangeSignal
from seasoned.errors import Denied, SeasonedError
from seasoned.live import STREAK, LiveNews, RunningSession, RunningSessions
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here, Visitor, visitor
from seasoned.web.response import Page, page_router
from seasoned.web.table import answer

# Proxies close a connection on which nothing was sent for a while.
_HEARTBEAT_SECONDS = 15.0


def stream_signal(request: Request, here: Visitor, listening: AbstractContextManager[ChangeSignal]) -> Response:
    """A stream of `change` and `over` for as long as the page is open; `listening` holds the signal meanwhile."""
    # The last one keeps nginx from holding events back in a buffer.
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-accel-buffering": "no"}
    return StreamingResponse(_change_events(request, here, listening), media_type="text/event-stream", headers=headers)


async def _change_events(
    request: Request, here: Visitor, listening: AbstractContextManager[ChangeSignal]
) -> AsyncIterator[bytes]:
    with listening as signal:
        # Something may have changed between the page and this stream, so the page reloads once at the start.
        yield b"retry: 1000\n\nevent: change\ndata: \n\n"
        while not signal.is_stopping:
            is_changed = await signal.wait(_HEARTBEAT_SECONDS)
            if signal.is_stopping:
                return
            try:
                # A stream may be open for hours, and its reader may have been logged out meanwhile.
                await visitor(request, here.visit.number)
            except Denied:
                yield b"event: over\ndata: \n\n"
                return
            yield b"event: change\ndata: \n\n" if is_changed else b": still here\n\n"


# Following continues for a moment after the last page closed, so that a reload need not wait.
_LINGER_SECONDS = 20.0
_FIRST_SECONDS = 1.5
# Before following is tried again after something went wrong.
_AGAIN_SECONDS = 5.0


class LiveListener:
    """One open page: woken when something happens, or when its session continues."""

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
        """Set the signal whenever something happens in a session, or in this one, for as long as the block lasts."""
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
                    # Open pages rely on this thread: they show the problem, and it tries again.
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
                # This thread is about to end, and the next page starts another. Dropping what was read frees memory.
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


PAGE = Page("Live", "live")
router = page_router()
_NEWEST_CALLS = 5
_MOST_SESSIONS = 20


@router.get("/live")
async def show(request: Request, here: Here) -> Response:
    """Show running sessions with their newest calls, and which of them fail in a row."""
    hub = live_of(request)
    # Samples are old: none of them runs.
    found = [] if histories_of(request).is_sample else await hub.running()
    return answer(
        request,
        here,
        "live.html",
        running=None if found is None else found[:_MOST_SESSIONS],
        problem=hub.problem,
        streak=STREAK,
        newest_calls=_NEWEST_CALLS,
        brief=brief_of,
    )


@router.get("/live/changes")
async def stream(request: Request, here: Here, session: str = "") -> Response:
    """Tell the page when a running session continues; it then asks for what is new."""
    return stream_signal(request, here, _listening(request, session))


@contextmanager
def _listening(request: Request, session: str) -> Iterator[ChangeSignal]:
    # The signal of the service also ends when the server stops.
    with service_of(request).waiting.listen() as signal, live_of(request).listen(session or None, signal):
        yield signal
