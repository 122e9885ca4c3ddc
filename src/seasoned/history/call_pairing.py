"""Pairs calls with results where ids are missing or reused within a session."""

from __future__ import annotations

from typing import Any

from seasoned.history.builder import SessionBuilder
from seasoned.history.coerce import identity
from seasoned.session import NO_MARKS, Marks


class CallPairing:
    """Gives each call of a session a unique id that is the same on every reading."""

    def __init__(self, builder: SessionBuilder, *, prefix: str = "made") -> None:
        self._builder = builder
        self._prefix = prefix
        self._count = 0
        self._made: dict[str, list[str]] = {}
        self._what: dict[str, tuple[str, dict[str, Any]]] = {}
        self._open: dict[str, str] = {}
        self._turn: set[str] = set()

    def turn(self) -> None:
        """A new message begins: an equal call with the same id is a copy from now on."""
        self._turn.clear()

    def make_named(
        self, where: str, given: object, tool: str | None, arguments: dict[str, Any], **more: Any
    ) -> str | None:
        """Add a call as `make` does; one without a tool is noted as unreadable instead."""
        if tool is None:
            self._builder.unreadable(where, "a tool call without a tool name")
            return None
        return self.make(given, tool, arguments, **more)

    def make(
        self, given: object, tool: str, arguments: dict[str, Any], *, time: float | None = None, place: int = 0
    ) -> str:
        """Add a call and return its id."""
        raw = identity(given)
        if raw is None:
            raw = f"{self._prefix}_{self._count}"
        self._count += 1
        # Counted even for calls that bring an id, so that made-up ids depend only on the position.
        known = self._made.setdefault(raw, [])
        if known and raw not in self._turn:
            # The same id in a later message: an equal call is a repetition, a different one reuses the id.
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
        """Add the result of a call; without an id, of the oldest open call of that tool."""
        raw = identity(given)
        if raw is None:
            raw = next((open_id for open_id, name in self._open.items() if tool is None or name == tool), None)
            if raw is None:
                self._builder.unreadable(f"at {place}", "a result without an id while no call is open")
                return False
            candidates = [raw]
        else:
            candidates = self._made.get(raw, [raw])
        # Of calls that share an id, the oldest open one is answered first.
        call_id = next((known for known in candidates if known in self._open), candidates[-1])
        self._open.pop(call_id, None)
        return self._builder.result(call_id, text, marks, time=time, place=place)

    def amend_open(self, marks: Marks, only: set[str] | None = None) -> None:
        """Mark calls that never got a result, where the reason is known."""
        for call_id in [call_id for call_id in self._open if only is None or call_id in only]:
            del self._open[call_id]
            self._builder.result(call_id, "", marks)

    def knows(self, given: object) -> bool:
        """Whether there is a call with this id."""
        return identity(given) in self._made

    def waits(self, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether an equal call is open, whatever its id."""
        return any(self._what[call_id] == (tool, arguments) for call_id in self._open)

    @property
    def open(self) -> list[str]:
        """The calls without a result, oldest first."""
        return list(self._open)
