"""Where the gateway listens: loopback, or with TLS, by the same rules as the confirmation service, or beside it."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from starlette.types import ASGIApp, Receive, Scope, Send

from seasoned.confirm.policy import Listen
from seasoned.confirm.service.listen import (
    SWITCH_SECONDS,
    address_of,
    allow_many_connections,
    answer,
    bind,
    check_certificate,
    open_log,
    run_loop,
    server_for,
)
from seasoned.gateway.service import Service

_KEEP_ALIVE_SECONDS = 75
_API = "/v1/"
_OWN = "/gateway/"
_COLLECT_AFTER = 50_000


def serve(
    service: Service,
    listen: Listen,
    *,
    ready: Callable[[str], None] | None = None,
    stopping: threading.Event | None = None,
) -> None:
    """Answer until a signal comes (or `stopping` is set), then finish what was begun and write down what is left."""
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
            answer(
                [server],
                [listener],
                running=[_running(service)],
                ready=lambda: ready and ready(address),
                stopping=stopping,
            )
        )
    finally:
        listener.close()


class Beside:
    """The gateway at the address of another service: what is under `/v1/` is its own."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def front(self, app: ASGIApp) -> ASGIApp:
        """An application that takes the gateway's requests and gives the rest to another."""
        gateway = self._service.app

        async def either(scope: Scope, receive: Receive, send: Send) -> None:
            is_ours = scope["type"] == "http" and scope["path"].startswith((_API, _OWN))
            await (gateway if is_ours else app)(scope, receive, send)

        return either

    def running(self) -> AbstractAsyncContextManager[None]:
        """Open while there are answers."""
        return _running(self._service)


@asynccontextmanager
async def _running(service: Service) -> AsyncIterator[None]:
    async with service.running():
        # Requests leave nothing behind that only the collector can find, so that it need not look so often.
        before = gc.get_threshold()
        gc.set_threshold(_COLLECT_AFTER, *before[1:])
        try:
            yield
        finally:
            gc.set_threshold(*before)
