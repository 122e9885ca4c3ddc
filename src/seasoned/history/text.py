"""Small readings that every format needs: text out of content blocks, times, arguments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from seasoned.history.lines import decode
from seasoned.history.placeholder import placeholder


def text_of(content: object) -> str:
    """The text of a content that is a string, a list of blocks, a block, or nothing."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, dict):
        for key in ("text", "content", "output"):
            if key in content:
                return text_of(content[key])
        return placeholder(content) or msgspec.json.encode(content).decode()
    if isinstance(content, list):
        return "\n".join([part for part in map(text_of, content) if part])
    return str(content)


def time_of(value: object) -> float | None:
    """Seconds since 1970 from an ISO time, or from a number of seconds, milliseconds or nanoseconds."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            try:
                value = float(value)
            except ValueError:
                return None
        else:
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            try:
                return moment.timestamp()
            except (OverflowError, ValueError, OSError):
                return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    for _ in range(3):
        if number < 1e11:
            break
        number /= 1000.0
    return number if 0 < number < 1e11 else None


def arguments_of(value: object) -> dict[str, Any]:
    """A call's arguments as an object; what is no object is kept whole under `input`."""
    if isinstance(value, dict):
        return value
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        try:
            decoded = decode(value.encode("utf-8", "surrogatepass"))
        except msgspec.DecodeError:
            return {"input": value}
        return decoded if isinstance(decoded, dict) else {"input": value}
    return {"input": value}
