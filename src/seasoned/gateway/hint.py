"""Hints at calls through the gateway: a line behind the result of a call that failed.

A failed result arrives with the next request, and no provider has cached it yet. So the line is added there, and stands
in every later request at the same place: what is cached of the conversation stays valid.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

from seasoned.begin.call_hint import CallHints, knows_repairs
from seasoned.begin.ongoing import is_held_back
from seasoned.begin.settings import BeginSettings
from seasoned.config import Config
from seasoned.experience.ask import Asking
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.wire.request import ApiRequest
from seasoned.redact.redactor import Redactor
from seasoned.session import SessionRef, ToolCall
from seasoned.store import Database, Store, open_database, open_store
from seasoned.store.project import project_key

# A request waits for this; then its results go as they are, and stay so.
_WAIT_SECONDS = 0.5
# For so long it holds that nothing is known of an application: asking for each request would let all of them wait for
# one thread, which shares the interpreter with the recorder.
_SILENT_SECONDS = 1.0
Connected = TypeVar("Connected", bound=Database)


class Held(Generic[Connected]):
    """A connection that stays open for the one thread that uses it, until it fails."""

    def __init__(self, connect: Callable[[], Connected]) -> None:
        self._connect = connect
        self._connection: Connected | None = None

    @contextmanager
    def use(self) -> Iterator[Connected]:
        if self._connection is None:
            self._connection = self._connect()
        try:
            yield self._connection
        except BaseException:
            self.let_go()
            raise

    def let_go(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()


class GatewayHints:
    """Puts lines behind results of failed calls, the same bytes in every request of a conversation."""

    def __init__(
        self, config: Config, settings: BeginSettings, redactor: Redactor, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._redactor = redactor
        # Not the thread of beginnings: those write, and wait for other writers.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seasoned-hint")
        self._store = Held(lambda: open_store(config.store_path))
        self._database = Held(lambda: open_database(config))
        self._clock = clock
        self._hints = CallHints()
        # Applications of which nothing is known, and until when that holds.
        self._silent: dict[str, float] = {}

    def load(self, store: Store, conversation: str) -> None:
        """Read what a conversation was shown before this process, while its beginning is decided anyway."""
        self._hints.lines(store, conversation)

    def close(self) -> None:
        # A connection is closed by the thread that opened it.
        for held in (self._store, self._database):
            self._thread.submit(held.let_go)
        self._thread.shutdown(wait=False)

    async def follow(self, exchange: Exchange, body: bytes) -> bytes:
        """The body with the lines of its conversation; unchanged if there are none."""
        asked, conversation = exchange.asked, exchange.conversation
        # Without a key a conversation belongs to no application, and nothing is known of it.
        if asked is None or conversation is None or not asked.results or not exchange.key_name:
            return body
        if conversation.purpose != "turn" or conversation.relation is not None or not self._settings.tells("calls"):
            return body
        # A fork has the lines of its origin, and does not get the same line a second time.
        name, known = str(conversation.root), self._hints.known(str(conversation.root))
        new = [call for call in newest_calls(asked) if known is None or call.id not in known]
        if known is None or (new and time.monotonic() >= self._silent.get(exchange.key_name, 0.0)):
            await self._decide(conversation.root, exchange.key_name, new)
            known = self._hints.known(name) or {}
        lines = {call_id: line for call_id, line in (known or {}).items() if line and call_id in asked.results}
        return exchange.api.follow_results(body, lines) if lines else body

    async def _decide(self, ref: SessionRef, key_name: str, calls: Sequence[ToolCall]) -> None:
        late = threading.Event()
        deciding = asyncio.get_running_loop().run_in_executor(
            self._thread, self._decide_in_thread, ref, key_name, calls, late
        )
        try:
            await asyncio.wait_for(asyncio.shield(deciding), _WAIT_SECONDS)
        except TimeoutError:
            late.set()
            for call in calls:
                self._hints.pass_over(str(ref), call.id)

    def _decide_in_thread(
        self, ref: SessionRef, key_name: str, calls: Sequence[ToolCall], late: threading.Event
    ) -> None:
        with self._store.use() as store:
            self._hints.lines(store, str(ref))
            # Recorded sessions have the name of their key without secrets: people use e-mail addresses as names.
            project = project_key(store, None, application=self._redactor.text(key_name))
            if project is None or not knows_repairs(store, project):
                self._silent[key_name] = time.monotonic() + _SILENT_SECONDS
                return
            self._silent.pop(key_name, None)
            if not calls:
                return
            if is_held_back(self._database.use, str(ref), self._settings, now=self._clock()):
                return
            asking = Asking(store, project, str(ref))
            for call in calls:
                if not late.is_set():
                    self._hints.decide(asking, call, agent=ref.agent)


def newest_calls(asked: ApiRequest) -> list[ToolCall]:
    """The calls whose results are new in a request: those after the model's last words."""
    last = next((at for at in reversed(range(len(asked.messages))) if asked.messages[at].role == "assistant"), None)
    if last is None or asked.messages[last].synthetic:
        return []
    answered = {message.answers for message in asked.messages[last + 1 :] if message.role == "tool"}
    # An id that the provider gave twice does not say which result is meant.
    return [call for call in asked.messages[last].calls if call.id in answered and "#" not in call.id]
