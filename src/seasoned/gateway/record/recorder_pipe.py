"""What a gateway and a clerk in a process of its own tell each other: frames of MessagePack over two pipes."""

from __future__ import annotations

import struct
from typing import IO

import msgspec

from seasoned.config import Config
from seasoned.gateway.account.journal import UsageEntry
from seasoned.gateway.account.totals import RecordedCounts
from seasoned.gateway.proxy.exchange import FinishedExchange
from seasoned.gateway.settings import GatewaySettings

_LENGTH = struct.Struct("!I")


class Opening(msgspec.Struct, tag=True):
    """The first frame: what the clerk works with."""

    config: Config
    settings: GatewaySettings


class Given(msgspec.Struct, tag=True):
    """An exchange to be written down."""

    finished: FinishedExchange


class Unwritten(msgspec.Struct, tag=True):
    """Entries that no disk took."""

    entries: list[UsageEntry]


class Told(msgspec.Struct, tag=True):
    """What the clerk says after each batch: how many exchanges it is done with, what failed, what is for the log."""

    done: int
    tally: RecordedCounts
    failed: dict[str, int]
    log: list[tuple[int, str]]


ToClerk = Opening | Given | Unwritten
_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode_given = msgspec.msgpack.Decoder(ToClerk, dec_hook=lambda kind, value: kind(value)).decode
_decode_told = msgspec.msgpack.Decoder(Told).decode


def frame(message: ToClerk | Told) -> bytes:
    """A message with its length before it."""
    data = _encode(message)
    return _LENGTH.pack(len(data)) + data


def read_given(file: IO[bytes]) -> ToClerk | None:
    """The next message to the clerk; None at the end, and where the other side was cut off in the middle of one."""
    data = _read(file)
    return None if data is None else _decode_given(data)


def read_told(file: IO[bytes]) -> Told | None:
    """The next message of the clerk; None at the end."""
    data = _read(file)
    return None if data is None else _decode_told(data)


def _read(file: IO[bytes]) -> bytes | None:
    head = file.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = file.read(length)
    return data if len(data) == length else None
