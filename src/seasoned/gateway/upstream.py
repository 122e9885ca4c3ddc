"""Passes a request on to its upstream and brings the answer back as it comes, byte by byte."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import httpx2

from seasoned.errors import CannotDo
from seasoned.gateway.setting import Api, Settings, Upstream, key_for, upstream_for

Headers = Sequence[tuple[bytes, bytes]]
_KEEP_ALIVE_SECONDS = 60
HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
"""Of one connection and not of the message (RFC 9110, 7.6.1)."""
CREDENTIALS = (b"authorization", b"x-api-key")
_OUR_HEADERS = b"x-seasoned-"
_READABLE = ("gzip", "deflate", "identity")


class Unreachable(CannotDo):
    """The upstream gave no answer; `status` is what the client is told."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class Reply:
    """An answer on its way: status and headers are there, the body comes."""

    def __init__(self, response: httpx2.Response, name: str) -> None:
        self._response = response
        self._name = name
        self.status = response.status_code
        self.headers = passed_on(response.headers.raw)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes over the line, still encoded where the upstream encoded it."""
        stream = self._response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        try:
            async for chunk in stream:
                yield chunk
        except httpx2.TransportError as error:
            raise _unreachable(self._name, error) from error

    async def close(self) -> None:
        """Let go of the connection; an answer that was not read to its end is cancelled."""
        await self._response.aclose()


class Upstreams:
    """Every upstream with its key, and one pool of connections for all."""

    def __init__(self, settings: Settings, *, home: Path, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._keys = {one.name: key_for(one, home, environment) for one in settings.upstream}
        self._timeouts = {
            "connect": settings.connect_seconds,
            "read": settings.silence_seconds,
            "write": settings.silence_seconds,
            "pool": settings.connect_seconds,
        }
        self._transport: httpx2.AsyncHTTPTransport | None = None

    def open(self) -> None:
        """Make the pool, in the event loop that will use it."""
        limits = httpx2.Limits(
            max_connections=self._settings.connections,
            max_keepalive_connections=self._settings.connections,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
        )
        self._transport = httpx2.AsyncHTTPTransport(limits=limits)

    async def close(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()

    def choose(self, api: Api, model: str | None) -> Upstream:
        """Who gets a request."""
        return upstream_for(self._settings.upstream, api, model)

    def own_key(self, upstream: Upstream) -> str | None:
        """The key that the gateway itself has for an upstream."""
        return self._keys[upstream.name]

    async def send(
        self,
        upstream: Upstream,
        method: str,
        target: bytes,
        headers: Headers,
        body: bytes,
    ) -> Reply:
        """Pass a request on; raises Unreachable where no answer begins."""
        assert self._transport is not None
        # The transport and not a client: that would keep cookies, follow redirects and add headers of its own.
        request = httpx2.Request(
            method,
            upstream.origin + target.decode("ascii", "replace"),
            headers=headers,
            content=body or None,
            extensions={"timeout": self._timeouts},
        )
        try:
            return Reply(await self._transport.handle_async_request(request), upstream.name)
        except httpx2.TransportError as error:
            raise _unreachable(upstream.name, error) from error


def passed_on(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers without those of this one connection; names in small letters, as ASGI wants them."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {word.strip().lower() for name, value in lowered if name == b"connection" for word in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in HOP_BY_HOP and name not in named]


def request_headers(
    headers: Headers, *, api: Api, is_ours: bool, key: str | None, is_streamed: bool
) -> list[tuple[bytes, bytes]]:
    """What the upstream is sent: all as it came, but in an encoding that we can read.

    `is_ours`: the client came with a key of the gateway, which no upstream may see; it gets its own key instead.
    """
    left_out = {b"host", b"content-length", *(CREDENTIALS if is_ours else ())}
    kept = []
    for name, value in passed_on(headers):
        if name in left_out or name.startswith(_OUR_HEADERS):
            continue
        if name == b"accept-encoding":
            value = b"identity" if is_streamed else _readable(value)
        kept.append((name, value))
    if is_ours and key is not None:
        kept.append(
            (b"x-api-key", key.encode()) if api == "anthropic" else (b"authorization", b"Bearer " + key.encode())
        )
    return kept


def _readable(value: bytes) -> bytes:
    """The encodings that the standard library can undo: what cannot be read cannot be accounted for."""
    words = [word.strip() for word in value.decode("latin-1").split(",")]
    kept = [word for word in words if word.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept).encode("latin-1") or b"identity"


def _unreachable(name: str, error: httpx2.TransportError) -> Unreachable:
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable(f"The upstream {name!r} did not answer in time ({type(error).__name__}).", status=504)
    return Unreachable(f"The upstream {name!r} cannot be reached ({type(error).__name__}).", status=502)
