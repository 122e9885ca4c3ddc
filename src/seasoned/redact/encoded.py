"""Decodes base64, hexadecimal and percent-encoding to find secrets inside."""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterator

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.hit import Hit

BASE64 = LazyRegex(r"[A-Za-z0-9+/_\-]{16,}={0,2}")
PERCENT = LazyRegex(r"%[0-9A-Fa-f]{2}[A-Za-z0-9%._~+!*()\-]*")
PERCENT_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+!*()-"
CODE = LazyRegex(r"%([0-9A-Fa-f]{2})")
SAMPLE = 24

Find = Callable[[str], list[Hit]]


def find_in_base64(text: str, start: int, end: int, find: Find) -> Hit | None:
    """The whole run of base64 if it decodes to text with a secret."""
    run = text[start:end]
    if run.islower() or run.isupper() or run.isdigit():
        return None
    packed = run.replace("-", "+").replace("_", "/").rstrip("=") if "-" in run or "_" in run else run.rstrip("=")
    # A stray letter before it (the n of an escaped newline) shifts the run: try every alignment.
    for skip in range(4):
        sample = _decode(packed[skip : skip + SAMPLE])
        if sample is None or not _is_text(sample):
            continue
        data = _decode(packed[skip:])
        if data is None:
            return None
        inside = _read(data)
        if inside and find(inside):
            return Hit("encoded", start + skip, end)
    return None


def find_in_hex(text: str, start: int, end: int, find: Find) -> Hit | None:
    """The whole run of hexadecimal if it decodes to text with a secret."""
    run = text[start:end]
    if len(run) % 2 or not run[:2].isalnum():
        return None
    try:
        data = bytes.fromhex(run)
    except ValueError:
        return None
    return Hit("encoded", start, end) if data.isascii() and find(data.decode("ascii")) else None


def find_in_percent(text: str, find: Find) -> Iterator[Hit]:
    """Percent-encoded words that contain a secret."""
    for match in PERCENT.compiled.finditer(text):
        left = text[max(0, match.start() - 512) : match.start()]
        start = match.start() - len(left) + len(left.rstrip(PERCENT_LETTERS))
        plain = _unquote(text[start : match.end()])
        if "%" in plain:
            plain = _unquote(plain)
        if len(plain) > 8 and find(plain):
            yield Hit("encoded", start, match.end())


def _unquote(text: str) -> str:
    return CODE.compiled.sub(lambda code: chr(int(code[1], 16)), text)


def _decode(packed: str) -> bytes | None:
    over = len(packed) % 4
    if over == 1:
        packed = packed[:-1]
    elif over:
        packed += "=" * (4 - over)
    try:
        return binascii.a2b_base64(packed)
    except (binascii.Error, ValueError):
        return None


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return data.translate(None, CONTROL) == data or data[1::2].count(0) * 2 >= len(data) - 2
    return False


CONTROL = bytes(c for c in range(32) if c not in (9, 10, 13)) + b"\x7f"


def _read(data: bytes) -> str:
    if data[1::2].count(0) * 2 >= len(data) - 2:
        data = data.replace(b"\0", b"")
    return data.decode("utf-8", "replace")
