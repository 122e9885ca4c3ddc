"""The one way to write a request down (RFC 8785), and its digest: what a person agrees to is exactly these bytes."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any

import rfc8785

from seasoned.confirm.action import check_action
from seasoned.errors import UsageError

MOST_DEPTH = 64
MOST_BYTES = 1_000_000
_MOST_INTEGER = 2**53 - 1


def canonical(value: Any, *, field: str) -> bytes:
    """The canonical bytes of a JSON value; UsageError names the place of what JSON cannot say without doubt."""
    _check(value, field, 0)
    return rfc8785.dumps(value)


def request_bytes(*, action: str, description: str, details: dict[str, Any], session_key: str, requester: str) -> bytes:
    """What is asked, as bytes. `requester` is the credential's name."""
    parts = {"description": description, "session_key": session_key, "requester": requester}
    for field, text in parts.items():
        check_text(text, field)
    if not isinstance(details, dict):
        raise UsageError(f"details is an object with named arguments, not {type(details).__name__}")
    _check(details, "details", 0)
    written = rfc8785.dumps({**parts, "action": check_action(action), "details": details})
    if len(written) > MOST_BYTES:
        raise UsageError(f"details and description have {len(written)} bytes; at most {MOST_BYTES} can be asked")
    return written


def digest_of(written: bytes) -> str:
    """SHA-256 of canonical bytes, in hexadecimal."""
    return sha256(written).hexdigest()


def request_digest(*, action: str, description: str, details: dict[str, Any], session_key: str, requester: str) -> str:
    """The digest to which an approval is bound; an executor makes it anew from what it is about to do."""
    return digest_of(
        request_bytes(
            action=action, description=description, details=details, session_key=session_key, requester=requester
        )
    )


def check_text(text: object, field: str, *, most: int | None = None, least: int = 0) -> str:
    """The text, if every database and every reader can hold it; UsageError names the field otherwise."""
    if not isinstance(text, str):
        raise UsageError(f"{field} is a text, not {type(text).__name__}")
    if len(text.strip()) < least:
        raise UsageError(f"{field} is empty: say in it what a person needs to know")
    if most is not None and len(text) > most:
        raise UsageError(f"{field} has {len(text)} characters; at most {most} are kept")
    if "\0" in text:
        raise UsageError(f"{field} holds a zero character: leave it out")
    if not text.isascii():
        _check_surrogates(text, field)
    return text


def _check(value: Any, place: str, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise UsageError(f"{place} is nested deeper than {MOST_DEPTH} levels: flatten it")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_surrogates(value, place)
    elif isinstance(value, int | float):
        _check_number(value, place)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise UsageError(f"{place} has the name {name!r}: names in it are texts")
            _check_surrogates(name, place)
            _check(inner, f"{place}.{name}", depth + 1)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _check(inner, f"{place}[{index}]", depth + 1)
    else:
        raise UsageError(f"{place} is a {type(value).__name__}, which JSON does not know: send texts and numbers")


def _check_number(value: float, place: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{place} is {value!r}, which is no number in JSON: send a text, or leave it out")
    # Whole floats too: they are written as integers, and whoever reads one back would not be sure of it.
    if abs(value) > _MOST_INTEGER:
        raise UsageError(f"{place} is a number beyond 2**53 - 1, which JSON does not keep exactly: send a text")


def _check_surrogates(text: str, place: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{place!r} holds half a character (a lone surrogate): send whole ones") from error
