"""Keeps the evidence of sessions in the store, and what follows from it for each project, ready to be looked up.

A scan queues the sessions that changed. `refresh` reads them once, for `recall` and for the evidence of their projects,
and puts together what follows from it. A hook then only looks up a row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from seasoned.experience.evidence import SessionEvidence, evidence_of
from seasoned.experience.knowledge import ProjectKnowledge
from seasoned.experience.lesson import StoredPath, StoredSheet, kind_key
from seasoned.experience.rules import follow_rules, has_rules
from seasoned.store import Store
from seasoned.store.packed import pack, unpack
from seasoned.template.recall.index import ReadSession, fill

# Sessions of a project that count. Older ones would weigh next to nothing.
_MOST_SESSIONS = 1500
_MOST_FOLDERS = 50
_MOST_FILES = 20_000
_PURPOSES = ("test", "check", "format", "build")
_decode_evidence = msgspec.json.Decoder(SessionEvidence).decode
_encode = msgspec.json.Encoder().encode


def refresh(store: Store, *, within_seconds: float | None = None) -> bool:
    """Take in the sessions that changed since the last time; returns whether nothing is left to do.

    What `recall` looks up is filled with it, so that each session is read once.
    """
    ends = None if within_seconds is None else time.monotonic() + within_seconds
    if not has_rules(store):
        with store.write():
            follow_rules(store)
    waiting = fill(store, within_seconds=within_seconds, learn=partial(_learn, store))
    for row in store.rows("experience.stale"):
        if ends is not None and time.monotonic() >= ends:
            break
        rebuild(store, row["project"])
    return not waiting and not store.rows("experience.stale")


class LastLearned(msgspec.Struct, frozen=True):
    """From how many sessions of an agent was learned, which ended last, and when that was learned from."""

    agent: str
    sessions: int
    session: str
    ended: float | None
    at: float


def last_learned(store: Store) -> tuple[LastLearned, ...]:
    """The last session of each agent that was learned from."""
    found = []
    for row in store.rows("experience.learned_agents"):
        last = store.row("experience.last_learned", {"agent": row["agent"]})
        assert last is not None
        name = f"{last['agent']}:{last['native_id']}"
        found.append(LastLearned(row["agent"], row["sessions"], name, last["ended"] or None, last["at"]))
    return tuple(found)


def _learn(store: Store, sessions: Mapping[int, ReadSession]) -> None:
    """Keep the evidence of sessions that were read."""
    note_learned(store, [(at, one.track.ref.agent, one.track.ended) for at, one in sessions.items()])
    known = {at: one for at, one in sessions.items() if one.track.project is not None and one.track.calls}
    store.run_many("experience.drop_evidence", [{"session_id": at} for at in sessions if at not in known])
    keep_evidence(
        store,
        [
            (at, one.track.project, evidence_of(one.track, one.targets, one.repaired_by))
            for at, one in known.items()
            if one.track.project is not None
        ],
    )


def note_learned(store: Store, sessions: Sequence[tuple[int, str, float | None]]) -> None:
    """Write down that sessions were learned from now, each with its agent and end; call it inside a transaction."""
    at = time.time()
    store.run_many(
        "experience.note_learned",
        [{"session_id": id_, "agent": agent, "ended": ended or 0.0, "at": at} for id_, agent, ended in sessions],
    )


def keep_evidence(store: Store, found: Sequence[tuple[int, str, SessionEvidence]]) -> None:
    """Write what sessions show, and that their projects have news; call it inside a transaction."""
    store.run_many(
        "experience.save_evidence",
        [
            {"session_id": id_, "project": project, "ended": evidence.end, "content": pack(_encode(evidence))}
            for id_, project, evidence in found
        ],
    )
    store.run_many("experience.mark_stale", [{"project": one} for one in {project for _, project, _ in found}])


def rebuild(store: Store, project: str) -> None:
    """Put together what a project knows from the evidence of its sessions."""
    known = knowledge_of(store, project)
    rows = [
        {"project": project, "topic": topic, "key": key, "content": _encode(content)}
        for topic, key, content in _topics(known)
    ]
    with store.write():
        store.run("experience.clear_knowledge", {"project": project})
        store.run_many("experience.add_knowledge", rows)
        store.run("experience.not_stale", {"project": project})


def knowledge_of(store: Store, project: str) -> ProjectKnowledge:
    """The knowledge of a project, from the evidence of its newest sessions."""
    known = ProjectKnowledge(project)
    newest = store.rows("experience.of_project", {"project": project, "limit": _MOST_SESSIONS})
    for row in reversed(newest):
        known.add(_decode_evidence(unpack(row["content"])))
    return known


def _topics(known: ProjectKnowledge) -> Iterator[tuple[str, str, Any]]:
    yield "sheet", "", StoredSheet(known.sheet(), len(known))
    for folder in known.folders()[:_MOST_FOLDERS]:
        yield "sheet", folder, StoredSheet(known.sheet(folder), len(known))
    for purpose in _PURPOSES:
        line = known.command_for(purpose)  # type: ignore[arg-type]
        if line is not None:
            yield "purpose", purpose, line
    for kind, hint in known.mistakes():
        yield "after", kind_key(kind), hint
    for form, hint in known.failing_forms():
        yield "before", form, hint
    for number, (name, path) in enumerate(known.known_files()):
        if number == _MOST_FILES:
            break
        yield "file", name, StoredPath(path)
