"""Connections to upstreams: HTTP/1.1 over the event loop, kept open and used again, cut when nobody listens any more.

By hand, since a general client takes several times as long for one answer as all the rest of the gateway.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import httptools

from seasoned.gateway.proxy.tunnel import EnvironmentProxy, TunnelRefused, open_tunnel

_MOST_BUFFERED = 256 * 1024
_IDLE_SECONDS = 60.0
_MOST_HEAD_BYTES = 256 * 1024
_NO_BODY = (204, 304)


class ConnectionBroken(Exception):
    """No answer, or one that breaks off; `is_late` where it did not come in time."""

    def __init__(self, why: str, *, is_late: bool = False) -> None:
        super().__init__(why)
        self.is_late = is_late


class UpstreamAddress(NamedTuple):
    """Whom to connect to."""

    host: str
    port: int
    is_tls: bool
    proxy: EnvironmentProxy | None = None
    """Who leads there: with TLS through a tunnel, else as one who takes each request and passes it on."""

    @property
    def forwarder(self) -> EnvironmentProxy | None:
        """Who reads the requests in between."""
        return None if self.is_tls else self.proxy


class UpstreamConnection(asyncio.Protocol):
    """One connection; requests go over it one after the other."""

    def __init__(self, silence_seconds: float) -> None:
        self._silence_seconds = silence_seconds
        self._transport: Any = None
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self._waiter: asyncio.Future[None] | None = None
        self._is_paused = False
        self.is_closed = False
        self.is_used_again = False
        self._reset(has_body=True)

    def _reset(self, *, has_body: bool) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._expects_body = has_body
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self._has_head = False
        self._head_bytes = self._header_bytes = 0
        self._is_complete = False
        self._is_framed = False
        self._is_kept = False
        self._parts: list[bytes] = []
        self._buffered = 0
        self._error: ConnectionBroken | None = None

    @property
    def _is_late(self) -> bool:
        return self._error is not None and self._error.is_late

    # What the caller does.

    async def ask(self, request: bytes, body: bytes, *, has_body: bool) -> None:
        """Send a request and wait for the head of its answer."""
        self._reset(has_body=has_body)
        self._heard_at = self._loop.time()
        self._timer = self._loop.call_later(self._silence_seconds, self._look)
        if len(body) < _MOST_BUFFERED:
            self._transport.write(request + body)
        else:
            self._transport.writelines((request, body))
        while not self._has_head:
            await self._wait()

    async def next_chunk(self) -> bytes | None:
        """What has come of the body since the last one; None at its end."""
        while not self._parts:
            if self._is_complete:
                return None
            await self._wait()
        parts, self._parts, self._buffered = self._parts, [], 0
        if self._is_paused and not self.is_closed:
            self._is_paused = False
            self._transport.resume_reading()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @property
    def can_be_kept(self) -> bool:
        """Whether another request may follow: the answer was read to its end, and the request was taken to its end."""
        is_whole = self._is_complete and not self._parts and self._is_kept
        return is_whole and not self.is_closed and not self._transport.get_write_buffer_size()

    @property
    def was_stale(self) -> bool:
        """Whether it rested, and then ended without a byte of an answer: as a rule it had been closed meanwhile."""
        return self.is_used_again and self.is_closed and not self._head_bytes and not self._is_late

    @property
    def is_quiet(self) -> bool:
        """Whether nothing came while it rested; its end may have come and not yet been told to us."""
        made = None if self._transport.is_closing() else self._transport.get_extra_info("socket")
        if self.is_closed or made is None:
            return False
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(made.fileno(), select.POLLIN)
        return not poll.poll(0)

    def rest(self) -> None:
        """Nothing is asked for the moment."""
        self._stop_timer()
        self.is_used_again = True

    def abort(self) -> None:
        """Cut the connection."""
        self._stop_timer()
        if not self.is_closed:
            self.is_closed = True
            self._transport.abort()

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _look(self) -> None:
        """Whether the other side has been silent for too long; while nobody takes what came, it is not its silence."""
        due = self._heard_at + self._silence_seconds - self._loop.time()
        if due <= 0 and not self._is_paused:
            self._fail(ConnectionBroken("ReadTimeout", is_late=True))
            self.abort()
            return
        self._timer = self._loop.call_later(max(due, 1.0), self._look)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fail(self, error: ConnectionBroken) -> None:
        if not self._is_complete and self._error is None:
            self._error = error
        self._wake()

    # What the event loop does.

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        if self._timer is None:
            # Nobody asked for anything: what it says now would be taken for the next answer.
            self.abort()
            return
        if not self._has_head:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(ConnectionBroken("RemoteProtocolError"))
            self.abort()
            return
        if max(self._header_bytes, 0 if self._has_head else self._head_bytes) > _MOST_HEAD_BYTES:
            self._fail(ConnectionBroken("RemoteProtocolError"))
            self.abort()
            return
        if self._buffered > _MOST_BUFFERED and not self._is_paused and not self._is_complete:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        self._stop_timer()
        if self._has_head and not self._is_framed and exc is None:
            # Such a body ends with its connection.
            self._is_complete = True
        self._fail(ConnectionBroken("ReadError" if self._has_head else "RemoteProtocolError"))

    # What the parser tells.

    def on_header(self, name: bytes, value: bytes) -> None:
        # What comes later are trailers.
        if not self._has_head:
            self._header_bytes += len(name) + len(value)
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self._has_head:
            # A second answer to one request: nobody knows what follows.
            self._is_kept = False
            return
        self.status = self._parser.get_status_code()
        if not 100 <= self.status <= 599:
            raise ConnectionBroken("RemoteProtocolError")
        if self.status < 200:
            # Not yet the answer (RFC 9110, 15.2).
            self.headers = []
            return
        self._has_head = True
        lengths = {value for name, value in self.headers if name == b"content-length"}
        is_chunked = any(name == b"transfer-encoding" for name, _ in self.headers)
        self._is_framed = is_chunked or bool(lengths) or self.status in _NO_BODY
        if not self._expects_body:
            self._is_framed = self._is_complete = True

    def on_body(self, body: bytes) -> None:
        if not self._is_complete:
            self._parts.append(body)
            self._buffered += len(body)

    def on_message_complete(self) -> None:
        if not self._has_head:
            return
        self._is_kept = self._expects_body and not self._is_complete and self._parser.should_keep_alive()
        self._is_complete = True


class ConnectionPool:
    """All connections of a gateway; those that rest are used again, the newest first."""

    def __init__(self, *, most: int, connect_seconds: float, silence_seconds: float) -> None:
        self._connect_seconds = connect_seconds
        self._silence_seconds = silence_seconds
        self._resting: dict[UpstreamAddress, list[tuple[float, UpstreamConnection]]] = {}
        self._free = asyncio.Semaphore(most)
        self._context: ssl.SSLContext | None = None

    async def take(self, place: UpstreamAddress, *, is_new: bool = False) -> UpstreamConnection:
        """A connection to a place, for one request; say `give_back` afterwards. `is_new`: none that rested."""
        try:
            async with asyncio.timeout(self._connect_seconds):
                await self._free.acquire()
        except TimeoutError:
            raise ConnectionBroken("PoolTimeout", is_late=True) from None
        try:
            rested = None if is_new else self._rested(place)
            return rested or await self._connect(place)
        except BaseException:
            self._free.release()
            raise

    def give_back(self, place: UpstreamAddress, connection: UpstreamConnection) -> None:
        """Done with it; it is kept where that can be."""
        self._free.release()
        if connection.can_be_kept:
            connection.rest()
            self._resting.setdefault(place, []).append((time.monotonic(), connection))
        else:
            connection.abort()

    def close(self) -> None:
        for resting in self._resting.values():
            for _, connection in resting:
                connection.abort()
        self._resting.clear()

    def _rested(self, place: UpstreamAddress) -> UpstreamConnection | None:
        resting = self._resting.get(place, [])
        oldest = time.monotonic() - _IDLE_SECONDS
        while resting and (resting[0][0] < oldest or resting[0][1].is_closed):
            resting.pop(0)[1].abort()
        while resting:
            _, connection = resting.pop()
            if connection.is_quiet:
                return connection
            connection.abort()
        return None

    async def _connect(self, place: UpstreamAddress) -> UpstreamConnection:
        loop = asyncio.get_running_loop()
        whom = place.proxy or place
        try:
            async with asyncio.timeout(self._connect_seconds):
                if place.is_tls and place.proxy is not None:
                    return await self._connect_through(place, place.proxy)
                _, made = await loop.create_connection(
                    lambda: UpstreamConnection(self._silence_seconds),
                    whom.host,
                    whom.port,
                    ssl=self._tls() if place.is_tls else None,
                    server_hostname=place.host if place.is_tls else None,
                )
        except TimeoutError:
            raise ConnectionBroken("ConnectTimeout", is_late=True) from None
        except TunnelRefused as error:
            raise ConnectionBroken(str(error)) from error
        except (OSError, ssl.SSLError, UnicodeError) as error:
            raise ConnectionBroken("ConnectError") from error
        return made

    async def _connect_through(self, place: UpstreamAddress, proxy: EnvironmentProxy) -> UpstreamConnection:
        context = self._tls()
        line = await open_tunnel(proxy, place.host, place.port)
        try:
            _, made = await asyncio.get_running_loop().create_connection(
                lambda: UpstreamConnection(self._silence_seconds), sock=line, ssl=context, server_hostname=place.host
            )
        except BaseException:
            line.close()
            raise
        return made

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            import httpx2

            # The same certificates as every other request of ours is checked with.
            self._context = httpx2.create_ssl_context()
            self._context.set_alpn_protocols(["http/1.1"])
        return self._context


def head_of(method: str, target: bytes, host: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> bytes:
    """The head of a request, as it goes over the line."""
    lines = [method.encode("ascii") + b" " + target + b" HTTP/1.1", b"host: " + host]
    lines += [name + b": " + value for name, value in headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(b"content-length: %d" % len(body))
    if any(b"\r" in line or b"\n" in line or b"\0" in line for line in lines):
        raise ConnectionBroken("LocalProtocolError")
    return b"\r\n".join(lines) + b"\r\n\r\n"
