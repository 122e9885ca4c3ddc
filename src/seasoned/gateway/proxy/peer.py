"""Which user is at the other end of a connection from this machine."""

from __future__ import annotations

import os
import socket
import struct
import sys

from starlette.types import Scope

from seasoned.confirm.policy import is_loopback

# Of Linux' sock_diag(7): the protocol of its netlink sockets, its one question, and all states of a connection.
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST = 1
_ALL_STATES = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBxI")
# In the answer: four bytes, the 48 of the socket, and three numbers come before the user.
_USER_AT = _HEADER.size + 4 + 48 + 12


def is_own_connection(scope: Scope) -> bool:
    """Whether the client is a program of this user, on this machine.

    Where the system does not tell, as outside Linux, every program of this machine counts as the user's.
    """
    client, server = scope.get("client"), scope.get("server")
    if client is None or server is None or not is_loopback(client[0]):
        return False
    if sys.platform != "linux":
        return True
    try:
        return _user_of(client, server) == os.getuid()
    except OSError:
        return True


def _user_of(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """The user of the client's end of a connection; None if there is no such connection (any more)."""
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    ends = [socket.inet_pton(family, host.partition("%")[0]).ljust(16, b"\0") for host, _ in (client, server)]
    asked = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, _ALL_STATES)
    # Ports, addresses, any interface, and no cookie, which would name a socket that was asked about before.
    asked += struct.pack("!HH", client[1], server[1]) + b"".join(ends) + bytes(4) + b"\xff" * 8
    header = _HEADER.pack(_HEADER.size + len(asked), _SOCK_DIAG_BY_FAMILY, _REQUEST, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as asking:
        asking.settimeout(1.0)
        asking.send(header + asked)
        answer = asking.recv(4096)
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    return int.from_bytes(answer[_USER_AT : _USER_AT + 4], sys.byteorder)
