"""Finds risky commands and tool calls in the details of a request, whatever action the request names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from seasoned.command.path import WorkingFolder
from seasoned.command.risk import findings_in_call, gravity
from seasoned.command.rows import Finding
from seasoned.command.tool_call import READ_KEYS

_TOOL_KEYS = ("tool", "tool_name", "name")
_ARGUMENT_KEYS = ("arguments", "args", "tool_input", "input", "parameters")
# A request with more objects counts as dangerous, so that nothing hides behind padding.
_MOST_OBJECTS = 500
# Fewer than `findings_in_call` reads of one list; longer lists are passed in pieces.
_PIECE = 40
# Sorted, so that a submitted request and the same one read back share a cache entry.
_encode = msgspec.json.Encoder(order="sorted").encode
_TOO_MUCH = Finding("delete_data", "is too long to be searched, so it may do the worst", "length")
# The requester could claim any working folder, so none is trusted: deleting by an absolute path is always found.
_NOWHERE = WorkingFolder()


def need_in(details: Mapping[str, Any]) -> Finding | None:
    """The worst of the ten actions that a command or tool call in the details needs; None if there is none."""
    return _need_in(_encode(details)) if details else None


def finding_of(action: str, need: Finding | None) -> str:
    """A warning for the approver, if the details need another action than the one that the request names."""
    if need is None or need.action == action:
        return ""
    return f"its details need {need.action}: it {need.why}"


@lru_cache(maxsize=1024)
def _need_in(written: bytes) -> Finding | None:
    details: dict[str, Any] = msgspec.json.decode(written)
    objects = _objects(details)
    if len(objects) > _MOST_OBJECTS:
        return _TOO_MUCH
    calls = [call for one in objects for call in _calls(one)]
    found = [each for tool, given in calls for each in findings_in_call(tool, given, _NOWHERE)]
    return min(found, key=gravity, default=None)


def _objects(details: dict[str, Any]) -> list[dict[str, Any]]:
    """Every object in the details, outer ones first; stops one beyond the limit."""
    found = [details]
    inner: list[Any] = list(details.values())
    while inner and len(found) <= _MOST_OBJECTS:
        value = inner.pop()
        if isinstance(value, dict):
            found.append(value)
            inner += value.values()
        elif isinstance(value, list):
            inner += [each for each in value if isinstance(each, dict | list)]
    return found


def _calls(one: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tool calls that an object can be read as, under the names that agents use."""
    for tool in (each for key in _TOOL_KEYS if isinstance(each := one.get(key), str)):
        yield from ((tool, given) for key in _ARGUMENT_KEYS if isinstance(given := one.get(key), dict))
    # One value at a time: only the first values of a call are read, and a command could hide behind many others.
    for key, value in one.items():
        if isinstance(value, str | list) and key.lower() in READ_KEYS:
            yield from (("", {key: piece}) for piece in _pieces(value))


def _pieces(value: str | list[Any]) -> list[Any]:
    if isinstance(value, str) or len(value) <= _PIECE:
        return [value]
    return [value[start : start + _PIECE] for start in range(0, len(value), _PIECE)]
