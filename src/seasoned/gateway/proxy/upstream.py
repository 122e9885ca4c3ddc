"""Sends a request to its upstream, through a proxy if the environment names one, and returns the answer unchanged."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx2

from seasoned.errors import CannotDo, UsageError
from seasoned.gateway.accounting import PREFIX
from seasoned.gateway.settings import Api, GatewaySettings, Upstream, key_for, upstream_for

Headers = Sequence[tuple[bytes, bytes]]
# Of one connection and not of the message (RFC 9110, 7.6.1).
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
CREDENTIALS = (b"authorization", b"x-api-key")
_OUR_HEADERS = b"x-seasoned-"
_OUR_KEYS = PREFIX.encode()


def passed_on(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers without those of this connection only; names in lower case, as ASGI requires."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {word.strip().lower() for name, value in lowered if name == b"connection" for word in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in HOP_BY_HOP and name not in named]


def request_headers(
    headers: Headers, *, api: Api, is_ours: bool, key: str | None, is_read: bool
) -> list[tuple[bytes, bytes]]:
    """The headers for the upstream: unchanged, except that an answer that is read must not be compressed.

    `is_ours`: the client used a gateway key, which no upstream may see; it is replaced by the upstream's key.
    """
    left_out = {b"host", b"content-length", b"expect", *(CREDENTIALS if is_ours else ())}
    kept = []
    for name, value in passed_on(headers):
        # A gateway key must not reach an upstream in any header.
        if name in left_out or name.startswith(_OUR_HEADERS) or _OUR_KEYS in value:
            continue
        if name == b"accept-encoding":
            value = b"identity" if is_read else value
        kept.append((name, value))
    if is_ours and key is not None:
        kept.append(
            (b"x-api-key", key.encode()) if api == "anthropic" else (b"authorization", b"Bearer " + key.encode())
        )
    return kept


# A proxy, which may run elsewhere, would look for this machine in the wrong place.
_THIS_MACHINE = ("localhost", "*.localhost", "127.0.0.1", "[::1]")
_IDLE_SECONDS = 60.0


class UpstreamUnreachable(CannotDo):
    """The upstream gave no answer; `status` is what the client gets."""

    def __init__(self, name: str, error: Exception) -> None:
        # No part of the request, the answer or a proxy's password.
        why = f"the proxy answered {str(error)[:3]}" if isinstance(error, httpx2.ProxyError) else type(error).__name__
        is_late = isinstance(error, httpx2.TimeoutException)
        super().__init__(
            f"The upstream {name!r} {'did not answer in time' if is_late else 'cannot be reached'} ({why})."
        )
        self.status = 504 if is_late else 502


class UpstreamReply:
    """An answer whose status and headers have arrived; the body follows."""

    def __init__(self, response: httpx2.Response, name: str) -> None:
        self._response = response
        self._chunks = response.aiter_raw()
        self._name = name
        self.status = response.status_code
        self.headers = passed_on(response.headers.raw)

    async def next_chunk(self) -> bytes | None:
        """The part of the body that has arrived, still encoded as the upstream sent it; None at its end."""
        try:
            return await anext(self._chunks, None)
        except httpx2.HTTPError as error:
            raise UpstreamUnreachable(self._name, error) from None

    async def close(self) -> None:
        """Release the connection. An answer that was not read to its end is cancelled."""
        await self._response.aclose()


class Upstreams:
    """All upstreams with their keys, and one connection pool."""

    def __init__(self, settings: GatewaySettings, *, home: Path, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._keys = {one.name: key_for(one, home, environment) for one in settings.upstream}
        self._addresses = {one.name: httpx2.URL(one.origin) for one in settings.upstream}
        # Every request at this level has its address, whose query may hold a key.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        try:
            self._client = httpx2.AsyncClient(
                mounts={f"all://{host}": None for host in _THIS_MACHINE},
                limits=httpx2.Limits(max_connections=settings.connections, keepalive_expiry=_IDLE_SECONDS),
                # No limit for the whole answer: models may think for long. Connecting and silence have limits.
                timeout=httpx2.Timeout(
                    settings.silence_seconds, connect=settings.connect_seconds, pool=settings.connect_seconds
                ),
            )
        # Its text may hold the proxy's password.
        except (ValueError, ImportError, httpx2.InvalidURL):
            raise UsageError(
                "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names a proxy that cannot be used. Write http://host:port or "
                "http://user:password@host:port, or name the upstream's host in NO_PROXY to connect directly."
            ) from None

    async def close(self) -> None:
        await self._client.aclose()

    def choose(self, api: Api, model: str | None) -> Upstream:
        """The upstream for a request."""
        return upstream_for(self._settings.upstream, api, model)

    def own_key(self, upstream: Upstream) -> str | None:
        """The key that the gateway itself has for an upstream."""
        return self._keys[upstream.name]

    async def send(
        self, upstream: Upstream, method: str, target: bytes, headers: Headers, body: bytes
    ) -> UpstreamReply:
        """Send a request once, as it is; raises UpstreamUnreachable if no answer begins."""
        address = self._addresses[upstream.name]
        try:
            # Made by hand, because the client's own requests have more headers; a target that is given is not changed.
            request = httpx2.Request(
                method,
                address,
                headers=list(headers),
                content=body or None,
                extensions={"target": address.raw_path.rstrip(b"/") + target},
            )
            response = await self._client.send(request, stream=True)
        except (httpx2.HTTPError, ValueError) as error:
            raise UpstreamUnreachable(upstream.name, error) from None
        # It changes the protocol, or its length can be read in two ways.
        if response.status_code < 200 or {"transfer-encoding", "content-length"} <= response.headers.keys():
            await response.aclose()
            raise UpstreamUnreachable(upstream.name, httpx2.RemoteProtocolError("not an answer"))
        return UpstreamReply(response, upstream.name)
