"""Fills the index of `recall`: the calls that worked, and the mistakes with their repairs, of sessions that changed.

The index only points at calls, so that forgetting a session removes its entries too.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from seasoned.command.risk import only_looks
from seasoned.command.written import WrittenCommand, written
from seasoned.digest import short_digest
from seasoned.insight.mistake.call_target import PREVIEWS, SETUP_PROGRAMS
from seasoned.insight.mistake.failure import program_of
from seasoned.insight.mistake.repair import CallTargets, Repair, repairs
from seasoned.insight.mistake.signature import signature
from seasoned.insight.track import JudgedCall, Track, tracks
from seasoned.store import Store
from seasoned.template.one_off import without_one_offs
from seasoned.template.recall.lookup import said_number
from seasoned.template.recall.rules import follow_rules, has_rules

# Calls of one tool in one session, each in a different way.
WORKED_KEPT = 3
# Sessions in one transaction: other writers must not wait long.
_AT_ONCE = 40
_FAILURE_COLUMNS = ("call_id", "time", "signature", "tool", "program", "said", "repaired_by", "how", "speaks")
# Of a digest: as many as a number in a page's address may have in any program.
_NUMBER_DIGITS = 12


class WorkedRow(msgspec.Struct, frozen=True, array_like=True):
    """A call that worked, as the index keeps it."""

    call_id: str
    time: float


class FailureRow(msgspec.Struct, frozen=True, array_like=True):
    """A failed call and its repair, as the index keeps them."""

    call_id: str
    time: float
    said: int | None
    signature: str
    tool: str
    program: str
    repaired_by: str | None
    how: str | None
    speaks: str | None


class SessionIndex(msgspec.Struct, frozen=True, array_like=True):
    """What the index keeps of a session."""

    worked: list[WorkedRow]
    failures: list[FailureRow]


class ReadSession(NamedTuple):
    """A session that was read for the index, passed on to other learners so that it is read only once."""

    track: Track
    targets: CallTargets
    repaired_by: dict[int, Repair]


# Given the ids of the sessions.
Learn = Callable[[Mapping[int, ReadSession]], None]


def fill(store: Store, *, within_seconds: float | None = None, learn: Learn | None = None) -> int:
    """Read the sessions that changed since the last time, the newest first; returns how many are still queued.

    `learn` is called with the sessions of each batch, in the transaction that writes it.
    """
    ends = float("inf") if within_seconds is None else time.monotonic() + within_seconds
    if not has_rules(store):
        with store.write():
            follow_rules(store)
    is_late = False
    # Repeats if sessions changed while they were read: they are still in the queue then.
    while not is_late and (queue := store.rows("recall.queue")):
        for at in range(0, len(queue), _AT_ONCE):
            _take_in(store, queue[at : at + _AT_ONCE], learn)
            is_late = time.monotonic() >= ends
            if is_late:
                break
    waiting = store.row("recall.count_waiting")
    return 0 if waiting is None else int(waiting["sessions"])


def _take_in(store: Store, rows: Sequence[sqlite3.Row], learn: Learn | None) -> None:
    # Read before anything is locked. A session that changes meanwhile stays in the queue.
    read = {row["session_id"]: _read(store, row["session_id"]) for row in rows}
    found = {at: index_of(one) for at, one in read.items() if one is not None}
    with store.write():
        for session_id, times in rows:
            store.run("recall.clear", {"session_id": session_id})
            if session_id in found:
                keep_index(store, {session_id: found[session_id]})
            store.run("recall.done", {"session_id": session_id, "times": times})
        if learn is not None:
            learn({at: one for at, one in read.items() if one is not None})


def _read(store: Store, session_id: int) -> ReadSession | None:
    return next((read_session(track) for track in tracks(store, sessions=[session_id])), None)


def read_session(track: Track) -> ReadSession | None:
    """A session with the targets of its calls; None if nothing can be learned from it."""
    if track.relation == "review":
        # A review is about the session it reviews, and has other tools.
        return None
    targets = CallTargets(track.calls)
    return ReadSession(track, targets, {one.failed: one for one in repairs(track.calls, targets=targets)})


def index_of(read: ReadSession) -> SessionIndex:
    """What the index keeps of a session."""
    return SessionIndex(list(_worked(read.track, read.repaired_by)), list(_failures(read.track, read.repaired_by)))


def _worked(track: Track, repaired_by: dict[int, Repair]) -> Iterator[WorkedRow]:
    """The last calls of each tool that worked, each in a different way; those that repaired something come first."""
    repaired = {one.repaired for one in repaired_by.values()}
    order = sorted(range(len(track.calls)), key=lambda at: (at not in repaired, -at))
    ways: dict[str, set[str]] = {}
    for at in order:
        call = track.calls[at]
        # A call that the user corrected did not work, even if the tool said so; one with foreign words is not shown.
        if call.counts_as != "ok" or call.is_corrected or call.is_foreign:
            continue
        known = ways.setdefault(call.tool, set())
        if len(known) == WORKED_KEPT:
            continue
        way = program_of(call) or " ".join(sorted(call.arguments))
        # Asked last: reading a command takes longest.
        if way not in known and _is_of_use(call.command):
            known.add(way)
            yield WorkedRow(call.call_id, _time(track, call))


def _is_of_use(command: str | None) -> bool:
    """Whether another session could want to run it; None is a call of another tool, whose arguments are what is asked.

    Looking around is the same everywhere, and what is about one day's work cannot be run again.
    """
    if command is None:
        return True
    parts = [one for one in written(command) if one.join != "|"]
    return any(map(_acts, parts)) and all(without_one_offs(one.text) == one.text for one in parts)


def _acts(one: WrittenCommand) -> bool:
    """Whether a command does something, rather than prepare, look around or show how it is called."""
    if not one.form or one.program in SETUP_PROGRAMS or not PREVIEWS.isdisjoint(one.words):
        return False
    return not only_looks(one.program, one.form.split()[-1])


def _failures(track: Track, repaired_by: dict[int, Repair]) -> Iterator[FailureRow]:
    for at, call in enumerate(track.calls):
        if call.has_failed:
            repair = repaired_by.get(at)
            repaired = None if repair is None else track.calls[repair.repaired]
            if repaired is not None and repaired.is_foreign:
                repair = repaired = None
            yield FailureRow(
                call_id=call.call_id,
                time=_time(track, call),
                said=said_number(call.result or call.reason),
                signature=signature(call),
                tool=call.tool,
                program=program_of(call) or "",
                repaired_by=None if repaired is None else repaired.call_id,
                how=None if repair is None else repair.how,
                # Whether it may be shown is decided at lookup, for the project that asks.
                speaks=None,
            )


def _time(track: Track, call: JudgedCall) -> float:
    """The best known time of a call; without one it counts as very old."""
    return next((one for one in (call.time, track.ended, track.started) if one is not None), 0.0)


def keep_index(store: Store, found: Mapping[int, SessionIndex]) -> None:
    """Write the index of sessions that it does not have yet; call it inside a transaction."""
    worked = [
        {"session_id": at, "call_id": one.call_id, "time": one.time}
        for at, index in found.items()
        for one in index.worked
    ]
    store.run_many("recall.add_worked", worked)
    failures = [
        {"session_id": at, "mistake_id": _number(one), **{name: getattr(one, name) for name in _FAILURE_COLUMNS}}
        for at, index in found.items()
        for one in index.failures
    ]
    store.run_many("recall.add_failure", failures)


def _number(failure: FailureRow) -> int:
    """The number of a mistake: the same in every store."""
    return int(short_digest(failure.signature, failure.tool, failure.program)[:_NUMBER_DIGITS], 16)
