"""Where the gateway listens: loopback, or with TLS, by the same rules as the confirmation service."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import threading
from collections.abc import Callable

import uvicorn

from seasoned.confirm.policy import Listen
from seasoned.confirm.service.listen import Server, address_of, bind, check_certificate, open_log
from seasoned.gateway.service import Service

_GRACE_SECONDS = 10
_KEEP_ALIVE_SECONDS = 75
_BACKLOG = 2048
_SWITCH_SECONDS = 0.0005


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
        # The clerk computes in a thread; the event loop must not wait long for its turn.
        sys.setswitchinterval(_SWITCH_SECONDS)
        address = address_of(listener, tls=tls)
        server = Server(_config(service, listen))
        asyncio.run(_serve(service, server, listener, lambda: ready and ready(address), stopping))
    finally:
        listener.close()


async def _serve(
    service: Service,
    server: Server,
    listener: socket.socket,
    ready: Callable[[], object],
    stopping: threading.Event | None,
) -> None:
    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
    async with service.running():
        watching = asyncio.ensure_future(_watch(server, ready, stopping, stop))
        try:
            await server.serve(sockets=[listener])
        finally:
            watching.cancel()


async def _watch(
    server: Server, ready: Callable[[], object], stopping: threading.Event | None, stop: Callable[[], None]
) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    ready()
    while stopping is not None:
        if stopping.is_set():
            stop()
            return
        await asyncio.sleep(0.02)


def _config(service: Service, listen: Listen) -> uvicorn.Config:
    return uvicorn.Config(
        service.app,
        http="httptools",
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        # Headers of an answer are the upstream's.
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ssl_certfile=listen.tls_certificate,
        ssl_keyfile=listen.tls_key,
    )
