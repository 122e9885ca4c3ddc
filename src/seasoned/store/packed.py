"""Long texts that only this program reads, packed: evidence and what search shows take a third of their size."""

from __future__ import annotations

import zlib

# Shorter texts gain nothing.
WORTH_BYTES = 200
# Higher levels take twice the time for a tenth less.
_LEVEL = 2
# How packed texts begin, by the size of their window; no JSON does.
_PACKED = (b"\x78", b"\x58")
# Most texts fit into a small window: making the tables of a large one takes ten times as long as packing them.
_SMALL_WINDOW, _SMALL_TABLES = 13, 5


def pack(text: bytes) -> bytes:
    """JSON as it is stored."""
    return _compressed(text) if len(text) >= WORTH_BYTES else text


def _compressed(text: bytes) -> bytes:
    if len(text) > 1 << _SMALL_WINDOW:
        return zlib.compress(text, _LEVEL)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _SMALL_WINDOW, _SMALL_TABLES)
    return packer.compress(text) + packer.flush()


def unpack(stored: bytes | str) -> bytes | str:
    """What was packed into a column. Stores of earlier versions hold it as it is."""
    return zlib.decompress(stored) if isinstance(stored, bytes) and stored.startswith(_PACKED) else stored


def pack_text(text: str) -> bytes | str:
    """Any text as it is stored: what begins like a packed one must not be taken for it."""
    return _compressed(text.encode()) if len(text) >= WORTH_BYTES else text


def unpack_text(stored: bytes | str) -> str:
    """The text again; also a function of SQL, `unpacked`, for views and triggers."""
    return stored if isinstance(stored, str) else zlib.decompress(stored).decode()
