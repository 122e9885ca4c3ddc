"""Sends a request to its upstream, through a proxy if the environment names one, and returns the answer unchanged."""

from __future__ import annotations

import io
import ipaddress
import logging
import select
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_to_bytes, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined] # the stubs leave it out
from weakref import WeakSet

import aiohttp
import msgspec
from multidict import CIMultiDict
from yarl import URL

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
_READABLE = ("gzip", "deflate", "identity")


def passed_on(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The headers without those of this connection only; names in lower case, as ASGI requires."""
    lowered = [(name.lower(), value) for name, value in headers]
    named = {word.strip().lower() for name, value in lowered if name == b"connection" for word in value.split(b",")}
    return [(name, value) for name, value in lowered if name not in HOP_BY_HOP and name not in named]


def request_headers(
    headers: Headers, *, api: Api, is_ours: bool, key: str | None, is_streamed: bool
) -> list[tuple[bytes, bytes]]:
    """The headers for the upstream: unchanged, except that the answer must come in an encoding we can read.

    `is_ours`: the client used a gateway key, which no upstream may see; it is replaced by the upstream's key.
    """
    left_out = {b"host", b"content-length", b"expect", *(CREDENTIALS if is_ours else ())}
    kept = []
    for name, value in passed_on(headers):
        # A gateway key must not reach an upstream in any header.
        if name in left_out or name.startswith(_OUR_HEADERS) or _OUR_KEYS in value:
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
    """Keep only encodings that the standard library can undo: what cannot be read cannot be accounted for."""
    words = [word.strip() for word in value.decode("latin-1").split(",")]
    kept = [word for word in words if word.partition(";")[0].strip().lower() in _READABLE]
    return ", ".join(kept).encode("latin-1") or b"identity"


_OTHER_SCHEMES = ("https", "socks", "socks4", "socks4a", "socks5", "socks5h")


class EnvironmentProxy(msgspec.Struct, frozen=True):
    """An HTTP proxy between the gateway and an upstream."""

    host: str
    port: int
    # The value of `Proxy-Authorization`; it must never appear in a log, an error or a repr.
    credentials: bytes | None = None

    @property
    def url(self) -> str:
        return f"http://{_host_and_port(self.host, self.port)}"

    def __repr__(self) -> str:
        return f"Proxy({_host_and_port(self.host, self.port)!r})"


def proxy_for(host: str, port: int, *, is_tls: bool, environment: Mapping[str, str]) -> EnvironmentProxy | None:
    """The proxy for a host; None to connect directly, as always to this machine itself."""
    for name in ("https_proxy" if is_tls else "http_proxy", "all_proxy"):
        variable, text = _variable(environment, name)
        if text:
            is_direct = _is_this_machine(host) or _is_excluded(host, port, environment)
            return None if is_direct else _parse_proxy(variable, text, host)
    return None


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """A variable's name as it is set, and its value. The lower-case spelling wins, even when it is empty."""
    if name in environment:
        return name, environment[name].strip()
    spelled = [one for one in sorted(environment) if one.lower() == name and environment[one].strip()]
    return (spelled[0], environment[spelled[0]].strip()) if spelled else (name.upper(), "")


def _is_this_machine(host: str) -> bool:
    """A proxy, which may run elsewhere, would look for this machine in the wrong place."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_loopback or address.is_unspecified


def _is_excluded(host: str, port: int, environment: Mapping[str, str]) -> bool:
    """Whether NO_PROXY names the host, with or without its port."""
    _, listed = _variable(environment, "no_proxy")
    return any(proxy_bypass_environment(one, proxies={"no": listed}) for one in (host, _host_and_port(host, port)))


def _parse_proxy(variable: str, text: str, host: str) -> EnvironmentProxy:
    """Read a proxy's address. It may contain a password, so no error repeats it."""
    scheme = text.partition("://")[0].lower() if "://" in text else "http"
    if scheme in _OTHER_SCHEMES:
        raise UsageError(
            f"{variable} names a {scheme}:// proxy, but the gateway supports only http:// proxies. "
            f"Set it to an http:// proxy, or add {host!r} to NO_PROXY to connect directly."
        )
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = 80 if parts.port is None else parts.port
        is_valid = scheme == "http" and bool(parts.hostname) and port > 0
        user, password = unquote_to_bytes(parts.username or ""), unquote_to_bytes(parts.password or "")
    except ValueError:
        is_valid = False
    # What looks like a path may be the rest of a password that was not percent-encoded.
    if not is_valid or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError(
            f"{variable} is not a valid proxy address. Write http://host:port or http://user:password@host:port, with "
            f"/ # ? @ in the password as %2F %23 %3F %40; or add {host!r} to NO_PROXY to connect directly."
        )
    credentials = b"Basic " + b64encode(user + b":" + password) if user or password else None
    return EnvironmentProxy(parts.hostname or "", port, credentials)


# Requests that may be sent twice without harm (RFC 9110, 9.2.2). A model that is asked twice is paid twice.
_IDEMPOTENT = ("GET", "HEAD", "OPTIONS", "PUT", "DELETE")
_AUTOMATIC_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_IDLE_SECONDS = 60.0
_BUFFERED_BYTES = 128 * 1024
_HEADER_BYTES = 64 * 1024
_LARGE_BYTES = 1024 * 1024
_PROXY_AUTHENTICATION_REQUIRED = 407
_is_reused: ContextVar[bool] = ContextVar("seasoned_gateway_is_reused", default=False)
_log = logging.getLogger("seasoned.gateway")


class UpstreamUnreachable(CannotDo):
    """The upstream gave no answer; `status` is what the client gets."""

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


class _AnswerRefused(Exception):
    """An answer that must not be passed on; the message is for the client."""


class _UpstreamRoute(NamedTuple):
    """How an upstream is reached: the address before every path, and the proxy in between."""

    base_url: str
    is_tls: bool
    proxy: EnvironmentProxy | None

    @property
    def forwarding_proxy(self) -> EnvironmentProxy | None:
        """A proxy that reads the requests; with TLS it only sees a tunnel."""
        return None if self.is_tls else self.proxy


class UpstreamReply:
    """An answer whose status and headers have arrived; the body follows."""

    def __init__(self, response: aiohttp.ClientResponse, name: str) -> None:
        self._response = response
        self._name = name
        self.status = response.status
        self.headers = passed_on(response.raw_headers)

    async def next_chunk(self) -> bytes | None:
        """The part of the body that has arrived, still encoded as the upstream sent it; None at its end."""
        try:
            return await self._response.content.readany() or None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreachable(self._name, error) from error

    def close(self) -> None:
        """Release the connection. An answer that was not read to its end is cancelled."""
        self._response.close()


class Upstreams:
    """All upstreams with their keys, and one connection pool."""

    def __init__(self, settings: GatewaySettings, *, home: Path, environment: Mapping[str, str]) -> None:
        self._settings = settings
        self._keys = {one.name: key_for(one, home, environment) for one in settings.upstream}
        self._routes = {one.name: _route(one, environment) for one in settings.upstream}
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Make the connection pool, in the event loop that will use it."""
        for name, route in self._routes.items():
            if route.proxy is not None:
                _log.info("the upstream %r is reached through %r", name, route.proxy)
        self._session = aiohttp.ClientSession(
            connector=_CheckedConnector(
                limit=self._settings.connections,
                keepalive_timeout=_IDLE_SECONDS,
                ssl=_tls_context() if any(route.is_tls for route in self._routes.values()) else True,
            ),
            # Nothing is added, remembered, followed or unpacked: the client sees what the upstream sent.
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=_AUTOMATIC_HEADERS,
            trust_env=False,
            read_bufsize=_BUFFERED_BYTES,
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
            # No limit for the whole answer: models may think for long. The limits are for connecting and for silence.
            timeout=aiohttp.ClientTimeout(
                total=None, connect=self._settings.connect_seconds, sock_read=self._settings.silence_seconds
            ),
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def choose(self, api: Api, model: str | None) -> Upstream:
        """The upstream for a request."""
        return upstream_for(self._settings.upstream, api, model)

    def speaking(self, api: Api) -> list[Upstream]:
        """All upstreams of an API; first the one that gets requests without a model."""
        first = self.choose(api, None)
        return [first, *[one for one in self._settings.upstream if one.api == api and one is not first]]

    def own_key(self, upstream: Upstream) -> str | None:
        """The key that the gateway itself has for an upstream."""
        return self._keys[upstream.name]

    async def send(
        self, upstream: Upstream, method: str, target: bytes, headers: Headers, body: bytes
    ) -> UpstreamReply:
        """Send a request; raises UpstreamUnreachable if no answer begins."""
        route = self._routes[upstream.name]
        try:
            response = await self._request(route, method, target, headers, body)
            try:
                _check_head(response, route.forwarding_proxy)
            except BaseException:
                response.close()
                raise
        except (aiohttp.ClientError, _AnswerRefused, TimeoutError, ValueError, OSError) as error:
            raise _unreachable(upstream.name, error, route.proxy) from error
        return UpstreamReply(response, upstream.name)

    async def _request(
        self, route: _UpstreamRoute, method: str, target: bytes, headers: Headers, body: bytes
    ) -> aiohttp.ClientResponse:
        assert self._session is not None
        sent = CIMultiDict([(name.decode("latin-1"), _header_text(value)) for name, value in headers])
        options: dict[str, Any] = {}
        if route.proxy is not None:
            options["proxy"] = route.proxy.url
            if route.proxy.credentials is not None:
                authorization = {"Proxy-Authorization": route.proxy.credentials.decode("ascii")}
                if route.is_tls:
                    options["proxy_headers"] = authorization
                else:
                    sent.update(authorization)
        url = URL(route.base_url + target.decode("ascii"), encoded=True)
        has_body = bool(body) or method in ("POST", "PUT", "PATCH")

        session = self._session

        async def ask() -> aiohttp.ClientResponse:
            # aiohttp writes large bodies in pieces only from a file.
            data = None if not has_body else io.BytesIO(body) if len(body) > _LARGE_BYTES else body
            return await session.request(method, url, headers=sent, data=data, allow_redirects=False, **options)

        try:
            return await ask()
        except aiohttp.ServerDisconnectedError:
            # aiohttp repeats idempotent methods by itself; a client may also say that repeating is safe.
            if not (_is_reused.get() and method not in _IDEMPOTENT and "idempotency-key" in sent):
                raise
            return await ask()


class _CheckedConnector(aiohttp.TCPConnector):
    """Never hands out a connection that the upstream has closed.

    The event loop may not have noticed yet, and a request sent on such a connection cannot be repeated safely: the
    upstream may have received it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._used: WeakSet[Any] = WeakSet()

    async def connect(self, *arguments: Any, **named: Any) -> Any:
        while True:
            connection = await super().connect(*arguments, **named)
            is_reused = connection.protocol in self._used
            if not is_reused or not _has_news(connection.transport):
                break
            connection.close()
        self._used.add(connection.protocol)
        _is_reused.set(is_reused)
        return connection


def _has_news(transport: Any) -> bool:
    """Whether an idle connection was closed or received bytes that belong to no request."""
    made = None if transport is None or transport.is_closing() else transport.get_extra_info("socket")
    if made is None:
        return True
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(made.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _header_text(value: bytes) -> str:
    """A header value as aiohttp, which writes UTF-8, sends it back byte for byte; old Latin-1 is sent as UTF-8."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _check_head(response: aiohttp.ClientResponse, proxy: EnvironmentProxy | None) -> None:
    """Refuse answers that can be read in two ways, and a proxy that asks us for a password."""
    if proxy is not None and response.status == _PROXY_AUTHENTICATION_REQUIRED:
        # The client does not have the proxy's password, so it gets a 502 that says so.
        raise _AnswerRefused(_proxy_refusal(response.status, proxy))
    if not 200 <= response.status <= 599 or {"Transfer-Encoding", "Content-Length"} <= set(response.headers):
        raise _AnswerRefused("RemoteProtocolError")


def _route(upstream: Upstream, environment: Mapping[str, str]) -> _UpstreamRoute:
    parts = urlsplit(upstream.origin)
    is_tls = parts.scheme == "https"
    name, port = parts.hostname or "", parts.port or (443 if is_tls else 80)
    host = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode("ascii")
    prefix = quote(parts.path, safe="/%:@!$&'()*+,;=~")
    proxy = proxy_for(name, port, is_tls=is_tls, environment=environment)
    return _UpstreamRoute(f"{parts.scheme}://{host}{prefix}", is_tls, proxy)


def _tls_context() -> Any:
    import httpx2

    # The same certificates as for all our other requests, SSL_CERT_FILE included.
    context = httpx2.create_ssl_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unreachable(name: str, error: Exception, proxy: EnvironmentProxy | None = None) -> UpstreamUnreachable:
    through = "" if proxy is None else " through its proxy"
    why = _why(error, proxy)
    if isinstance(error, TimeoutError):
        return UpstreamUnreachable(f"The upstream {name!r} did not answer in time{through} ({why}).", status=504)
    return UpstreamUnreachable(f"The upstream {name!r} cannot be reached{through} ({why}).", status=502)


def _why(error: Exception, proxy: EnvironmentProxy | None) -> str:
    """The reason for a failure, without any part of the request, the answer or a password."""
    if isinstance(error, aiohttp.ClientHttpProxyError) and proxy is not None:
        return _proxy_refusal(error.status, proxy)
    for kind, said in _REASONS:
        if isinstance(error, kind):
            return said
    return str(error) if isinstance(error, _AnswerRefused) else "RemoteProtocolError"


_REASONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (aiohttp.SocketTimeoutError, "ReadTimeout"),
    (TimeoutError, "ConnectTimeout"),
    (aiohttp.ClientProxyConnectionError, "the proxy cannot be reached"),
    (aiohttp.ClientPayloadError, "ReadError"),
    (aiohttp.ServerDisconnectedError, "RemoteProtocolError"),
    (aiohttp.ClientResponseError, "RemoteProtocolError"),
    (aiohttp.ClientConnectorError, "ConnectError"),
    (aiohttp.ClientOSError, "ReadError"),
    # An invalid host name.
    ((UnicodeError, aiohttp.InvalidURL), "ConnectError"),
    (OSError, "ConnectError"),
    # A header value with a line break in it.
    (ValueError, "LocalProtocolError"),
)


def _proxy_refusal(status: int, proxy: EnvironmentProxy) -> str:
    if status != _PROXY_AUTHENTICATION_REQUIRED:
        return f"the proxy answered {status}"
    if proxy.credentials is None:
        return f"the proxy answered {status}: it needs a password, as in http://user:password@host:port"
    return f"the proxy answered {status}: it did not accept the password"
