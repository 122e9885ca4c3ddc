"""What the gateway adds to requests: the block that a conversation begins with, and hints after failed calls.

The block is decided at the first request of a conversation, and is the same in every later one. A failed result arrives
with the next request, and no provider has cached it yet; so its hint is added there, and stands at the same place in
every later request. What is cached of the conversation stays valid.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec

from seasoned.begin.ongoing import CallHints, is_held_back, knows_repairs
from seasoned.begin.settings import BeginSettings
from seasoned.begin.start_text import SHEET
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config
from seasoned.errors import NotFound
from seasoned.example.library.storage import cached_library, find_block
from seasoned.example.provision import BlockMemory, BlockRequest, provision
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.proxy.upstream import Headers
from seasoned.gateway.wire.request import ApiRequest
from seasoned.lesson.ask import LessonLookup
from seasoned.redact.key import Secrecy
from seasoned.redact.redactor import Redactor
from seasoned.session import SessionRef, ToolCall
from seasoned.store import Database, Store, open_database, open_store
from seasoned.store.project import project_key

OPT_OUT = (b"x-seasoned-warm", b"off")
# How long a first request waits for its block. One that goes without a block stays without.
_BLOCK_SECONDS = 1.0
# How long a request waits for its hints. Results that go without one stay without.
_HINT_SECONDS = 0.5
_MOST_CONVERSATIONS = 20_000
# How long to assume that still nothing is known about an application. Checking for each request would make all of them
# wait for one thread, which shares the interpreter with the recorder.
_SILENT_SECONDS = 1.0
_log = logging.getLogger("seasoned.gateway")
Connected = TypeVar("Connected", bound=Database)


class Held(Generic[Connected]):
    """A connection that stays open for one thread until it fails."""

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


class Worker:
    """A thread with its own connections, which stay open until they fail."""

    def __init__(self, config: Config, name: str) -> None:
        self.thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self.store = Held(lambda: open_store(config.store_path))
        self.database = Held(lambda: open_database(config))

    def close(self) -> None:
        # A connection is closed by the thread that opened it.
        for held in (self.store, self.database):
            self.thread.submit(held.let_go)
        self.thread.shutdown(wait=False)


class GatewayHints:
    """Adds lines after the results of failed calls, the same bytes in every request of a conversation."""

    def __init__(
        self, config: Config, settings: BeginSettings, redactor: Redactor, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._redactor = redactor
        # Not the thread that decides blocks: that one writes, and waits for other writers.
        self._worker = Worker(config, "seasoned-hint")
        self._clock = clock
        self._hints = CallHints()
        # Applications about which nothing is known, and until when to assume that.
        self._silent: dict[str, float] = {}

    def load(self, store: Store, conversation: str) -> None:
        """Read what a conversation was shown before this process started, while its block is decided."""
        self._hints.lines(store, conversation)

    def close(self) -> None:
        self._worker.close()

    async def follow(self, exchange: Exchange, body: bytes) -> bytes:
        """The body with the lines of its conversation; unchanged if there are none."""
        asked, conversation = exchange.asked, exchange.conversation
        # Without a key a conversation belongs to no application, so nothing is known about it.
        if asked is None or conversation is None or not asked.results or not exchange.key_name:
            return body
        if conversation.purpose != "turn" or conversation.relation is not None or not self._settings.tells("calls"):
            return body
        name = str(conversation.ref)
        known = self._hints.known(name)
        new = [call for call in newest_calls(asked) if known is None or call.id not in known]
        if known is None or (new and time.monotonic() >= self._silent.get(exchange.key_name, 0.0)):
            await self._decide(conversation.ref, exchange.key_name, new)
            known = self._hints.known(name) or {}
        lines = {call_id: line for call_id, line in (known or {}).items() if line and call_id in asked.results}
        return exchange.api.follow_results(body, lines) if lines else body

    async def _decide(self, ref: SessionRef, key_name: str, calls: Sequence[ToolCall]) -> None:
        late = threading.Event()
        deciding = asyncio.get_running_loop().run_in_executor(
            self._worker.thread, self._decide_in_thread, ref, key_name, calls, late
        )
        try:
            await asyncio.wait_for(asyncio.shield(deciding), _HINT_SECONDS)
        except TimeoutError:
            late.set()
            for call in calls:
                self._hints.pass_over(call.id)

    def _decide_in_thread(
        self, ref: SessionRef, key_name: str, calls: Sequence[ToolCall], late: threading.Event
    ) -> None:
        with self._worker.store.use() as store:
            self._hints.lines(store, str(ref))
            # Recorded sessions have the name of their key without secrets: people use e-mail addresses as names.
            project = project_key(store, None, application=self._redactor.text(key_name))
            if project is None or not knows_repairs(store, project):
                self._silent[key_name] = time.monotonic() + _SILENT_SECONDS
                return
            self._silent.pop(key_name, None)
            if not calls:
                return
            if is_held_back(self._worker.database.use, str(ref), self._settings, now=self._clock()):
                return
            lookup = LessonLookup(store, project, str(ref))
            for call in calls:
                if not late.is_set():
                    self._hints.decide(lookup, call, agent=ref.agent)


def newest_calls(asked: ApiRequest) -> list[ToolCall]:
    """The calls whose results are new in a request: those after the model's last words."""
    last = next((at for at in reversed(range(len(asked.messages))) if asked.messages[at].role == "assistant"), None)
    if last is None or asked.messages[last].synthetic:
        return []
    answered = {message.answers for message in asked.messages[last + 1 :] if message.role == "tool"}
    # If the provider used an id twice, it is unclear which result is meant.
    return [call for call in asked.messages[last].calls if call.id in answered and "#" not in call.id]


class Provisioner:
    """Puts the block of a conversation into each of its requests, the same bytes every time."""

    def __init__(
        self, config: Config, settings: BeginSettings, secrecy: Secrecy, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._redactor = secrecy.redactor()
        self._settings = settings
        self._clock = clock
        self._decided: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
        self._deciding: dict[tuple[str, str], asyncio.Future[bytes | None]] = {}
        self._worker = Worker(config, "seasoned-provision")
        self._memory = BlockMemory()
        self._hints = GatewayHints(config, settings, self._redactor, clock=clock)

    def start(self) -> None:
        """Load what the first conversation would otherwise wait for."""
        self._worker.thread.submit(self._prepare)

    def _prepare(self) -> None:
        with self._worker.store.use() as store:
            provision("", library=cached_library(store, now=self._clock()), asked=BlockRequest(tools=()))
        name = self._settings.experiment
        if name is not None:
            from seasoned.experiment.live.assignment import load_split

            with self._worker.database.use() as database:
                try:
                    load_split(database, name)
                except NotFound as error:
                    _log.warning("Nothing is shown to new conversations: %s", error)

    async def warm(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with its block; unchanged if the request gets none."""
        if not may_be_warm(exchange, headers):
            return body
        assert exchange.conversation is not None
        key = (str(exchange.conversation.ref), exchange.api.format)
        if key in self._decided:
            content = self._decided[key]
        else:
            # Concurrent requests of one conversation share one decision, which outlives the first of them.
            deciding = self._deciding.get(key)
            if deciding is None:
                deciding = self._deciding[key] = asyncio.ensure_future(self._decide(key, exchange))
            content = await asyncio.shield(deciding)
        return body if content is None else exchange.api.insert_block(body, content)

    async def hint(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with a hint after each result of a failed call that has one."""
        return body if has_opted_out(headers) else await self._hints.follow(exchange, body)

    def close(self) -> None:
        self._worker.close()
        self._hints.close()

    def _keep(self, key: tuple[str, str], content: bytes | None) -> None:
        self._decided[key] = content
        self._decided.move_to_end(key)
        if len(self._decided) > _MOST_CONVERSATIONS:
            self._decided.popitem(last=False)

    async def _decide(self, key: tuple[str, str], exchange: Exchange) -> bytes | None:
        assert exchange.asked is not None
        said = [
            {"role": one.role, "content": one.text}
            for one in exchange.asked.messages
            if one.role in ("user", "assistant")
        ]
        session = NewSession(id=key[0], format=exchange.api.format, messages=said, tools=list(exchange.asked.tools))
        # Set when the request could not wait any longer and was sent unchanged.
        late = threading.Event()
        answering = asyncio.get_running_loop().run_in_executor(
            self._worker.thread, self._begin, session, exchange.key_name, late
        )
        content = None
        try:
            content = await asyncio.wait_for(answering, _BLOCK_SECONDS)
        finally:
            late.set()
            # Even if it failed: a conversation stays as it began.
            self._keep(key, content)
            self._deciding.pop(key, None)
        return content

    def _begin(self, session: NewSession, key_name: str, late: threading.Event) -> bytes | None:
        if late.is_set():
            return None
        with self._worker.store.use() as store:
            self._hints.load(store, session.id)
            # A hook of the agent has shown a template already. Beside the sheet of a project there may be calls.
            shown = find_block(store, session.id, "text")
            if shown is not None and shown.template != SHEET:
                return None
            # Recorded sessions have the name of their key without secrets: people use e-mail addresses as names.
            project = project_key(store, None, application=self._redactor.text(key_name))
            return begin(
                store,
                self._worker.database.use,
                msgspec.structs.replace(session, project=project),
                self._settings,
                now=self._clock(),
                memory=self._memory,
                is_late=late.is_set,
                warn=_log.warning,
            ).content


def may_be_warm(exchange: Exchange, headers: Headers) -> bool:
    """Whether a request may get a block: a turn with tools, whose history the client sends, without a block in it."""
    asked, conversation = exchange.asked, exchange.conversation
    if asked is None or conversation is None or conversation.purpose != "turn" or conversation.relation is not None:
        return False
    if asked.previous_response_id is not None or asked.conversation is not None or asked.carries_block:
        return False
    return bool(asked.tools) and not has_opted_out(headers)


def has_opted_out(headers: Headers) -> bool:
    """Whether a client wants its request to stay as it is."""
    return any(name == OPT_OUT[0] and value.strip().lower() == OPT_OUT[1] for name, value in headers)
