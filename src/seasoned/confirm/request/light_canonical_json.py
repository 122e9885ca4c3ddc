"""The canonical bytes of a request (RFC 8785) on msgspec alone, for those who ask: hooks and agents that have no more.

The service writes with its own library; a property test holds the two together.
"""

from __future__ import annotations

import math
from hashlib import sha256
from typing import Any

import msgspec

from seasoned.errors import UsageError

_MOST_INTEGER = 2**53 - 1
_MOST_DEPTH = 64


def digest_of_request(
    *, action: str, description: str, details: dict[str, Any], session_key: str, requester: str
) -> str:
    """The digest to which an approval is bound: what is about to be done, and whose credential asked."""
    parts = {
        "action": action,
        "description": description,
        "details": details,
        "session_key": session_key,
        "requester": requester,
    }
    return sha256(written(parts)).hexdigest()


def written(value: Any) -> bytes:
    """A JSON value in its one canonical form; UsageError for what JSON cannot say without doubt."""
    try:
        return _written(value, 0).encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("A text holds half a character (a lone surrogate): send whole ones.") from error


def _written(value: Any, depth: int) -> str:
    if depth > _MOST_DEPTH + 1:
        raise UsageError(f"Details are nested deeper than {_MOST_DEPTH} levels: flatten them.")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        if abs(value) > _MOST_INTEGER:
            raise UsageError(f"{value} is beyond 2**53 - 1, which JSON does not keep exactly: send a text.")
        return str(int(value))
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join([_written(each, depth + 1) for each in value])}]"
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        # The standard orders names by their UTF-16 code units, which is not the order of Python's texts.
        names = sorted(value, key=_units)
        return f"{{{','.join([f'{_text(name)}:{_written(value[name], depth + 1)}' for name in names])}}}"
    raise UsageError(f"A {type(value).__name__} is nothing that JSON knows: send texts, numbers, lists and objects.")


def _units(name: str) -> bytes:
    return name.encode("utf-16-be")


def _text(text: str) -> str:
    return msgspec.json.encode(text).decode("utf-8")


def number(value: float) -> str:
    """As ECMAScript writes it: up to 21 digits before the point, six zeros behind it, else with an exponent."""
    if not math.isfinite(value):
        raise UsageError(f"{value!r} is no number in JSON: send a text, or leave it out.")
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e16:
        # Here Python writes it in the same way, but for a fraction of nothing.
        return repr(float(value)).removesuffix(".0")
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    shown = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(shown))
    digits = shown.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"
