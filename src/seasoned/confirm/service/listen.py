"""Listens on loopback, or with TLS, and serves until a signal comes."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI
from uvicorn.loops.auto import auto_loop_factory
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from seasoned.confirm.policy import Listen, is_loopback
from seasoned.confirm.service.service import ConfirmService
from seasoned.errors import CannotDo, UsageError
from seasoned.redact.key import Secrecy
from seasoned.redact.redactor import RedactingFormatter

_GRACE_SECONDS = 10
# The default of nginx: agents pause between requests, and a new connection costs a handshake.
_KEEP_ALIVE_SECONDS = 75
# After a restart, all waiting clients connect again at once.
_BACKLOG = 2048
_MOST_HEAD_BYTES = 65_536
_SWITCH_SECONDS = 0.0005


class _Protocol(HttpToolsProtocol):
    """HTTP with a limit for the head of a request, which arrives before the caller is authenticated."""

    # The parser itself buffers headers of any length.
    _head_bytes = 0

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes > _MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The headers of the request are too long.")

    def on_headers_complete(self) -> None:
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)


def host_name(url: str) -> str:
    """The host of an address, or of `//` and a Host header; empty if it is none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".").lower()
    except ValueError:
        return ""


def is_known_host(name: str, own: Iterable[str]) -> bool:
    """Whether a request may ask for this host: any site can point its own name at this machine (DNS rebinding).

    An address cannot be rebound, so it may always be asked for.
    """
    if name in ("localhost", *own):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class ColocatedApp(Protocol):
    """Another application that answers at the same address and runs as long as the service."""

    def front(self, app: Any) -> Any:
        """An application that takes its own requests and passes the rest to `app`."""

    def running(self) -> AbstractAsyncContextManager[object]:
        """Open while requests are answered."""


class _Server(uvicorn.Server):
    """A server that leaves signals to us: waiting clients are answered before it stops."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def check_listen(listen: Listen) -> list[tuple[Any, ...]]:
    """The addresses to bind; UsageError if tokens would be sent unencrypted to other machines."""
    try:
        found = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"The address {listen.host!r} cannot be resolved ({error}): give another one.") from error
    if (listen.tls_certificate is None) != (listen.tls_key is None):
        raise UsageError("The certificate and its key belong together: give both or neither.")
    open_to_others = [entry[4][0] for entry in found if not is_loopback(str(entry[4][0]))]
    if open_to_others and listen.tls_certificate is None and not listen.allow_plain:
        raise UsageError(
            f"{listen.host!r} can be reached from other machines, and tokens would be sent unencrypted: "
            "listen on 127.0.0.1, give a certificate and its key, or use --insecure-listen behind a proxy with TLS."
        )
    return [entry for entry in found if entry[0] in (socket.AF_INET, socket.AF_INET6)]


def bind(listen: Listen) -> socket.socket:
    """The listening TCP socket, on the first address that is free."""
    problems = []
    for family, kind, protocol, _, address in check_listen(listen):
        made = socket.socket(family, kind, protocol)
        try:
            # A restart need not wait until the old connections have left TIME_WAIT.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except OSError as error:
            made.close()
            problems.append(error.strerror or str(error))
            continue
        made.set_inheritable(False)
        return made
    raise CannotDo(
        f"Cannot listen on {listen.host!r}, port {listen.port} ({'; '.join(problems)}): "
        "stop the program that uses it, or give another port."
    )


# A bound socket, its address for callers, and what was asked for.
Listener = tuple[socket.socket, str, Listen]


@contextlib.contextmanager
def listening(listen: Listen) -> Iterator[Listener]:
    """The address of the service, bound; CannotDo or UsageError if it cannot be used."""
    is_tls = listen.tls_certificate is not None
    with bind(listen) as made:
        if is_tls:
            _check_certificate(listen)
        host, port = made.getsockname()[:2]
        yield (made, f"{'https' if is_tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}", listen)


def serve(
    app: FastAPI,
    service: ConfirmService,
    listen: Listen,
    *,
    ready: Callable[[str], object] = lambda address: None,
    stopping: threading.Event | None = None,
    colocated: ColocatedApp | None = None,
) -> None:
    """Serve until a signal comes (or `stopping` is set), then finish current requests and answer waiting clients."""
    with listening(listen) as listener:
        service.base_url = service.base_url or listener[1]
        run_server(
            app if colocated is None else colocated.front(app),
            listener,
            secrecy=service.secrecy,
            running=[app.router.lifespan_context(app), *([] if colocated is None else [colocated.running()])],
            ready=ready,
            stopping=stopping,
            # Waiting clients are answered first: the server waits for them before it stops.
            before_stop=service.waiting.stop,
            is_gateway=colocated is not None,
        )


def run_server(
    app: Any,
    listener: Listener,
    *,
    secrecy: Secrecy,
    running: Sequence[AbstractAsyncContextManager[object]],
    ready: Callable[[str], object],
    stopping: threading.Event | None,
    before_stop: Callable[[], object] = lambda: None,
    is_gateway: bool = False,
) -> None:
    """Serve until a signal comes or `stopping` is set; `running` is open meanwhile."""
    made, address, listen = listener
    _open_log(secrecy)
    if is_gateway:
        # Streams must not wait 5 ms for a thread that computes.
        sys.setswitchinterval(_SWITCH_SECONDS)
    server = _Server(
        uvicorn.Config(
            app,
            http=_Protocol,
            # The loop and the lifespan are opened below.
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            # Forwarded headers could be forged, and nothing here needs them.
            proxy_headers=False,
            server_header=False,
            # A gateway's answers carry the date of the upstream.
            date_header=not is_gateway,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
            ssl_certfile=listen.tls_certificate,
            ssl_keyfile=listen.tls_key,
        )
    )

    def stop() -> None:
        before_stop()
        server.should_exit = True

    async def serve_until_stopped() -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, stop)
        async with contextlib.AsyncExitStack() as stack:
            for one in running:
                await stack.enter_async_context(one)
            serving = asyncio.ensure_future(server.serve(sockets=[made]))
            while not serving.done() and not server.started:
                await asyncio.sleep(0.01)
            ready(address)
            while stopping is not None and not stopping.is_set() and not serving.done():
                await asyncio.sleep(0.02)
            if stopping is not None:
                stop()
            await serving

    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(serve_until_stopped())


def _check_certificate(listen: Listen) -> None:
    """Refuse a certificate that cannot be used, before the service announces itself."""
    assert listen.tls_certificate is not None
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(listen.tls_certificate, listen.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"The certificate {str(listen.tls_certificate)!r} and its key cannot be used ({error}): check both files."
        ) from error


def _open_log(secrecy: Secrecy) -> None:
    """Send the server's errors to our own log, redacted; to the terminal if no log was opened."""
    ours = logging.getLogger("seasoned")
    if not ours.handlers:
        shown = logging.StreamHandler()
        shown.setLevel(logging.WARNING)
        shown.setFormatter(RedactingFormatter(secrecy.redactor()))
        ours.addHandler(shown)
    server = logging.getLogger("uvicorn")
    server.handlers = list(ours.handlers)
    server.setLevel(logging.WARNING)
    server.propagate = False
