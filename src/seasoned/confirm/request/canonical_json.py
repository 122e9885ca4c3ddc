"""The one way to write a request down (RFC 8785), and its digest: what a person agrees to is exactly these bytes."""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any

import msgspec
import rfc8785

from seasoned.command.action import check_action
from seasoned.confirm.request.light_canonical_json import number
from seasoned.errors import UsageError

MOST_DEPTH = 64
MOST_BYTES = 1_000_000
_MOST_INTEGER = 2**53 - 1
_write = msgspec.json.Encoder(order="sorted").encode


def canonical(value: Any, *, field: str) -> bytes:
    """The canonical bytes of a JSON value; UsageError names the place of what JSON cannot say without doubt."""
    return _write(_checked(value, field, 0))


def request_bytes(*, action: str, description: str, details: dict[str, Any], session_key: str, requester: str) -> bytes:
    """What is asked, as bytes. `requester` is the credential's name."""
    parts = {"description": description, "session_key": session_key, "requester": requester}
    for field, text in parts.items():
        if not (type(text) is str and text.isascii() and "\0" not in text):
            check_text(text, field)
    if not isinstance(details, dict):
        raise UsageError(f"details is an object with named arguments, not {type(details).__name__}")
    written = _write({**parts, "action": check_action(action), "details": _checked(details, "details", 0)})
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
    _check_surrogates(text, field)
    return text


def plain(body: dict[str, str | int | float | None]) -> bytes:
    """The canonical bytes of a flat object whose names and values were checked before."""
    return _write({name: _number(value) if isinstance(value, float) else value for name, value in body.items()})


def _checked(value: Any, place: str, depth: int) -> Any:
    """The value, with what the fast writer would spell in another way than the standard spelled out already."""
    if value is None or value is True or value is False:
        return value
    if depth > MOST_DEPTH:
        raise UsageError(f"{place} is nested deeper than {MOST_DEPTH} levels: flatten it")
    if isinstance(value, str):
        _check_surrogates(value, place)
        return value
    if isinstance(value, int | float):
        _check_number(value, place)
        return _number(value) if isinstance(value, float) else value
    if isinstance(value, dict):
        return _checked_object(value, place, depth)
    if isinstance(value, list | tuple):
        return [_checked(inner, f"{place}[{index}]", depth + 1) for index, inner in enumerate(value)]
    raise UsageError(f"{place} is a {type(value).__name__}, which JSON does not know: send texts and numbers")


def _checked_object(value: dict[Any, Any], place: str, depth: int) -> Any:
    made = {}
    is_ascii = True
    for name, inner in value.items():
        if not isinstance(name, str):
            raise UsageError(f"{place} has the name {name!r}: names in it are texts")
        if not name.isascii():
            is_ascii = False
            _check_surrogates(name, place)
        if type(inner) is str and inner.isascii():
            # Most of what is asked, and nothing in it can be wrong.
            made[name] = inner
        else:
            made[name] = _checked(inner, f"{place}.{name}", depth + 1)
    # The standard orders names by their UTF-16 code units, the fast writer by their bytes.
    return made if is_ascii else msgspec.Raw(rfc8785.dumps(value))


def _number(value: float) -> msgspec.Raw:
    return msgspec.Raw(number(value).encode())


def _check_number(value: float, place: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{place} is {value!r}, which is no number in JSON: send a text, or leave it out")
    # Whole floats too: they are written as integers, and whoever reads one back would not be sure of it.
    if abs(value) > _MOST_INTEGER:
        raise UsageError(f"{place} is a number beyond 2**53 - 1, which JSON does not keep exactly: send a text")


def _check_surrogates(text: str, place: str) -> None:
    if text.isascii():
        return
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{place!r} holds half a character (a lone surrogate): send whole ones") from error
