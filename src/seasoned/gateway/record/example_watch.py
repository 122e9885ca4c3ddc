"""Suspends or retires shown examples that do harm, while the gateway runs.

There are two sources of evidence. Calls that are written like an example and fail contradict it; two conversations are
enough. A running experiment compares sessions with and without an example; that takes many. Both store a state with a
reason, and a person can undo it.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from importlib.util import find_spec

import msgspec

from seasoned.errors import NotFound
from seasoned.example.library.storage import Library, State, cached_library, set_state
from seasoned.example.library.upkeep import settle
from seasoned.experiment.live.assignment import load_split
from seasoned.experiment.live.live_report import hurting
from seasoned.experiment.live.live_session import LiveSession
from seasoned.store import Database, Store

_MOST_AT_ONCE = 100
_LOOK_SECONDS = 1.0
_EFFECT_SECONDS = 60.0
# The part of its time that the recorder may spend on effects of examples.
_EFFECT_SHARE = 0.005
_MOST_SETTLED = 50_000
_log = logging.getLogger("seasoned.gateway")


class ExampleWatch:
    """Looks at what calls came to, and at the running experiment. Used by the recorder's thread only."""

    def __init__(self, experiment: str | None = None, *, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._experiment = experiment
        self._stopwatch = stopwatch
        self._grown: OrderedDict[str, None] = OrderedDict()
        self._effects = _ExampleEffects(experiment)
        self._next_look = self._next_effects = float("-inf")

    def add(self, session: str) -> None:
        """Note a conversation in which calls were answered."""
        self._grown[session] = None

    def is_due(self, now: float) -> bool:
        """Whether there is new evidence to check."""
        return bool(self._grown and now >= self._next_look) or self._are_effects_due(now)

    def _are_effects_due(self, now: float) -> bool:
        return self._experiment is not None and now >= self._next_effects

    def look(self, store: Store, database: Database, *, now: float) -> list[str]:
        """Suspend, restore or retire examples by the evidence; returns a sentence for each decision."""
        self._next_look = now + _LOOK_SECONDS
        library = cached_library(store, now=now)
        if not library.templates:
            self._grown.clear()
            self._next_effects = now + _EFFECT_SECONDS
            return []
        sentences = self._settle(store, library, now)
        if self._grown:
            self._next_look = now
        if self._are_effects_due(now):
            self._next_effects = now + _EFFECT_SECONDS
            begun = self._stopwatch()
            sentences += self._effects.retire(store, database, now=now)
            self._next_effects = now + max(_EFFECT_SECONDS, (self._stopwatch() - begun) / _EFFECT_SHARE)
        return sentences

    def _settle(self, store: Store, library: Library, now: float) -> list[str]:
        tools: set[str] = set()
        for session in list(self._grown)[:_MOST_AT_ONCE]:
            agent, _, native_id = session.partition(":")
            row = store.row("session.find_ref", {"agent": agent, "native_id": native_id})
            if row is not None:
                tools |= {one["tool"] for one in store.rows("mining.tools_of", {"session_id": row["id"]})}
            del self._grown[session]
        return [
            _sentence(one.example_id, one.state, one.reason) for one in settle(store, library, now=now, tools=tools)
        ]


class _ExampleEffects:
    """Effects of examples in a running experiment. Settled sessions are read once."""

    def __init__(self, experiment: str | None) -> None:
        self._experiment = experiment
        self._split = ""
        self._settled: dict[str, LiveSession] = {}
        self._has_warned = False

    def retire(self, store: Store, database: Database, *, now: float) -> list[str]:
        """Retire examples whose effect is below zero."""
        # An optional library: only experiments need it.
        if find_spec("numpy") is None:
            if not self._has_warned:
                _log.warning("examples are not compared: run `pip install seasoned` to have harmful ones retired")
            self._has_warned = True
            return []
        assert self._experiment is not None
        try:
            split = load_split(database, self._experiment)
        except NotFound:
            return []
        if split.digest != self._split or len(self._settled) > _MOST_SETTLED:
            self._split, self._settled = split.digest, {}
        sentences = []
        for effect in hurting(database, store, split, now=now, settled=self._settled):
            reason = f"The experiment {self._experiment} shows that it hurts: {effect.reason}."
            evidence = msgspec.to_builtins(effect)
            set_state(store, effect.example_id, "retired", reason, evidence, now=now)
            sentences.append(_sentence(effect.example_id, "retired", reason))
        return sentences


def _sentence(example_id: str, state: State, reason: str) -> str:
    if state == "active":
        return f"example {example_id} may be shown again: {reason}"
    return f"example {example_id} is {state}: {reason} Undo: `seasoned template retire {example_id} --undo`."
