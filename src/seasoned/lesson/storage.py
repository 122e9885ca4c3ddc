"""Keeps the evidence of sessions in the store, and the lessons that follow from it, ready to be looked up.

A scan queues the sessions that changed. `refresh` reads them once and puts the lessons of their projects together. A
hook then only looks up a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from seasoned.lesson.evidence import SessionEvidence, evidence_of
from seasoned.lesson.project_lessons import ProjectLessons
from seasoned.lesson.rules import follow_rules, has_rules, is_behind
from seasoned.outcome.track import Track, tracks
from seasoned.store import Store
from seasoned.store.interface import DatabaseRow
from seasoned.store.packed import pack, unpack

# Sessions of a project that are read: the newest eight that did something decide how it is done.
_MOST_SESSIONS = 1500
# Sessions in one transaction: other writers must not wait long.
_AT_ONCE = 40
_MOST_REPAIRS = 500
_CLOCKS_DIFFER = 86_400.0
_decode_evidence = msgspec.json.Decoder(SessionEvidence).decode
_encode = msgspec.json.Encoder().encode


def learn_again(store: Store) -> None:
    """Read all sessions again, and put all lessons together from their stored calls."""
    with store.write():
        follow_rules(store)
    refresh(store)


def refresh(store: Store, *, within_seconds: float | None = None) -> bool:
    """Take in the sessions that changed since the last time; returns whether nothing is left to do."""
    ends = float("inf") if within_seconds is None else time.monotonic() + within_seconds
    if not has_rules(store):
        with store.write():
            follow_rules(store)
    # Repeats if sessions changed while they were read: they are still in the queue then.
    while (queue := store.rows("lesson.queue")) and time.monotonic() < ends:
        for at in range(0, len(queue), _AT_ONCE):
            _take_in(store, queue[at : at + _AT_ONCE])
            if time.monotonic() >= ends:
                break
    for row in store.rows("lesson.stale"):
        if time.monotonic() >= ends:
            break
        rebuild(store, row["project"])
    return not is_behind(store)


class LastLearned(msgspec.Struct, frozen=True):
    """From how many sessions of an agent was learned, which ended last, and when that was learned from."""

    agent: str
    sessions: int
    session: str
    ended: float | None
    at: float


def last_learned(store: Store) -> tuple[LastLearned, ...]:
    """The last session of each agent that was learned from."""
    return tuple(
        LastLearned(
            row["agent"], row["sessions"], f"{row['agent']}:{row['native_id']}", row["ended"] or None, row["at"]
        )
        for row in store.rows("lesson.last_learned")
    )


def _take_in(store: Store, rows: Sequence[DatabaseRow]) -> None:
    # Read before anything is locked. A session that changes meanwhile stays in the queue.
    read = {row["session_id"]: track for row in rows for track in tracks(store, sessions=[row["session_id"]])}
    # A review is about the session it reviews, and has other tools.
    read = {at: track for at, track in read.items() if track.relation != "review"}
    found = [
        (at, track.project, evidence_of(track))
        for at, track in read.items()
        if track.project is not None and track.calls
    ]
    known = {at for at, _, _ in found}
    with store.write():
        store.run_many("lesson.drop_evidence", [{"session_id": at} for at in read if at not in known])
        note_learned(store, [(at, track.ref.agent, track.ended) for at, track in read.items()])
        keep_evidence(store, found)
        for row in rows:
            store.run("lesson.done", {"session_id": row["session_id"], "times": row["times"]})


def note_learned(store: Store, sessions: Sequence[tuple[int, str, float | None]]) -> None:
    """Write down that sessions were learned from now, each with its agent and end; call it inside a transaction."""
    at = time.time()
    store.run_many(
        "lesson.note_learned",
        [{"session_id": id_, "agent": agent, "ended": ended or 0.0, "at": at} for id_, agent, ended in sessions],
    )


def keep_evidence(store: Store, found: Sequence[tuple[int, str, SessionEvidence]]) -> None:
    """Write what sessions show, and that their projects have news; call it inside a transaction."""
    store.run_many(
        "lesson.save_evidence",
        [
            {"session_id": id_, "project": project, "ended": evidence.end, "content": pack(_encode(evidence))}
            for id_, project, evidence in found
        ],
    )
    store.run_many("lesson.mark_stale", [{"project": one} for one in {project for _, project, _ in found}])


def rebuild(store: Store, project: str) -> None:
    """Put the lessons of a project together from the evidence of its sessions."""
    known = lessons_of(store, project)
    rows = [
        {"project": project, "topic": topic, "key": key, "content": _encode(content)}
        for topic, key, content in _topics(known)
    ]
    with store.write():
        store.run("lesson.clear_lessons", {"project": project})
        store.run_many("lesson.add_lesson", rows)
        store.run("lesson.not_stale", {"project": project})


def lessons_of(store: Store, project: str) -> ProjectLessons:
    """The lessons of a project, from the evidence of its newest sessions."""
    known = ProjectLessons(project)
    for one in evidence_of_project(store, project):
        known.add(one)
    return known


def evidence_of_project(store: Store, project: str) -> list[SessionEvidence]:
    """What the newest sessions of a project showed, in the order in which they ended."""
    # What claims to come from the future would always be the newest.
    values = {"project": project, "limit": _MOST_SESSIONS, "until": time.time() + _CLOCKS_DIFFER}
    return [_decode_evidence(unpack(row["content"])) for row in reversed(store.rows("lesson.of_project", values))]


def kept_evidence(store: Store) -> Callable[[Track], SessionEvidence]:
    """Tells what a session showed: as it was kept, unless sessions wait to be learned from."""
    if is_behind(store):
        return evidence_of

    def find(track: Track) -> SessionEvidence:
        row = store.row("lesson.of_session", {"agent": track.ref.agent, "native_id": track.ref.native_id})
        return evidence_of(track) if row is None else _decode_evidence(unpack(row["content"]))

    return find


def _topics(known: ProjectLessons) -> Iterator[tuple[str, str, Any]]:
    for line in known.commands():
        yield "command", line.key, line
    for lesson in known.repairs()[:_MOST_REPAIRS]:
        yield "repair", lesson.key, lesson
    for form, hint in known.failing_forms():
        yield "before", form, hint
