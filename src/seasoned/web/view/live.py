"""Running sessions, followed while a page is open, and the streams that tell pages what changed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from seasoned.app.stores import live_sessions
from seasoned.command.call import brief_of
from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.errors import Denied, SeasonedError
from seasoned.live import STREAK, LiveNews, RunningSession, RunningSessions
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here, Visitor, visitor
from seasoned.web.response import Page, page_router
from seasoned.web.table import answer

# Proxies close a connection on which nothing was sent for a while.
_HEARTBEAT_SECONDS = 15.0
# How soon an open page learns that a session went on.
_LOOK_SECONDS = 0.3


def event_stream(
    request: Request, here: Visitor, revision: Callable[[], int] | None = None, *, look_seconds: float = 15.0
) -> Response:
    """A stream of `change` and `over` for as long as the page is open.

    Something changed when a request to confirm did, or when `revision`, looked at every so often, is another number.
    """
    # The last one keeps nginx from holding events back in a buffer.
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff", "x-accel-buffering": "no"}
    events = _change_events(request, here, revision or (lambda: 0), look_seconds)
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


async def _change_events(
    request: Request, here: Visitor, revision: Callable[[], int], look_seconds: float
) -> AsyncIterator[bytes]:
    with service_of(request).waiting.listen() as signal:
        known = revision()
        # Something may have changed between the page and this stream, so the page reloads once at the start.
        yield b"retry: 1000\n\nevent: change\ndata: \n\n"
        said_at = time.monotonic()
        while not signal.is_stopping:
            is_changed = await signal.wait(look_seconds)
            if signal.is_stopping:
                return
            before, known = known, revision()
            is_changed = is_changed or before != known
            if not is_changed and time.monotonic() - said_at < _HEARTBEAT_SECONDS:
                continue
            try:
                # A stream may be open for hours, and its reader may have been logged out meanwhile.
                await visitor(request)
            except Denied:
                yield b"event: over\ndata: \n\n"
                return
            said_at = time.monotonic()
            yield b"event: change\ndata: \n\n" if is_changed else b": still here\n\n"


# Following continues for a moment after the last page closed, so that a reload need not wait.
_LINGER_SECONDS = 20.0
_FIRST_SECONDS = 1.5
# Before following is tried again after something went wrong.
_AGAIN_SECONDS = 5.0


class LiveHub:
    """Follows running sessions in one thread, as long as a page asks for them."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._stop: threading.Event | None = None
        self._live: RunningSessions | None = None
        self._asked_at = 0.0
        # How often each session went on, and how often anything happened.
        self._news: Counter[str] = Counter()
        self._changes = 0
        # Why nothing can be followed.
        self.problem = ""

    def revision(self, session: str) -> int:
        """Another number whenever this session went on; without one, whenever anything happened."""
        self._start()
        return self._news[session] if session else self._changes

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
                # What was read is dropped, and the next page begins again.
                self._stop, self._live = None, None

    def _start(self) -> None:
        with self._lock:
            self._asked_at = time.monotonic()
            if self._stop is None:
                self._stop = threading.Event()
                threading.Thread(target=self._follow, args=(self._stop,), name="seasoned-live", daemon=True).start()

    def _follow(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                live = live_sessions(self._config)
                for news in live.follow(stop):
                    self._take(live, news)
                    self._stop_if_idle()
            except (SeasonedError, OSError) as error:
                # Open pages rely on this thread: they show the problem, and it tries again.
                self.problem, self._live = str(error), None
                self._changes += 1
                stop.wait(_AGAIN_SECONDS)
                self._stop_if_idle()

    def _stop_if_idle(self) -> None:
        if time.monotonic() - self._asked_at > _LINGER_SECONDS:
            self.stop()

    def _take(self, live: RunningSessions, news: list[LiveNews]) -> None:
        self._changes += bool(news) or self._live is not live
        self._live, self.problem = live, ""
        self._news.update(one.session.ref for one in news)


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
    hub = live_of(request)
    return event_stream(request, here, lambda: hub.revision(session), look_seconds=_LOOK_SECONDS)
