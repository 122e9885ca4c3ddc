"""HTTP to a confirmation service over TCP, TLS or a Unix socket, with the standard library alone.

Hooks and agents start often and may have nothing else installed.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from seasoned.errors import UsageError

# Bounds what a wrong address can send; one request has at most 1 MB.
MOST_BYTES = 4_000_000
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Has to be written out by a person who knows the network.
_PLAIN_ANYWHERE = "http+insecure"
_T = TypeVar("_T")


class CallFailed(Exception):
    """No answer, or one that is not a JSON object."""


class ServiceAddress(msgspec.Struct, frozen=True):
    """Where a service listens; `prefix` is what its paths begin with behind a proxy."""

    host: str
    port: int | None = None
    is_tls: bool = False
    socket_path: str | None = None
    prefix: str = ""
    ca_file: str | None = None  # the CA that signed its certificate, if that is not one that this system trusts


def parse_address(url: str) -> ServiceAddress:
    """The address in a URL. Plain http to another machine is refused unless the scheme says so."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{url!r} is not a valid address: {error}.") from error
    if parts.scheme == "unix":
        # unix:/path has an empty netloc; unix://path has its first part there.
        path = parts.netloc + parts.path
        if not path:
            raise UsageError(f"{url!r} does not name a socket: write unix:/path/to/the.sock.")
        return ServiceAddress("localhost", socket_path=path)
    is_known = parts.scheme in ("http", "https", _PLAIN_ANYWHERE)
    if not is_known or not host or parts.username is not None or parts.query or parts.fragment:
        raise UsageError(f"{url!r} is not the address of a server: use http://127.0.0.1:7327, https://… or unix:/path.")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise UsageError(
            f"{url!r} would send the token unencrypted, and others on the network could forge an approval: use"
            f" https://, or {_PLAIN_ANYWHERE}:// if the network is your own."
        )
    return ServiceAddress(host, port, is_tls=parts.scheme == "https", prefix=parts.path.rstrip("/"))


class CancellableCall:
    """Calls that another thread can cancel: a waiting one then returns at once."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._connection: http.client.HTTPConnection | None = None
        self._lock = Lock()

    def hold(self, connection: http.client.HTTPConnection) -> None:
        """Remember the connection in use; CallFailed if the call was cancelled."""
        with self._lock:
            self._connection = connection
        if self.is_cancelled:
            raise CallFailed("the call was cancelled")

    def cancel(self) -> None:
        """End the call from another thread."""
        with self._lock:
            self.is_cancelled = True
            # The waiting thread removes the socket when the answer has come.
            underneath = getattr(self._connection, "sock", None)
        if underneath is not None:
            try:
                underneath.shutdown(socket.SHUT_RDWR)
            except OSError:
                return


async def in_thread(work: Callable[[CancellableCall], _T]) -> _T:
    """Run blocking calls in a thread. Cancelling the task cancels the call, so no thread is left behind."""
    call = CancellableCall()
    # A separate thread: a wait can take an hour, and the program's shared threads are few.
    thread = ThreadPoolExecutor(1, thread_name_prefix="seasoned-confirm")
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, copy_context().run, work, call)
    except asyncio.CancelledError:
        call.cancel()
        raise
    finally:
        thread.shutdown(wait=False)


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connect(address: ServiceAddress, timeout: float) -> http.client.HTTPConnection:
    if address.socket_path is not None:
        if not hasattr(socket, "AF_UNIX"):
            raise UsageError("This system has no Unix sockets: use an http:// or https:// address.")
        return _UnixConnection(address.socket_path, timeout)
    if address.is_tls:
        # Most services are on loopback, and ssl takes long to import.
        import ssl

        try:
            context = ssl.create_default_context(cafile=address.ca_file)
        except OSError as error:
            raise UsageError(f"The certificate of the CA in {address.ca_file!r} cannot be read: {error}.") from error
        return http.client.HTTPSConnection(address.host, address.port, timeout=timeout, context=context)
    return http.client.HTTPConnection(address.host, address.port, timeout=timeout)


def send(
    address: ServiceAddress,
    method: str,
    path: str,
    *,
    token: str | None,
    body: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    timeout: float = 30.0,
    call: CancellableCall | None = None,
) -> tuple[int, dict[str, Any]]:
    """Status and JSON object of the answer. Redirects are not followed: the token goes to this address only."""
    data = None if body is None else msgspec.json.encode(body)
    sent = {"Accept": "application/json", **(headers or {})}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    if data is not None:
        sent["Content-Type"] = "application/json"
    connection = _connect(address, timeout)
    call = call or CancellableCall()
    try:
        call.hold(connection)
        connection.request(method, address.prefix + path, body=data, headers=sent)
        # Once more: it may have been cancelled before there was a socket to shut down.
        call.hold(connection)
        answer = connection.getresponse()
        content, status = answer.read(MOST_BYTES + 1), answer.status
    except (OSError, http.client.HTTPException) as error:
        raise CallFailed(f"{type(error).__name__}: {error}".rstrip(": ")) from error
    finally:
        connection.close()
    if len(content) > MOST_BYTES:
        raise CallFailed(f"an answer of more than {MOST_BYTES:,} bytes (HTTP {status})")
    try:
        return status, msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CallFailed(f"an answer that is not a JSON object (HTTP {status})") from error
