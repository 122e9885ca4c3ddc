"""What a value of a record is taken for, where the record may hold anything."""

from __future__ import annotations

from typing import Any

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def record(value: object) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def string(value: object) -> str | None:
    """The text, where it is one and not empty."""
    return value if isinstance(value, str) and value else None


def integer(value: object) -> int | None:
    """The whole number; true and false are none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: object) -> float | None:
    """The number, where it is one that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def identity(value: object) -> str | None:
    """An id as text: some sources count, others name."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else None


def first_of(fields: dict[str, Any], *keys: str) -> Any:
    """The first of these values that is there and not null."""
    for key in keys:
        if (value := fields.get(key)) is not None:
            return value
    return None


def kind_of(value: object) -> str:
    """What a JSON value is, in words a person reads."""
    return _KINDS.get(type(value), "null")
