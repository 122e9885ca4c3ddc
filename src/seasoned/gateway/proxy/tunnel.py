"""The proxy of the environment: which upstreams are reached through it, and the tunnel to one of them."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined] # the stubs leave it out

import msgspec

from seasoned.errors import UsageError

PASSWORD_WANTED = 407
_MOST_HEAD_BYTES = 32 * 1024
_PIECE_BYTES = 4096
_BEGINNING = b"HTTP/1."
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?\Z")
_SWITCHING = 101
_OTHER_KINDS = ("https", "socks", "socks4", "socks4a", "socks5", "socks5h")


class EnvironmentProxy(msgspec.Struct, frozen=True):
    """Whom to ask for the way to an upstream."""

    host: str
    port: int
    credentials: bytes | None = None
    """What `Proxy-Authorization` says."""

    def __repr__(self) -> str:
        return f"Proxy({_authority(self.host, self.port)!r})"


class TunnelRefused(Exception):
    """The proxy did not lead to the upstream; the message says what it did, and never holds the password."""


def proxy_for(host: str, port: int, *, is_tls: bool, environment: Mapping[str, str]) -> EnvironmentProxy | None:
    """The proxy through which a place is reached; None where that is done directly, as for this machine itself."""
    for name in ("https_proxy" if is_tls else "http_proxy", "all_proxy"):
        variable, text = _variable(environment, name)
        if text:
            is_direct = _is_this_machine(host) or _is_left_out(host, port, environment)
            return None if is_direct else _read_address(variable, text, host)
    return None


def refusal(status: int, proxy: EnvironmentProxy) -> str:
    """What a status of a proxy means."""
    if status != PASSWORD_WANTED:
        return f"the proxy answered {status}"
    if proxy.credentials is None:
        return f"the proxy answered {status}: it asks for a password, as in http://user:password@host:port"
    return f"the proxy answered {status}: it asks for a password, and did not take the one that it was given"


async def open_tunnel(proxy: EnvironmentProxy, host: str, port: int) -> socket.socket:
    """A socket with the upstream at its other end, of which nothing was read yet; how long to wait is the caller's."""
    place = _authority(host if host.isascii() else host.encode("idna").decode("ascii"), port).encode("ascii")
    asked = b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n" % (place, place)
    if proxy.credentials is not None:
        asked += b"Proxy-Authorization: %b\r\n" % proxy.credentials
    line = await _dial(proxy)
    try:
        await asyncio.get_running_loop().sock_sendall(line, asked + b"\r\n")
        status, surplus = await _hear(line)
        if not 200 <= status <= 299:
            raise TunnelRefused(refusal(status, proxy))
        if surplus:
            # An upstream with TLS never speaks first: whoever said this, it would be read as if it were the upstream.
            raise TunnelRefused("the proxy said more than it was asked")
    except OSError as error:
        line.close()
        raise TunnelRefused("the proxy cut the connection") from error
    except BaseException:
        line.close()
        raise
    return line


async def _dial(proxy: EnvironmentProxy) -> socket.socket:
    """A connection to the proxy itself, at the first of its addresses that takes one."""
    loop = asyncio.get_running_loop()
    failed: Exception | None = None
    try:
        found = await loop.getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise TunnelRefused("the proxy has no known address") from error
    for family, kind, protocol, _, address in found:
        try:
            line = socket.socket(family, kind, protocol)
        except OSError as error:
            failed = error
            continue
        try:
            line.setblocking(False)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(line, address)
        except OSError as error:
            line.close()
            failed = error
        except BaseException:
            line.close()
            raise
        else:
            return line
    raise TunnelRefused("the proxy takes no connection") from failed


async def _hear(line: socket.socket) -> tuple[int, bytes]:
    """The status that a proxy answers with, and what it said after the head of that answer."""
    loop = asyncio.get_running_loop()
    heard, before = b"", 0
    while True:
        head, is_whole, rest = heard.partition(b"\r\n\r\n")
        if is_whole:
            status = _status(head)
            if status >= 200 or status == _SWITCHING:
                return status, rest
            # Not yet the answer (RFC 9110, 15.2).
            heard, before = rest, before + len(head)
            continue
        if not heard.startswith(_BEGINNING[: len(heard)]):
            raise TunnelRefused("the proxy does not speak HTTP")
        if before + len(heard) > _MOST_HEAD_BYTES:
            raise TunnelRefused("the proxy's answer has no end")
        piece = await loop.sock_recv(line, _PIECE_BYTES)
        if not piece:
            raise TunnelRefused("the proxy cut the connection")
        heard += piece


def _status(head: bytes) -> int:
    found = _STATUS_LINE.match(head.partition(b"\r\n")[0])
    if found is None:
        raise TunnelRefused("the proxy does not speak HTTP")
    return int(found[1])


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _variable(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """A variable as it is spelled, and its value; that in small letters wins, also where it is empty."""
    if name in environment:
        return name, environment[name].strip()
    spelled = [one for one in sorted(environment) if one.lower() == name and environment[one].strip()]
    return (spelled[0], environment[spelled[0]].strip()) if spelled else (name.upper(), "")


def _is_this_machine(host: str) -> bool:
    """Whether a proxy, which may be another machine, would look for it in the wrong place."""
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


def _is_left_out(host: str, port: int, environment: Mapping[str, str]) -> bool:
    """Whether `NO_PROXY` names a place, with or without its port."""
    _, listed = _variable(environment, "no_proxy")
    return any(proxy_bypass_environment(one, proxies={"no": listed}) for one in (host, _authority(host, port)))


def _read_address(variable: str, text: str, host: str) -> EnvironmentProxy:
    """The proxy that a variable names; its value may hold a password, and no error repeats it."""
    kind = text.partition("://")[0].lower() if "://" in text else "http"
    if kind in _OTHER_KINDS:
        raise UsageError(
            f"{variable} names a {kind}:// proxy, and the gateway can only use http:// ones: "
            f"set it to one of those, or name {host!r} in NO_PROXY to reach it directly."
        )
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = 80 if parts.port is None else parts.port
        is_right = kind == "http" and bool(parts.hostname) and port > 0
        user, password = unquote_to_bytes(parts.username or ""), unquote_to_bytes(parts.password or "")
    except ValueError:
        is_right = False
    # What looks like a path may be the rest of a password.
    if not is_right or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError(
            f"{variable} is no address of a proxy: write http://host:port, or http://user:password@host:port with "
            f"signs like / # ? @ in them as %2F %23 %3F %40; or name {host!r} in NO_PROXY to reach it directly."
        )
    credentials = b"Basic " + b64encode(user + b":" + password) if user or password else None
    return EnvironmentProxy(parts.hostname or "", port, credentials)
