"""Hints at calls through the gateway: a line behind the result of a call that failed.

A failed result arrives with the next request, and no provider has cached it yet. So the line is added there, and stands
in every later request at the same place: what is cached of the conversation stays valid.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

from seasoned.begin.call_hint import CallHints, knows_repairs
from seasoned.begin.ongoing import OpenDatabase, is_held_back
from seasoned.begin.settings import BeginSettings
from seasoned.experience.ask import Asking
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.wire.request import ApiRequest
from seasoned.redact.redactor import Redactor
from seasoned.session import SessionRef, ToolCall
from seasoned.store import Store
from seasoned.store.project import project_key

# A request waits for this; then its results go as they are, and stay so.
_WAIT_SECONDS = 0.5
OpenStore = Callable[[], AbstractContextManager[Store]]


class GatewayHints:
    """Puts lines behind results of failed calls, the same bytes in every request of a conversation."""

    def __init__(
        self,
        settings: BeginSettings,
        redactor: Redactor,
        *,
        thread: ThreadPoolExecutor,
        store: OpenStore,
        database: OpenDatabase,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._redactor = redactor
        self._thread = thread
        self._store = store
        self._database = database
        self._clock = clock
        self._hints = CallHints()

    async def follow(self, exchange: Exchange, body: bytes) -> bytes:
        """The body with the lines of its conversation; unchanged if there are none."""
        asked, conversation = exchange.asked, exchange.conversation
        # Without a key a conversation belongs to no application, and nothing is known of it.
        if asked is None or conversation is None or not asked.results or not exchange.key_name:
            return body
        if conversation.purpose != "turn" or conversation.relation is not None or not self._settings.tells("calls"):
            return body
        name, known = str(conversation.ref), self._hints.known(str(conversation.ref))
        new = [call for call in newest_calls(asked) if known is None or call.id not in known]
        if new or known is None:
            await self._decide(conversation.ref, exchange.key_name, new)
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
        with self._store() as store:
            self._hints.lines(store, str(ref))
            # Recorded sessions have the name of their key without secrets: people use e-mail addresses as names.
            project = project_key(store, None, application=self._redactor.text(key_name))
            if project is None or not calls or not knows_repairs(store, project):
                return
            if is_held_back(self._database, str(ref), self._settings, now=self._clock()):
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
