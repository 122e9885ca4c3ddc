"""Which addresses of the network may be reached: public ones, checked after the name was resolved."""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from seasoned.errors import CannotDo, UsageError

Resolver = Callable[..., list[Any]]
# In these ranges an address of IPv6 stands for the one of IPv4 in its last 32 bits.
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
# Clouds hand out credentials at these addresses to any request from inside. One of them is a public address.
_METADATA = frozenset(
    map(ipaddress.ip_address, ("169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"))
)


class CheckedAddress(msgspec.Struct, frozen=True):
    """An address to connect to, checked."""

    family: int
    place: tuple[Any, ...]


def refusal(text: str) -> str | None:
    """Why an address may not be reached; None if it may."""
    # Without the zone, as in `fe80::1%eth0`.
    address = ipaddress.ip_address(text.partition("%")[0])
    for each in (address, *_embedded(address)):
        if each in _METADATA:
            return "an address at which clouds hand out credentials"
        if each.is_loopback:
            return "an address of this machine"
        if each.is_link_local:
            return "an address of the local link"
        if each.is_multicast:
            return "a multicast address"
        if not each.is_global or each.is_reserved or each.is_unspecified:
            return "a private or reserved address"
    return None


def _embedded(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """IPv4 addresses inside of one of IPv6: mapped, compatible, translated, tunnelled."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _COMPATIBLE or any(address in network for network in _NAT64):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def addresses(
    host: str,
    port: int,
    *,
    seconds: float,
    allow_private: frozenset[str] = frozenset(),
    resolve: Resolver = socket.getaddrinfo,
) -> list[CheckedAddress]:
    """The addresses of a name; UsageError if one of them may not be reached."""
    found = _resolved(host, port, seconds, resolve)
    # All are checked, and only these are connected to: a second look-up could give another address.
    for _, _, _, _, place in found:
        why = refusal(place[0])
        if why is not None and f"{host}:{port}" not in allow_private:
            raise UsageError(f"{host!r} leads to {place[0]}, {why}; only public addresses are fetched.")
    return [CheckedAddress(family, place) for family, _, _, _, place in found]


def _resolved(host: str, port: int, seconds: float, resolve: Resolver) -> list[Any]:
    """Resolve in a thread: a resolver has no timeout, and one that does not answer is abandoned."""
    answer: queue.SimpleQueue[list[Any] | OSError | UnicodeError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answer.put(resolve(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answer.put(error)

    threading.Thread(target=ask, daemon=True, name="resolve").start()
    try:
        found = answer.get(timeout=max(0.1, seconds))
    except queue.Empty:
        raise CannotDo(f"The name {host!r} was not resolved within {seconds:.0f} seconds; try again later.") from None
    if not isinstance(found, list) or not found:
        raise CannotDo(f"The name {host!r} cannot be resolved ({found}); check its spelling.")
    return found
