"""The gateway service: puts the parts together, starts and stops them, and listens."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from seasoned.config import Config
from seasoned.confirm.policy import Listen
from seasoned.confirm.service.listen import listening, run_server
from seasoned.gateway.accounting import FOLDER, Budgets, KeyCache, UsageJournal, pricing
from seasoned.gateway.provision import Provisioner
from seasoned.gateway.proxy.app import Gateway
from seasoned.gateway.proxy.upstream import Upstreams
from seasoned.gateway.record.conversations import ConversationIndex
from seasoned.gateway.record.recorder import GatewayRecorder, StoreCache
from seasoned.gateway.settings import Failures, GatewaySettings
from seasoned.redact.key import Secrecy, load_key


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
        begins = config.warm.at("gateway")
        self.settings = settings
        self._upstreams = Upstreams(settings, home=config.home, environment=environment)
        cache, journal = StoreCache(KeyCache(), Budgets(), ConversationIndex()), UsageJournal(config.home / FOLDER)
        self._provisioner = (
            Provisioner(config, begins, self.secrecy, clock=clock) if settings.warm and begins.enabled else None
        )
        self.recorder = GatewayRecorder(
            config,
            secrecy=self.secrecy,
            journal=journal,
            failures=self.failures,
            price=pricing(settings),
            cache=cache,
            records=settings.record,
            clock=clock,
        )
        self.app = Gateway(
            settings,
            upstreams=self._upstreams,
            cache=cache,
            journal=journal,
            failures=self.failures,
            recording=self.recorder,
            warming=self._provisioner,
            clock=clock,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run all parts, and record what is left at the end."""
        self.recorder.start(needs_keys=self.settings.mode == "keys")
        if self._provisioner is not None:
            self._provisioner.start()
        try:
            yield
        finally:
            # The recorder stops last, because open requests still give it their exchanges.
            await self._upstreams.close()
            if self._provisioner is not None:
                self._provisioner.close()
            self.recorder.stop()


_API = "/v1/"
_OWN = "/gateway/"


def serve(
    service: GatewayService,
    listen: Listen,
    *,
    ready: Callable[[str], None] | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """Serve until a signal arrives or `stopping` is set, then finish open requests and record what is left."""
    with listening(listen) as listener:
        run_server(
            service.app,
            listener,
            secrecy=service.secrecy,
            running=[service.running()],
            ready=lambda address: ready and ready(address),
            stopping=stopping,
            is_gateway=True,
        )


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
        return self._service.running()
