"""The gateway service: puts the parts together, starts and stops them, and listens.

A warm start is decided at the first request of a conversation, and is the same in every later one.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from seasoned.begin.settings import BeginSettings, FormerSettings, begin_settings, moved_settings
from seasoned.begin.warm_start import NewSession, begin
from seasoned.config import Config
from seasoned.confirm.policy import Listen
from seasoned.confirm.service.listen import (
    SWITCH_SECONDS,
    address_of,
    allow_many_connections,
    bind,
    check_certificate,
    open_log,
    run_loop,
    serve_until_stopped,
    server_for,
)
from seasoned.errors import NotFound
from seasoned.gateway.accounting import FOLDER, Budgets, KeyCache, UsageJournal, pricing
from seasoned.gateway.failures import Failures
from seasoned.gateway.hint import GatewayHints, Held
from seasoned.gateway.metrics import GatewayMetrics
from seasoned.gateway.proxy.app import Gateway
from seasoned.gateway.proxy.exchange import Exchange
from seasoned.gateway.proxy.upstream import Headers, Upstreams
from seasoned.gateway.record.conversations import ConversationIndex
from seasoned.gateway.record.example_watch import ExampleWatch
from seasoned.gateway.record.recorder import GatewayRecorder, StoreCache
from seasoned.gateway.settings import GatewaySettings
from seasoned.gateway.telemetry import Telemetry, find_collector
from seasoned.redact.key import Secrecy, load_key
from seasoned.store import open_database, open_store
from seasoned.store.project import project_key
from seasoned.template.library.storage import current
from seasoned.template.provision import BlockMemory, provision

OPT_OUT = (b"x-seasoned-warm", b"off")
_WAIT_SECONDS = 1.0
_MOST = 20_000
_log = logging.getLogger("seasoned.gateway")


class Provisioner:
    """Puts the block of a conversation into each of its requests, the same bytes every time."""

    def __init__(
        self, config: Config, settings: BeginSettings, secrecy: Secrecy, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._config = config
        self._redactor = secrecy.redactor()
        self._settings = settings
        self._clock = clock
        self._decided: OrderedDict[tuple[str, str], bytes | None] = OrderedDict()
        self._deciding: dict[tuple[str, str], asyncio.Future[bytes | None]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seasoned-provision")
        self._memory = BlockMemory()
        self._store = Held(lambda: open_store(config.store_path))
        self._database = Held(lambda: open_database(config))
        self._hints = GatewayHints(config, settings, self._redactor, clock=clock)

    def start(self) -> None:
        """Load what the first conversation would otherwise have to wait for."""
        for hint in moved_settings(self._config):
            _log.warning("%s", hint)
        self._thread.submit(self._prepare)

    def _prepare(self) -> None:
        with self._store.use() as store:
            provision("", library=current(store, now=self._clock()), tools=())
        name = self._settings.experiment
        if name is not None:
            from seasoned.experiment.live.assignment import load_split

            with self._database.use() as database:
                try:
                    load_split(database, name)
                except NotFound as error:
                    _log.warning("Nothing is shown to new conversations: %s", error)

    async def warm(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with its block; unchanged if the request gets none."""
        if not may_be_warm(exchange, headers):
            return body
        assert exchange.conversation is not None
        key = (str(exchange.conversation.root), exchange.api.format)
        if key in self._decided:
            content = self._decided[key]
        else:
            # Requests of one conversation that come at once wait for one decision; it outlives the first of them.
            deciding = self._deciding.get(key)
            if deciding is None:
                deciding = self._deciding[key] = asyncio.ensure_future(self._decide(key, exchange))
            content = await asyncio.shield(deciding)
        return body if content is None else exchange.api.insert_block(body, content)

    async def hint(self, exchange: Exchange, body: bytes, headers: Headers) -> bytes:
        """The body with a hint after each result of a failed call that has one."""
        return body if has_opted_out(headers) else await self._hints.follow(exchange, body)

    def close(self) -> None:
        # A connection is closed by the thread that opened it.
        for held in (self._store, self._database):
            self._thread.submit(held.let_go)
        self._thread.shutdown(wait=False)
        self._hints.close()

    def _keep(self, key: tuple[str, str], content: bytes | None) -> None:
        self._decided[key] = content
        self._decided.move_to_end(key)
        if len(self._decided) > _MOST:
            self._decided.popitem(last=False)

    async def _decide(self, key: tuple[str, str], exchange: Exchange) -> bytes | None:
        assert exchange.asked is not None
        said = [
            {"role": one.role, "content": one.text}
            for one in exchange.asked.messages
            if one.role in ("user", "assistant")
        ]
        session = NewSession(id=key[0], format=exchange.api.format, messages=said, tools=list(exchange.asked.tools))
        # Set when the request could not wait any longer and went as it came.
        late = threading.Event()
        answering = asyncio.get_running_loop().run_in_executor(
            self._thread, self._begin, session, exchange.key_name, late
        )
        content = None
        try:
            content = await asyncio.wait_for(answering, _WAIT_SECONDS)
        finally:
            late.set()
            # Also when it failed: a conversation stays as it begins.
            self._keep(key, content)
            self._deciding.pop(key, None)
        return content

    def _begin(self, session: NewSession, key_name: str, late: threading.Event) -> bytes | None:
        if late.is_set():
            return None
        with self._store.use() as store:
            self._hints.load(store, session.id)
            # Recorded sessions have the name of their key without secrets: people use e-mail addresses as names.
            project = project_key(store, None, application=self._redactor.text(key_name))
            return begin(
                store,
                self._database.use,
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


class GatewayService:
    """All parts of a running gateway."""

    def __init__(
        self,
        config: Config,
        settings: GatewaySettings,
        *,
        environment: Mapping[str, str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.secrecy = Secrecy(load_key(config.home), config.redact)
        self.failures = Failures()
        begins = begin_settings(
            config,
            "gateway",
            FormerSettings(warm=settings.warm, budget=settings.budget, experiment=settings.experiment),
        )
        settings = msgspec.structs.replace(settings, experiment=begins.experiment)
        self.settings = settings
        self._upstreams = Upstreams(settings, home=config.home, environment=environment)
        target = find_collector(environment)
        self._telemetry = None if target is None else Telemetry(target, self.failures)
        conversations = ConversationIndex()
        keys, budgets, journal = KeyCache(), Budgets(), UsageJournal(config.home / FOLDER)
        self._provisioner = Provisioner(config, begins, self.secrecy, clock=clock) if begins.is_enabled else None
        self.recorder = GatewayRecorder(
            config,
            secrecy=self.secrecy,
            journal=journal,
            failures=self.failures,
            price=pricing(settings),
            cache=StoreCache(keys, budgets, conversations),
            records=settings.record,
            watch=ExampleWatch(settings.experiment),
            clock=clock,
        )
        self.app = Gateway(
            settings,
            upstreams=self._upstreams,
            keys=keys,
            budgets=budgets,
            journal=journal,
            failures=self.failures,
            metrics=GatewayMetrics(
                self.failures.counts,
                lambda: self.recorder.waiting,
                counts=lambda: self.recorder.counts,
                over_budget=lambda: budgets.over,
            ),
            conversations=conversations,
            recording=self.recorder,
            warming=self._provisioner,
            telemetry=self._telemetry,
            clock=clock,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all parts; at the end, whatever is left is recorded."""
        self.recorder.start(needs_keys=self.settings.mode == "keys")
        await self._upstreams.open()
        if self._telemetry is not None:
            self._telemetry.start()
        if self._provisioner is not None:
            self._provisioner.start()
        try:
            yield
        finally:
            # The recorder stops last, because open requests still give it their exchanges.
            await self._upstreams.close()
            if self._provisioner is not None:
                self._provisioner.close()
            if self._telemetry is not None:
                self._telemetry.stop()
            self.recorder.stop()


# The default of nginx: agents pause between requests, and a new connection costs a handshake.
_KEEP_ALIVE_SECONDS = 75
_API = "/v1/"
_OWN = "/gateway/"
_COLLECT_AFTER = 50_000


def serve(
    service: GatewayService,
    listen: Listen,
    *,
    ready: Callable[[str], None] | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """Serve until a signal arrives or `stopping` is set, then finish open requests and record what is left."""
    tls = listen.tls_certificate is not None
    listener = bind(listen)
    try:
        if tls:
            check_certificate(listen)
        open_log(service.secrecy)
        allow_many_connections()
        # Threads compute beside the event loop, which must not wait long for its turn.
        sys.setswitchinterval(SWITCH_SECONDS)
        address = address_of(listener, tls=tls)
        # Headers of an answer are the upstream's, its date too.
        server = server_for(service.app, listen, tls=tls, keep_alive_seconds=_KEEP_ALIVE_SECONDS, date_header=False)
        run_loop(
            serve_until_stopped(
                [server],
                [listener],
                running=[_run_service(service)],
                ready=lambda: ready and ready(address),
                stopping=stopping,
            )
        )
    finally:
        listener.close()


class GatewayMount:
    """The gateway inside another service: it answers what is under `/v1/`."""

    def __init__(self, service: GatewayService) -> None:
        self._service = service

    def front(self, app: ASGIApp) -> ASGIApp:
        """An application that takes the gateway's requests and gives the rest to another."""
        gateway = self._service.app

        async def either(scope: Scope, receive: Receive, send: Send) -> None:
            is_ours = scope["type"] == "http" and scope["path"].startswith((_API, _OWN))
            await (gateway if is_ours else app)(scope, receive, send)

        return either

    def running(self) -> AbstractAsyncContextManager[None]:
        """Run the gateway's parts while this is open."""
        return _run_service(self._service)


@asynccontextmanager
async def _run_service(service: GatewayService) -> AsyncIterator[None]:
    async with service.running():
        # Requests leave nothing behind that only the collector can find, so that it need not look so often.
        before = gc.get_threshold()
        gc.set_threshold(_COLLECT_AFTER, *before[1:])
        try:
            yield
        finally:
            gc.set_threshold(*before)
