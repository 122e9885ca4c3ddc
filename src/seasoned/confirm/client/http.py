"""The line to a confirmation service: HTTP over TCP, TLS or a Unix socket, on the standard library alone."""

from __future__ import annotations

import http.client
import socket
from threading import Lock
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from seasoned.errors import UsageError

MOST_BYTES = 4_000_000
"""An answer that is longer is none of ours."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PLAIN_ANYWHERE = "http+insecure"


class CallFailed(Exception):
    """No answer, or none that can be understood."""


class ServiceAddress(msgspec.Struct, frozen=True):
    """Where a service listens."""

    host: str
    port: int | None = None
    is_tls: bool = False
    socket_path: str | None = None
    prefix: str = ""
    """What its paths begin with, where it stands behind a proxy."""


def parse_address(url: str) -> ServiceAddress:
    """The place that an address names; it must say so where a token would go unprotected to another machine."""
    parts = urlsplit(url.strip())
    if parts.scheme == "unix":
        path = parts.netloc + parts.path
        if not path:
            raise UsageError(f"{url!r} names no socket: write unix:/path/of/the.sock.")
        return ServiceAddress("localhost", socket_path=path)
    host, port = _host_and_port(url, parts)
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise UsageError(
            f"{url!r} would send the token unprotected, and anybody on the way could forge an approval: use https://,"
            f" or say {_PLAIN_ANYWHERE}:// if the network between is your own."
        )
    if parts.scheme not in ("http", "https", _PLAIN_ANYWHERE):
        raise UsageError(f"{url!r} is no address of a confirmation service: use http://, https:// or unix:/path.")
    return ServiceAddress(host, port, is_tls=parts.scheme == "https", prefix=parts.path.rstrip("/"))


def _host_and_port(url: str, parts: SplitResult) -> tuple[str, int | None]:
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{url!r} is no address: {error}.") from error
    if not host or parts.username is not None or parts.query or parts.fragment:
        raise UsageError(f"{url!r} is no address of a confirmation service: write http://127.0.0.1:7327 or the like.")
    return host, port


class CancellableCall:
    """What is under way: another thread may cut it, and whoever waits on it goes on at once."""

    def __init__(self) -> None:
        self.is_cut = False
        self._connection: http.client.HTTPConnection | None = None
        self._lock = Lock()

    def hold(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._connection = connection
        if self.is_cut:
            raise CallFailed("the call was given up")

    def cut(self) -> None:
        """End the call from another thread."""
        with self._lock:
            self.is_cut = True
            # The attribute vanishes when the answer has come, in the thread that waits for it.
            underneath = getattr(self._connection, "sock", None)
        if underneath is not None:
            try:
                underneath.shutdown(socket.SHUT_RDWR)
            except OSError:
                return


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _connection(place: ServiceAddress, timeout: float) -> http.client.HTTPConnection:
    if place.socket_path is not None:
        if not hasattr(socket, "AF_UNIX"):
            raise UsageError("This system has no Unix sockets: use an address that begins with http:// or https://.")
        return _SocketConnection(place.socket_path, timeout)
    if place.is_tls:
        # Most services are on loopback, and ssl takes long to import.
        import ssl

        context = ssl.create_default_context()
        return http.client.HTTPSConnection(place.host, place.port, timeout=timeout, context=context)
    return http.client.HTTPConnection(place.host, place.port, timeout=timeout)


class ServiceReply(msgspec.Struct, frozen=True):
    """What the service answered."""

    status: int
    body: dict[str, Any]


def call(
    place: ServiceAddress,
    method: str,
    path: str,
    *,
    token: str | None,
    body: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    timeout: float = 30.0,
    line: CancellableCall | None = None,
) -> ServiceReply:
    """One request and its answer. No redirect is followed: the token goes to the place named, and no further."""
    data = None if body is None else msgspec.json.encode(body)
    sent = {"Accept": "application/json", **(headers or {})}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    if data is not None:
        sent["Content-Type"] = "application/json"
    connection = _connection(place, timeout)
    line = line or CancellableCall()
    try:
        line.hold(connection)
        connection.request(method, place.prefix + path, body=data, headers=sent)
        # Cut before there was a connection to cut.
        line.hold(connection)
        answer = connection.getresponse()
        content = answer.read(MOST_BYTES + 1)
        status = answer.status
    except (OSError, http.client.HTTPException) as error:
        raise CallFailed(f"{type(error).__name__}: {error}".rstrip(": ")) from error
    finally:
        connection.close()
    return ServiceReply(status, _object(content, status))


def _object(content: bytes, status: int) -> dict[str, Any]:
    if len(content) > MOST_BYTES:
        raise CallFailed(f"an answer of more than {MOST_BYTES:,} bytes (HTTP {status})")
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CallFailed(f"an answer that is no JSON (HTTP {status})") from error
    if not isinstance(found, dict):
        raise CallFailed(f"an answer that is no JSON object (HTTP {status})")
    return found
