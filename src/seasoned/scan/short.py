"""Shortens arguments and results to what is kept in the store, redacted on the way."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.redact import Redactor

RESULT_CHARS = 500
_VALUE_CHARS = 1000
_TIGHT_CHARS = 120
_ARGUMENTS_CHARS = 8000
_ITEMS = 50
_DEPTH = 8
_encode = msgspec.json.Encoder().encode


def short_arguments(arguments: dict[str, Any], redactor: Redactor) -> str:
    """The arguments as JSON with every name kept, long texts cut and secrets out."""
    for limit in (_VALUE_CHARS, _TIGHT_CHARS):
        text = _encode(redactor.value(_shorten(arguments, limit, redactor, _DEPTH))).decode()
        if len(text) <= _ARGUMENTS_CHARS:
            return text
    return _encode(dict.fromkeys(list(arguments)[:_ITEMS], "…")).decode()


def short_result(text: str, verdict: str, redactor: Redactor) -> str:
    """The beginning of a result; of a failed one the end too, where the reason often stands."""
    if len(text) <= RESULT_CHARS:
        return redactor.text(text)
    if verdict == "failed":
        return f"{redactor.head(text, 300)} … {redactor.tail(text, 180)}"
    return f"{redactor.head(text, RESULT_CHARS - 2)} …"


def _shorten(value: Any, limit: int, redactor: Redactor, depth: int) -> Any:
    if isinstance(value, str):
        if len(value) <= limit:
            return value
        return f"{redactor.head(value, limit)} … [{len(value)} characters]"
    if isinstance(value, dict):
        if depth == 0:
            return "…"
        return {str(key): _shorten(item, limit, redactor, depth - 1) for key, item in list(value.items())[:_ITEMS]}
    if isinstance(value, list | tuple):
        if depth == 0:
            return "…"
        return [_shorten(item, limit, redactor, depth - 1) for item in value[:_ITEMS]]
    return value
