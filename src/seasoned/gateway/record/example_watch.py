"""Suspends or retires shown examples that do harm, while the gateway runs.

There are two sources of evidence. The harm guard looks for calls that follow an example and fail; a few conversations
are enough. A running experiment compares sessions with and without an example; that takes many. Both store a state
with a reason, and a person can undo it.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from importlib.util import find_spec

import msgspec

from seasoned.errors import NotFound
from seasoned.example.example import Example
from seasoned.example.library.guard import GuardRuling, WatchedSession, drawn_rate, guard
from seasoned.example.library.storage import Library, State, cached_library, set_state
from seasoned.experiment.live.assignment import load_split
from seasoned.experiment.live.live_report import hurting
from seasoned.experiment.live.live_session import LiveSession
from seasoned.outcome.track import JudgedCall, Track, tracks
from seasoned.store import Database, Store

# The newest lineages of one example. An older change would have been noticed long ago.
_MOST_LINEAGES = 40
_MOST_AT_ONCE = 100
_FIRST_BLOCKS = 2000
_LOOK_SECONDS = 1.0
# A usual rate changes slowly, and computing it reads many sessions.
_RATE_SECONDS = 300.0
_EFFECT_SECONDS = 60.0
# The part of its time that the recorder may spend on effects of examples.
_EFFECT_SHARE = 0.005
_MOST_SETTLED = 50_000
_PAUSE_SECONDS = 0.001
_strings = msgspec.json.Decoder(tuple[str, ...]).decode
_log = logging.getLogger("seasoned.gateway")


class ExampleWatch:
    """Holds the newest evidence about each example. Used by the recorder's thread only."""

    def __init__(self, experiment: str | None = None, *, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._experiment = experiment
        self._stopwatch = stopwatch
        self._grown: OrderedDict[str, None] = OrderedDict()
        self._evidence: dict[str, OrderedDict[str, WatchedSession]] = {}
        self._is_loaded = False
        self._rates: dict[str, tuple[float, float | None]] = {}
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
        sentences = self._guard(store, library, now)
        if self._grown:
            self._next_look = now
        if self._are_effects_due(now):
            self._next_effects = now + _EFFECT_SECONDS
            begun = self._stopwatch()
            sentences += self._effects.retire(store, database, now=now)
            self._next_effects = now + max(_EFFECT_SECONDS, (self._stopwatch() - begun) / _EFFECT_SHARE)
        return sentences

    def _guard(self, store: Store, library: Library, now: float) -> list[str]:
        watched = _WatchedExamples(library)
        if not self._is_loaded:
            self._load(store, watched)
            self._is_loaded = True
        changed: set[str] = set()
        for session in list(self._grown)[:_MOST_AT_ONCE]:
            agent, _, native_id = session.partition(":")
            row = store.row("session.find_ref", {"agent": agent, "native_id": native_id})
            if row is not None:
                changed |= self._read(store, row["id"], watched)
            del self._grown[session]
            # Let the event loop run in between.
            time.sleep(_PAUSE_SECONDS)
        if not changed:
            return []
        restored = {row["example_id"]: row["changed_at"] for row in store.rows("guard.restored")}
        found = [watched.by_id[key] for key in sorted(changed)]
        usual = {tool: rate for tool in {one.tool for one in found} if (rate := self._usual(store, tool, now))}
        sentences = []
        for one in found:
            seen = self._evidence[one.id].values()
            for ruling in guard(seen, [one], suspended=watched.suspended, since=restored, usual=usual):
                if ruling.decision != "keep":
                    sentences.append(_decide(store, ruling, now))
        return sentences

    def _load(self, store: Store, watched: _WatchedExamples) -> None:
        """Load the evidence from before this gateway started."""
        wanted: dict[int, None] = {}
        counts: dict[str, int] = {}
        for block in store.rows("guard.recent_blocks", {"limit": _FIRST_BLOCKS}):
            ids = [key for key in _strings(block["example_ids"]) if key in watched.by_id]
            if any(counts.get(key, 0) < _MOST_LINEAGES for key in ids):
                wanted[block["id"]] = None
                for key in ids:
                    counts[key] = counts.get(key, 0) + 1
        for key, since in watched.suspended.items():
            parameters = {"tool": watched.by_id[key].tool, "after": since}
            for row in store.rows("guard.later", parameters)[-_MOST_LINEAGES:]:
                wanted[row["id"]] = None
        for session_id in sorted(wanted):
            self._read(store, session_id, watched)

    def _read(self, store: Store, session_id: int, watched: _WatchedExamples) -> set[str]:
        """Add what a session did to the evidence; returns the examples it concerns."""
        rows = store.rows("guard.shown_to", {"session_id": session_id})
        if not rows and not watched.suspended:
            return set()
        if any(row["example_ids"] is None for row in rows):
            # A session that was shown unknown examples is evidence neither for nor against any.
            return set()
        shown = tuple(sorted({key for row in rows for key in _strings(row["example_ids"])}))
        changed = set()
        for track in tracks(store, sessions=[session_id]):
            if track.relation == "review":
                continue
            for tool in {call.tool for call in track.counted()} & watched.by_tool.keys():
                one = WatchedSession(_slim(track, tool), shown)
                for key in watched.by_tool[tool]:
                    if (key in shown) != (key in watched.suspended):
                        self._keep(key, one)
                        changed.add(key)
        return changed

    def _keep(self, key: str, one: WatchedSession) -> None:
        kept = self._evidence.setdefault(key, OrderedDict())
        kept[str(one.track.ref)] = one
        kept.move_to_end(str(one.track.ref))
        if len(kept) > _MOST_LINEAGES:
            kept.popitem(last=False)

    def _usual(self, store: Store, tool: str, now: float) -> float | None:
        """How often calls of a tool fail in the newest sessions that were shown nothing; None if there are none."""
        at, known = self._rates.get(tool, (float("-inf"), None))
        if now - at < _RATE_SECONDS:
            return known
        row = store.row("guard.cold_rate", {"tool": tool})
        ok, failed = (0, 0) if row is None else (row["ok"] or 0, row["failed"] or 0)
        found = drawn_rate(failed, ok + failed) if ok + failed else None
        self._rates[tool] = (now, found)
        return found


class _WatchedExamples:
    """The examples of a library that are watched: by id, by tool, and since when some are suspended."""

    def __init__(self, library: Library) -> None:
        self.by_id: dict[str, Example] = {}
        for template in library.templates:
            for example in template.examples:
                if library.state_of(example.id) != "retired":
                    self.by_id[example.id] = example
        self.by_tool: dict[str, list[str]] = {}
        for key, example in self.by_id.items():
            self.by_tool.setdefault(example.tool, []).append(key)
        states = library.states
        self.suspended = {key: states[key].changed_at for key in self.by_id if key in states}


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


def _decide(store: Store, ruling: GuardRuling, now: float) -> str:
    state: State = "suspended" if ruling.decision == "suspend" else "active"
    set_state(store, ruling.example_id, state, ruling.reason, ruling.evidence, now=now)
    return _sentence(ruling.example_id, state, ruling.reason)


def _sentence(example_id: str, state: State, reason: str) -> str:
    if state == "active":
        return f"example {example_id} may be shown again: {reason}"
    return f"example {example_id} is {state}: {reason} Undo: `seasoned template retire {example_id} --undo`."


def _slim(track: Track, tool: str) -> Track:
    """Only what the guard needs: the calls of one tool, without their results."""
    calls = tuple(_bare(call) for call in track.counted() if call.tool == tool)
    return Track(ref=track.ref, messages=0, calls=calls, root=track.root, started=track.started)


def _bare(call: JudgedCall) -> JudgedCall:
    return msgspec.structs.replace(call, result=None, reason="", intent=None)
