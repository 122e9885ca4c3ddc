"""Keeps what `recall` looks up: of sessions that changed, the calls that worked and the mistakes with their repairs.

What is kept only points at calls, so that forgetting a session takes it along.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from seasoned.command.rows import COMPILED
from seasoned.insight.mistake.failure import program_of
from seasoned.insight.mistake.repair import Repair, repairs
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


def fill(store: Store, *, within_seconds: float | None = None) -> int:
    """Read the sessions that changed since the last time, the newest first; returns how many are still queued."""
    ends = None if within_seconds is None else time.monotonic() + within_seconds
    _follow_rules(store)
    while rows := store.rows("recall.waiting", {"limit": _AT_ONCE}):
        # Read before anything is locked. A session that changes meanwhile stays in the queue.
        found = [(row, _found(store, row["session_id"])) for row in rows]
        with store.write():
            for row, (worked, failures) in found:
                _write(store, row["session_id"], worked, failures)
                store.run("recall.done", {"session_id": row["session_id"], "times": row["times"]})
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


def _found(store: Store, session_id: int) -> tuple[_Rows, _Rows]:
    for track in tracks(store, sessions=[session_id]):
        # A review is about the session it reviews, and has other tools.
        if track.relation != "review":
            repaired_by = {one.failed: one for one in repairs(track.calls)}
            return list(_worked(track, repaired_by)), list(_failures(track, repaired_by))
    return [], []


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
