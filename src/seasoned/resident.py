"""Asks the background process that has the hooks in memory, if one is running.

Most of a hook's time is the import of what it needs. The first hook starts a process that has imported it
(`hooks/serve`), and later ones ask that process over a socket. Every hook imports this module, so it imports next to
nothing itself.

The answer is advice for the model. It can never decide about a call: only the texts in `MAY_SAY` are taken from it.
"""

from __future__ import annotations

import os
import sys
import time

from seasoned.background import start as start_module
from seasoned.environment import copied, few, is_switched_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket as Socket
    from collections.abc import Iterable

# Raise it when requests or answers change: a process of another version is not asked.
VERSION = b"1"
# What an answer may hold: texts that a model or a person reads.
MAY_SAY = ("additionalContext", "systemMessage")
ANSWERED, DECLINED, RECEIVED = b"+", b"-", b"."
# Switches the process off for one agent, before the settings are read.
VARIABLE = "SEASONED_HOOK_RESIDENT"
# An answer takes a few milliseconds. After this time the hook computes it itself.
_PATIENCE_SECONDS = 0.4
_PING_SECONDS = 3.0
_MOST_BYTES = 1_000_000
# The address of a socket is at most 104 bytes long on some systems.
_MOST_ADDRESS = 100
_LENGTH_BYTES = 4
# A process that cannot stay alive is not started again at every event.
_AGAIN_SECONDS = 60


class PendingAnswer:
    """The answer to an event that the process is working on."""

    def __init__(self, connection: Socket) -> None:
        self._connection = connection

    def take(self) -> dict[str, str] | None:
        """What to say, which may be empty; None if no answer came. Confirms the arrival to the process."""
        try:
            parts = receive(self._connection)
            if not parts or parts[0] != ANSWERED:
                return None
            texts = [part.decode() for part in parts[1:]]
            said = dict(zip(texts[::2], texts[1::2], strict=True))
            if not said.keys() <= set(MAY_SAY):
                return None
            self._connection.sendall(RECEIVED)
        except (OSError, ValueError):
            return None
        finally:
            self._connection.close()
        return said

    def drop(self) -> None:
        """Discard the answer: it counts as never given."""
        self._connection.close()


def ask(home: str, agent: str, event: str, data: bytes) -> PendingAnswer | None:
    """Send an event to the process of this home folder; None if there is none or it may not be trusted."""
    if not is_possible(home) or is_switched_off(VARIABLE):
        return None
    try:
        place = os.fsencode(os.getcwd())
    except OSError:  # the folder is gone
        return None
    # With all of the environment: the answer must be the one that this process would find.
    parts = [program(), agent.encode(), event.encode(), data, place, *copied()]
    return _send(home, parts, seconds=_PATIENCE_SECONDS)


def ping(home: str) -> int | None:
    """The process id of the one that runs for this home folder; None if none answers."""
    pending = _send(home, [program(), b"", b"ping", b"", b"/"], seconds=_PING_SECONDS) if is_possible(home) else None
    said = None if pending is None else pending.take()
    id = "" if said is None else said.get("additionalContext", "")
    return int(id) if id.isdecimal() else None


def _send(home: str, parts: list[bytes], *, seconds: float) -> PendingAnswer | None:
    if sum(map(len, parts)) > _MOST_BYTES:
        return None
    # The small module behind `socket`, which takes longer to import than all the rest.
    import _socket

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        if not is_private(folder(home)):
            raise PermissionError
        connection.connect(address(home))
        if peer(connection) != os.geteuid():
            raise PermissionError
        send(connection, parts)
    except OSError:
        connection.close()
        return None
    return PendingAnswer(connection)


def start(home: str) -> bool:
    """Start the process in the background, unless that was tried a moment ago; returns whether it was started."""
    stamp = started(home)
    if not os.path.isdir(folder(home)):
        os.mkdir(folder(home), 0o700)
    try:
        if time.time() - os.stat(stamp).st_mtime < _AGAIN_SECONDS:
            return False
    except FileNotFoundError:
        pass
    os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, 0o600))
    os.utime(stamp)
    # Without the agent's keys and tokens: every request brings the environment that it needs.
    start_module("seasoned.hooks.serve", home, environment=few())
    return True


def is_possible(home: str) -> bool:
    """Whether this system and this folder allow it: it needs to know which user is at the other end of a socket."""
    return (
        sys.platform in ("linux", "darwin") and os.path.isabs(home) and len(os.fsencode(address(home))) <= _MOST_ADDRESS
    )


def folder(home: str) -> str:
    """Where the socket is, with a lock that only one process holds."""
    return os.path.join(home, "run")


def started(home: str) -> str:
    """The file whose time says when the process was last started. It is gone after one that ended as it should."""
    return os.path.join(folder(home), "hooks.started")


def address(home: str) -> str:
    """The path of the socket."""
    return os.path.join(folder(home), "hooks.sock")


def is_private(path: str) -> bool:
    """Whether a folder belongs to this user and no other can enter it."""
    found = os.lstat(path)
    return found.st_uid == os.geteuid() and found.st_mode & 0o170077 == 0o040000


def program() -> bytes:
    """What must be the same at both ends: the version, the interpreter and where the package is."""
    return b"\0".join((VERSION, os.fsencode(sys.executable), os.fsencode(os.path.dirname(__file__))))


def peer(connection: Socket) -> int:
    """The user at the other end, as the system knows it."""
    import _socket

    if sys.platform == "darwin":
        # struct xucred: version and user, 4 bytes each. The socket module has no names for these.
        return int.from_bytes(connection.getsockopt(0, 1, 76)[4:8], sys.byteorder)
    return int.from_bytes(connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8], sys.byteorder)


def send(connection: Socket, parts: Iterable[bytes]) -> None:
    """Send parts of any content: each with its length before it, and the length of all before them."""
    written = b"".join([len(part).to_bytes(_LENGTH_BYTES, "big") + part for part in parts])
    connection.sendall(len(written).to_bytes(_LENGTH_BYTES, "big") + written)


def receive(connection: Socket) -> list[bytes]:
    """The parts that were sent; ValueError if they are not complete."""
    data = _exactly(connection, int.from_bytes(_exactly(connection, _LENGTH_BYTES), "big"))
    parts, at = [], 0
    while at < len(data):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(data[at:start], "big")
        parts.append(data[start:at])
    if at != len(data):
        raise ValueError("the last part is cut off")
    return parts


def _exactly(connection: Socket, size: int) -> bytes:
    if size > 2 * _MOST_BYTES:
        raise ValueError("the message is too long")
    found = bytearray()
    while len(found) < size:
        piece = connection.recv(min(size - len(found), 1 << 16))
        if not piece:
            raise ValueError("the other end has gone")
        found += piece
    return bytes(found)
