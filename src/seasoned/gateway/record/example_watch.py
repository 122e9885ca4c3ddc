"""Suspends or retires shown examples that do harm, while the gateway runs.

There are two sources of evidence. Calls that are written like an example and fail contradict it; two conversations are
enough. A running experiment compares sessions with and without an example; that takes many. Both store a state with a
reason, and a person can undo it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from seasoned.errors import NotFound
from seasoned.example.library.storage import Library, State, cached_library, set_state
from seasoned.example.library.upkeep import settle
from seasoned.experiment.live.assignment import load_split
from seasoned.experiment.live.live_report import hurting
from seasoned.store import Database, Store

_LOOK_SECONDS = 1.0
# All sessions of an experiment are compared, for seconds where it has thousands.
_EFFECT_SECONDS = 600.0


class ExampleWatch:
    """Looks at what calls came to, and at the running experiment. Used by the recorder's thread only."""

    def __init__(self, experiment: str | None = None) -> None:
        self._experiment = experiment
        self._grown: set[str] = set()
        self._next_look = self._next_effects = float("-inf")

    def add(self, session: str) -> None:
        """Note a conversation in which calls were answered."""
        self._grown.add(session)

    def is_due(self, now: float) -> bool:
        """Whether there is new evidence to check."""
        return bool(self._grown and now >= self._next_look) or self._are_effects_due(now)

    def _are_effects_due(self, now: float) -> bool:
        return self._experiment is not None and now >= self._next_effects

    def look(self, store: Store, database: Database, *, now: float) -> Iterator[str]:
        """Suspend, restore or retire examples by the evidence; returns a sentence for each decision."""
        grown, self._grown, self._next_look = self._grown, set(), now + _LOOK_SECONDS
        library = cached_library(store, now=now)
        if library.templates and grown:
            yield from self._settle(store, library, grown, now)
        if self._are_effects_due(now):
            self._next_effects = now + _EFFECT_SECONDS
            if library.templates:
                yield from self._retire(store, database, now)

    def _settle(self, store: Store, library: Library, grown: set[str], now: float) -> Iterator[str]:
        tools: set[str] = set()
        for session in grown:
            agent, _, native_id = session.partition(":")
            row = store.row("session.find_ref", {"agent": agent, "native_id": native_id})
            if row is not None:
                tools |= {one["tool"] for one in store.rows("mining.tools_of", {"session_id": row["id"]})}
        for one in settle(store, library, now=now, tools=tools):
            yield _sentence(one.example_id, one.state, one.reason)

    def _retire(self, store: Store, database: Database, now: float) -> Iterator[str]:
        assert self._experiment is not None
        try:
            split = load_split(database, self._experiment)
        except NotFound:
            return
        for effect in hurting(database, store, split, now=now):
            reason = f"The experiment {self._experiment} shows that it hurts: {effect.reason}."
            set_state(store, effect.example_id, "retired", reason, msgspec.to_builtins(effect), now=now)
            yield _sentence(effect.example_id, "retired", reason)


def _sentence(example_id: str, state: State, reason: str) -> str:
    if state == "active":
        return f"example {example_id} may be shown again: {reason}"
    return f"example {example_id} is {state}: {reason} Undo: `seasoned template retire {example_id} --undo`."
