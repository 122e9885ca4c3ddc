"""Long texts that only this program reads, packed: evidence and what search shows take a third of their size."""

from __future__ import annotations

import zlib

# Shorter texts gain nothing.
WORTH_BYTES = 200
# Higher levels take twice the time for a tenth less.
_LEVEL = 2
_PACKED = b"\x78"  # how zlib begins; no JSON does


def pack(text: bytes) -> bytes:
    """JSON as it is stored."""
    return zlib.compress(text, _LEVEL) if len(text) >= WORTH_BYTES else text


def unpack(stored: bytes | str) -> bytes | str:
    """What was packed into a column. Stores of earlier versions hold it as it is."""
    return zlib.decompress(stored) if isinstance(stored, bytes) and stored.startswith(_PACKED) else stored


def pack_text(text: str) -> bytes | str:
    """Any text as it is stored: what begins like a packed one must not be taken for it."""
    return zlib.compress(text.encode(), _LEVEL) if len(text) >= WORTH_BYTES else text


def unpack_text(stored: bytes | str) -> str:
    """The text again; also a function of SQL, `unpacked`, for views and triggers."""
    return stored if isinstance(stored, str) else zlib.decompress(stored).decode()
