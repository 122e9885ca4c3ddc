"""Passes a request on to its upstream and brings the answer back as it comes, byte by byte."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from seasoned.errors import CannotDo
from seasoned.gateway.proxy.connection import (
    ConnectionBroken,
    ConnectionPool,
    UpstreamAddress,
    UpstreamConnection,
    head_of,
)
from seasoned.gateway.proxy.headers import Headers, passed_on
from seasoned.gateway.proxy.tunnel import PASSWORD_WANTED, EnvironmentProxy, proxy_for, refusal
from seasoned.gateway.settings import Api, GatewaySettings, Upstream, key_for, upstream_for

_IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")
"""What comes to the same when it is done twice (RFC 9110, 9.2.2); a model that is asked twice is paid twice."""
_log = logging.getLogger("seasoned.gateway")


class UpstreamUnreachable(CannotDo):
    """The upstream gave no answer; `status` is what the client is told."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class UpstreamReply:
    """An answer on its way: status and headers are there, the body comes."""

    def __init__(self, pool: ConnectionPool, place: UpstreamAddress, connection: UpstreamConnection, name: str) -> None:
        self._pool = pool
        self._place = place
        self._connection = connection
        self._name = name
        self.status = connection.status
        self.headers = passed_on(connection.headers)

    async def next_chunk(self) -> bytes | None:
        """What has come of the body, still encoded where the upstream encoded it; None at its end."""
        try:
            return await self._connection.next_chunk()
        except ConnectionBroken as error:
            raise _unreachable(self._name, error) from error

    def close(self) -> None:
        """Let go of the connection; an answer that was not read to its end is cancelled."""
        self._pool.give_back(self._place, self._connection)


class Upstreams:
    """Every upstream with its key, and one pool of connections for all."""

    def __init__(self, settings: GatewaySettings, *, home: Path, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._keys = {one.name: key_for(one, home, environment) for one in settings.upstream}
        self._ways = {one.name: _way(one, environment) for one in settings.upstream}
        self._pool: ConnectionPool | None = None

    def open(self) -> None:
        """Make the pool, in the event loop that will use it."""
        for name, (place, _, _) in self._ways.items():
            if place.proxy is not None:
                _log.info("the upstream %r is reached through %r", name, place.proxy)
        self._pool = ConnectionPool(
            most=self._settings.connections,
            connect_seconds=self._settings.connect_seconds,
            silence_seconds=self._settings.silence_seconds,
        )

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    def choose(self, api: Api, model: str | None) -> Upstream:
        """Who gets a request."""
        return upstream_for(self._settings.upstream, api, model)

    def speaking(self, api: Api) -> list[Upstream]:
        """Who speaks an API; the one that gets what names no model comes first."""
        first = self.choose(api, None)
        return [first, *[one for one in self._settings.upstream if one.api == api and one is not first]]

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
    ) -> UpstreamReply:
        """Pass a request on; raises Unreachable where no answer begins."""
        assert self._pool is not None
        place, host, prefix = self._ways[upstream.name]
        forwarder = place.forwarder
        if forwarder is not None and forwarder.credentials is not None:
            headers = [*headers, (b"proxy-authorization", forwarder.credentials)]
        try:
            head = head_of(method, prefix + target, host, headers, body)
            connection = await self._asked(place, method, head, body, may_repeat=_may_repeat(method, headers))
            if forwarder is not None and connection.status == PASSWORD_WANTED:
                # The proxy asks us and not the client, who could do nothing about it.
                self._pool.give_back(place, connection)
                raise ConnectionBroken(refusal(PASSWORD_WANTED, forwarder))
        except ConnectionBroken as error:
            raise _unreachable(upstream.name, error, place.proxy) from error
        return UpstreamReply(self._pool, place, connection, upstream.name)

    async def _asked(
        self, place: UpstreamAddress, method: str, head: bytes, body: bytes, *, may_repeat: bool
    ) -> UpstreamConnection:
        """A connection with the head of the answer; one that had been closed meanwhile is followed by a new one."""
        assert self._pool is not None
        connection = await self._pool.take(place)
        while True:
            try:
                await connection.ask(head, body, has_body=method != "HEAD")
            except ConnectionBroken:
                self._pool.give_back(place, connection)
                if not (connection.was_stale and may_repeat):
                    raise
            except BaseException:
                self._pool.give_back(place, connection)
                raise
            else:
                return connection
            connection = await self._pool.take(place, is_new=True)


def _may_repeat(method: str, headers: Headers) -> bool:
    """Whether a request does no harm when it is done twice: by its method, or because the client says so."""
    return method in _IDEMPOTENT or any(name == b"idempotency-key" for name, _ in headers)


def _way(upstream: Upstream, environment: Mapping[str, str]) -> tuple[UpstreamAddress, bytes, bytes]:
    """Whom to connect to, how it is called there, and what stands before every path."""
    parts = urlsplit(upstream.origin)
    is_tls = parts.scheme == "https"
    name, port = parts.hostname or "", parts.port or (443 if is_tls else 80)
    place = UpstreamAddress(name, port, is_tls, proxy_for(name, port, is_tls=is_tls, environment=environment))
    host = parts.netloc.encode("ascii" if parts.netloc.isascii() else "idna")
    prefix = quote(parts.path, safe="/%:@!$&'()*+,;=~").encode()
    # Whoever passes a request on must be told to whom (RFC 9112, 3.2.2).
    return place, host, prefix if place.forwarder is None else b"http://" + host + prefix


def _unreachable(name: str, error: ConnectionBroken, proxy: EnvironmentProxy | None = None) -> UpstreamUnreachable:
    through = "" if proxy is None else " through its proxy"
    if error.is_late:
        return UpstreamUnreachable(f"The upstream {name!r} did not answer in time{through} ({error}).", status=504)
    return UpstreamUnreachable(f"The upstream {name!r} cannot be reached{through} ({error}).", status=502)
