"""Pairs calls with results for one session where ids are missing, or one id is used for several calls."""

from __future__ import annotations

from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import identity
from seasoned.session import NO_MARKS, Marks


class CallPairing:
    """Gives every call of a session an id of its own, the same on every reading."""

    def __init__(self, builder: SessionBuilder, *, prefix: str = "made") -> None:
        self._builder = builder
        self._prefix = prefix
        self._count = 0
        self._made: dict[str, list[str]] = {}
        self._what: dict[str, tuple[str, dict[str, Any]]] = {}
        self._open: dict[str, str] = {}
        self._turn: set[str] = set()

    def turn(self) -> None:
        """The next calls are made by another message: the same call with the same id is then a copy."""
        self._turn.clear()

    def make(
        self, given: object, tool: str, arguments: dict[str, Any], *, time: float | None = None, place: int = 0
    ) -> str:
        """A call; returns the id it has from now on."""
        raw = identity(given)
        if raw is None:
            raw = f"{self._prefix}_{self._count}"
        self._count += 1
        known = self._made.setdefault(raw, [])
        if known and raw not in self._turn:
            for call_id in known:
                if self._what[call_id] == (tool, arguments):
                    return call_id
        call_id = raw if not known else f"{raw}#{len(known) + 1}"
        self._turn.add(raw)
        known.append(call_id)
        self._what[call_id] = tool, arguments
        if self._builder.call(call_id, tool, arguments, time=time, place=place):
            self._open[call_id] = tool
        return call_id

    def answer(
        self,
        given: object,
        text: str,
        marks: Marks = NO_MARKS,
        *,
        tool: str | None = None,
        time: float | None = None,
        place: int = 0,
    ) -> bool:
        """The result of a call; without an id, of the oldest open call of that tool."""
        raw = identity(given)
        if raw is None:
            raw = next((open_id for open_id, name in self._open.items() if tool is None or name == tool), None)
            if raw is None:
                self._builder.unreadable(f"at {place}", "a result without an id, and no call that waits for one")
                return False
            candidates = [raw]
        else:
            candidates = self._made.get(raw, [raw])
        call_id = next((known for known in candidates if known in self._open), candidates[-1])
        self._open.pop(call_id, None)
        return self._builder.result(call_id, text, marks, time=time, place=place)

    def amend_open(self, marks: Marks, only: set[str] | None = None) -> None:
        """Calls that never had a result, and of which it is known why."""
        for call_id in [call_id for call_id in self._open if only is None or call_id in only]:
            del self._open[call_id]
            self._builder.result(call_id, "", marks)

    def knows(self, given: object) -> bool:
        """Whether a call came with this id."""
        return identity(given) in self._made

    def waits(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether just this call waits for a result, whatever its id."""
        return any(self._what[call_id] == (tool, arguments) for call_id in self._open)

    @property
    def open(self) -> list[str]:
        """The calls that wait for a result, oldest first."""
        return list(self._open)
