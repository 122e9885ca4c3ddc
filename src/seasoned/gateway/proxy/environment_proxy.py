"""Proxies that the environment names (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY): which upstream needs which one."""

from __future__ import annotations

import ipaddress
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined] # the stubs leave it out

import msgspec

from seasoned.errors import UsageError

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
