"""Provisioning: the arm and the block of a conversation, decided at its first request and the same ever after."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

import msgspec

from seasoned.config import Config
from seasoned.errors import NotFound, StoreError
from seasoned.experiment.live.assignment import Enrolled, enrol, load_split, log_exposure, log_foregone
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.proxy.headers import Headers
from seasoned.gateway.settings import GatewaySettings
from seasoned.gateway.wire.request import ApiRequest
from seasoned.store import Database, Store, open_database, open_store
from seasoned.template.block import Format
from seasoned.template.library.storage import current, find_block
from seasoned.template.library.usage import template_use
from seasoned.template.provision import BUDGET, BlockMemory, Ensured, ensure_block, is_under_way, provision

OPT_OUT = (b"x-seasoned-warm", b"off")
_WAIT_SECONDS = 1.0
_MOST = 20_000
Connected = TypeVar("Connected", bound=Database)
_log = logging.getLogger("seasoned.gateway")


class _Question(msgspec.Struct, frozen=True):
    """A conversation that begins now."""

    session: str
    asked: ApiRequest
    format: Format
    is_late: threading.Event
    """Set when the request could not wait any longer: what is decided now is for nobody."""

    @property
    def said(self) -> list[dict[str, str]]:
        told = ("user", "assistant")
        return [{"role": one.role, "content": one.text} for one in self.asked.messages if one.role in told]

    @property
    def is_under_way(self) -> bool:
        return is_under_way(self.said)


class Held(Generic[Connected]):
    """A connection that stays open for the thread that uses it; one that failed is not used again."""

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


class Provisioner:
    """Puts the block of a conversation into each of its requests, the same bytes every time."""

    def __init__(self, config: Config, settings: GatewaySettings, *, clock: Callable[[], float] = time.time) -> None:
        self._config = config
        self._settings = settings
        self._clock = clock
        self._decided: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
        self._deciding: dict[tuple[str, str], asyncio.Future[bytes | None]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seasoned-provision")
        self._memory = BlockMemory()
        self._store = Held(lambda: open_store(config.store_path))
        self._database = Held(lambda: open_database(config))

    def start(self) -> None:
        """Load what the first conversation would otherwise have to wait for."""
        self._thread.submit(self._prepare)

    def _prepare(self) -> None:
        with self._store.use() as store:
            library = current(store, now=self._clock())
            provision("", library=library, tools=(), budget=self._settings.budget or BUDGET)
        name = self._settings.experiment
        if name is not None:
            with self._database.use() as database:
                try:
                    load_split(database, name)
                except NotFound:
                    _log.warning(
                        "the experiment %r assigns nobody: begin it with `seasoned experiment begin %s`", name, name
                    )

    async def warm(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with its block; unchanged where none belongs."""
        if not may_be_warm(exchange, headers):
            return body
        assert exchange.talk is not None
        key = (str(exchange.talk.ref), exchange.api.format)
        if key in self._decided:
            content = self._decided[key]
        else:
            # Requests of one conversation that come at once wait for one decision; it outlives whoever asked first.
            deciding = self._deciding.get(key)
            if deciding is None:
                deciding = self._deciding[key] = asyncio.ensure_future(self._decide(key, exchange))
            content = await asyncio.shield(deciding)
        return body if content is None else exchange.api.insert_block(body, content)

    def close(self) -> None:
        # A connection is closed by the thread that opened it.
        for held in (self._store, self._database):
            self._thread.submit(held.let_go)
        self._thread.shutdown(wait=False)

    def _keep(self, key: tuple[str, str], content: bytes | None) -> None:
        self._decided[key] = content
        self._decided.move_to_end(key)
        if len(self._decided) > _MOST:
            self._decided.popitem(last=False)

    async def _decide(self, key: tuple[str, str], exchange: Exchange) -> bytes | None:
        assert exchange.asked is not None
        question = _Question(key[0], exchange.asked, exchange.api.format, threading.Event())
        answering = asyncio.get_running_loop().run_in_executor(self._thread, self._answer, question)
        content = None
        try:
            content = await asyncio.wait_for(answering, _WAIT_SECONDS)
        finally:
            question.is_late.set()
            # Also when it failed: a conversation stays as it begins.
            self._keep(key, content)
            self._deciding.pop(key, None)
        return content

    def _answer(self, question: _Question) -> bytes | None:
        if question.is_late.is_set():
            return None
        enrolled = self._enrolled(question)
        with self._store.use() as store:
            if enrolled is not None and not enrolled.is_warm:
                self._forgo(store, question, enrolled)
                return None
            ensured = self._ensured(store, question, enrolled.template or None if enrolled is not None else None)
            if ensured.rendered is None:
                return None
            if ensured.is_new and find_block(store, question.session, question.format) is None:
                raise StoreError("The block could not be kept: after a restart the conversation would begin otherwise.")
            if question.is_late.is_set() and ensured.is_new:
                # The request went without it: a block that is found later would change how it began.
                with store.write():
                    store.run("template.drop_block_in", {"lineage_root": question.session, "format": question.format})
                return None
        if enrolled is not None:
            try:
                self._log(log_exposure, question, {enrolled.arm: ensured.rendered.example_ids})
            except StoreError:
                # The block is kept and stays: the arm is what counts, and that is logged.
                _log.warning("what a session of %r was shown could not be noted", self._settings.experiment)
        return ensured.rendered.content

    def _enrolled(self, question: _Question) -> Enrolled | None:
        name = self._settings.experiment
        if name is None:
            return None
        with self._database.use() as database:
            return enrol(database, name, question.session, now=self._clock(), begins=not question.is_under_way)

    def _ensured(self, store: Store, question: _Question, template: str | None) -> Ensured:
        return ensure_block(
            store,
            lambda: current(store, now=self._clock()),
            lineage_root=question.session,
            now=self._clock(),
            messages=question.said,
            format=question.format,
            tools=list(question.asked.tools),
            template=template,
            budget=self._settings.budget or BUDGET,
            memory=self._memory,
        )

    def _forgo(self, store: Store, question: _Question, enrolled: Enrolled) -> None:
        """Note what a session of the control would have been shown, so that each example can be compared."""
        foregone = {}
        for arm, template in enrolled.foregone.items():
            made = provision(
                question.said,
                library=current(store, now=self._clock()),
                tools=list(question.asked.tools),
                template=template or None,
                budget=self._settings.budget or BUDGET,
                format=question.format,
                seed=question.session,
                use=template_use(store),
            )
            if made.rendered is not None:
                foregone[arm] = made.rendered.example_ids
        if foregone and not question.is_late.is_set():
            self._log(log_foregone, question, foregone)

    def _log(self, log: Callable[..., None], question: _Question, by_arm: Mapping[str, Sequence[str]]) -> None:
        with self._database.use() as database:
            for arm, ids in by_arm.items():
                name = self._settings.experiment
                log(database, name, question.session, arm=arm, example_ids=ids, now=self._clock())


def may_be_warm(exchange: Exchange, headers: Headers) -> bool:
    """Turns with tools alone; never where the provider holds the conversation, or a block is there already."""
    asked, talk = exchange.asked, exchange.talk
    if asked is None or talk is None or talk.purpose != "turn" or talk.relation is not None:
        return False
    if asked.previous_response_id is not None or asked.conversation is not None or asked.carries_block:
        return False
    opted_out = any(name == OPT_OUT[0] and value.strip().lower() == OPT_OUT[1] for name, value in headers)
    return bool(asked.tools) and not opted_out
