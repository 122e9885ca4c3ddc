"""Keeps what `recall` looks up: of sessions that changed, the calls that worked and the mistakes with their repairs.

What is kept only points at calls, so that forgetting a session takes it along.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from seasoned.command.rows import COMPILED
from seasoned.insight.mistake.failure import program_of
from seasoned.insight.mistake.repair import CallTargets, Repair, repairs
from seasoned.insight.mistake.signature import signature
from seasoned.insight.track import JudgedCall, Track, tracks
from seasoned.store import Store
from seasoned.template.admission.hostile import phrases_text
from seasoned.template.example import digest
from seasoned.template.recall.lookup import said_number, speaking

# Of one tool in one session, each called in another way.
WORKED_KEPT = 3
# Sessions in one transaction: others must not wait long for their turn to write.
_AT_ONCE = 40
# Raise it when what is stored changes: then all sessions are read again.
_VERSION = "3"


class ReadSession(NamedTuple):
    """A session that was read for the index: also for others who learn from it, so that it is read once."""

    id: int
    track: Track
    targets: CallTargets
    repaired_by: dict[int, Repair]


Learn = Callable[[Sequence[ReadSession]], None]


def fill(store: Store, *, within_seconds: float | None = None, learn: Learn | None = None) -> int:
    """Read the sessions that changed since the last time, the newest first; returns how many are still queued.

    `learn` is called with the sessions of each batch, in the transaction that writes it.
    """
    ends = None if within_seconds is None else time.monotonic() + within_seconds
    _follow_rules(store)
    while rows := store.rows("recall.waiting", {"limit": _AT_ONCE}):
        # Read before anything is locked. A session that changes meanwhile stays in the queue.
        read = {row["session_id"]: _read(store, row["session_id"]) for row in rows}
        found = {at: _found(one) for at, one in read.items()}
        with store.write():
            for row in rows:
                _write(store, row["session_id"], *found[row["session_id"]])
                store.run("recall.done", {"session_id": row["session_id"], "times": row["times"]})
            if learn is not None:
                learn([one for one in read.values() if one is not None])
        if ends is not None and time.monotonic() >= ends:
            break
    waiting = store.row("recall.count_waiting")
    return 0 if waiting is None else int(waiting["sessions"])


def _follow_rules(store: Store) -> None:
    """Queue all sessions again when the rules of what may be shown have changed since the last time."""
    rules = digest(_VERSION, phrases_text(), COMPILED.read_text(encoding="utf-8"))
    known = store.row("recall.rules")
    if known is None or known["digest"] != rules:
        with store.write():
            store.run("recall.wait_all")
            store.run("recall.set_rules", {"digest": rules})


_Rows = list[dict[str, Any]]


def _read(store: Store, session_id: int) -> ReadSession | None:
    for track in tracks(store, sessions=[session_id]):
        # A review is about the session it reviews, and has other tools.
        if track.relation != "review":
            targets = CallTargets(track.calls)
            repaired_by = {one.failed: one for one in repairs(track.calls, aims=targets)}
            return ReadSession(session_id, track, targets, repaired_by)
    return None


def _found(read: ReadSession | None) -> tuple[_Rows, _Rows]:
    if read is None:
        return [], []
    return list(_worked(read.track, read.repaired_by)), list(_failures(read.track, read.repaired_by))


def _worked(track: Track, repaired_by: dict[int, Repair]) -> Iterator[dict[str, Any]]:
    """The last calls of each tool that worked, those first that repaired something, each in another way."""
    repaired = {one.repaired for one in repaired_by.values()}
    order = sorted(range(len(track.calls)), key=lambda at: (at not in repaired, -at))
    ways: dict[str, set[str]] = {}
    for at in order:
        call = track.calls[at]
        # A call that the user corrected did not work, whatever the tool said.
        if call.counts_as != "ok" or call.is_corrected:
            continue
        known = ways.setdefault(call.tool, set())
        if len(known) == WORKED_KEPT:
            continue
        way = program_of(call) or " ".join(sorted(call.arguments))
        if way not in known:
            known.add(way)
            yield {"call_id": call.call_id, "time": _time(track, call)}


def _failures(track: Track, repaired_by: dict[int, Repair]) -> Iterator[dict[str, Any]]:
    for at, call in enumerate(track.calls):
        if call.has_failed:
            repair = repaired_by.get(at)
            repaired = None if repair is None else track.calls[repair.repaired]
            yield {
                "call_id": call.call_id,
                "time": _time(track, call),
                "said": said_number(call.result or call.reason),
                "signature": signature(call),
                "tool": call.tool,
                "program": program_of(call) or "",
                "repaired_by": None if repaired is None else repaired.call_id,
                "how": None if repair is None else repair.how,
                "speaks": None if repaired is None else speaking(repaired.tool, repaired.arguments, repaired.result),
            }


def _time(track: Track, call: JudgedCall) -> float:
    """The best known time of a call; without any it counts as very old."""
    return next((one for one in (call.time, track.ended, track.started) if one is not None), 0.0)


def _write(store: Store, session_id: int, worked: _Rows, failures: _Rows) -> None:
    store.run("recall.clear_worked", {"session_id": session_id})
    store.run("recall.clear_failures", {"session_id": session_id})
    store.run_many("recall.add_worked", [{**one, "session_id": session_id} for one in worked])
    for one in failures:
        row = store.row("recall.add_mistake", one)
        assert row is not None
        if not store.run("recall.add_failure", {**one, "session_id": session_id, "mistake_id": row["id"]}):
            store.run("recall.drop_idle_mistake", {"id": row["id"]})
