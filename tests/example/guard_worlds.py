"""Invented worlds for the harm guard: sessions that were shown an example, in which its convention holds or changes.

What is taken from measurement: with a stale example four sessions in five make the call as it was shown, fail, and do
not recover in three attempts; the others find another way. What is assumed: a session uses the tool one to three
times for different things; a failed call is mostly tried again; noise strikes each call of a good example on its own at
a rate between 2 and 10 %, and half of it is the environment's, which mostly still fails when it is tried again at once.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec

from seasoned.example.example import Example
from seasoned.example.library.guard import WatchedSession
from seasoned.outcome.track import JudgedCall, Track
from seasoned.session import SessionRef
from tests.example.examples import example

TOOL = "get_order_details"
EXAMPLE: Example = example(TOOL, arguments={"order_id": "#W0052025"}, intent="Look up my order.")
_STILL_FAILS = 0.7
_DAY = 86_400.0


def called(order: str, verdict: str = "ok", fault: str = "none", tool: str = TOOL, **more: Any) -> JudgedCall:
    """One judged call of the tool."""
    arguments = msgspec.json.encode({"order_id": order}).decode()
    counts_as = "declined" if fault == "user_declined" else verdict
    return JudgedCall(0, 1, tool, "general", counts_as, verdict, fault, raw_arguments=arguments, **more)


def watched(
    number: int, calls: list[JudgedCall], *, shown: tuple[str, ...] = (EXAMPLE.id,), root: str = ""
) -> WatchedSession:
    """The session of this number; it begins a day after the one before."""
    placed = [msgspec.structs.replace(call, position=at, call_id=f"c{at}") for at, call in enumerate(calls)]
    ref = SessionRef("test", f"s{number:04}")
    track = Track(ref=ref, messages=9, calls=tuple(placed), root=root or str(ref), started=_DAY * (number + 1))
    return WatchedSession(track, shown)


class World:
    """Sessions one after the other; from `change` on the shown convention no longer holds."""

    def __init__(self, seed: int, change: int | None = None) -> None:
        self._rng = random.Random(seed)
        self._change = change
        self._noise = self._rng.uniform(0.02, 0.10)

    def session(self, number: int) -> WatchedSession:
        """A session that was shown the example."""
        is_stale = self._change is not None and number >= self._change
        calls: list[JudgedCall] = []
        for _ in range(self._rng.choice((1, 1, 2, 3))):
            calls += self._stale() if is_stale else self._good()
        return watched(number, calls)

    def cold(self, number: int) -> WatchedSession:
        """One that was shown nothing, in the world as it was before."""
        return watched(number, self._good(), shown=())

    def _attempts(self) -> int:
        return self._rng.choices((1, 2, 3), (1, 2, 7))[0]

    def _order(self) -> str:
        return f"#W{self._rng.randint(0, 9_999_999):07}"

    def _good(self) -> list[JudgedCall]:
        calls: list[JudgedCall] = []
        fault = ""
        for _ in range(self._attempts()):
            is_down = fault == "environment" and self._rng.random() < _STILL_FAILS
            if not is_down and self._rng.random() >= self._noise:
                return [*calls, called(self._order())]
            fault = fault or self._rng.choice(("environment", "call"))
            calls.append(called(self._order(), "failed", fault))
        return calls

    def _stale(self) -> list[JudgedCall]:
        if self._rng.random() < 0.2:
            return [called(self._order().replace("#W", "W-"))]
        order = self._order()
        return [called(order, "failed", "call") for _ in range(self._attempts())]
