"""Keeps the evidence of sessions in the store, and what follows from it for each project, ready to be looked up.

A scan queues the sessions that changed. `refresh` reads their evidence, and puts together the knowledge of the projects
that it belongs to. A hook then only looks up a row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from seasoned.command.rows import COMPILED
from seasoned.experience.evidence import SessionEvidence, evidence_of
from seasoned.experience.knowledge import ProjectKnowledge
from seasoned.experience.lookup import StoredPath, StoredSheet, kind_key
from seasoned.insight.track import tracks
from seasoned.store import Store

# Raise it when the evidence of a session is read differently: then all sessions are read again.
_VERSION = "1"
_AT_ONCE = 40
# Sessions of a project that count. Older ones would weigh next to nothing.
_MOST_SESSIONS = 1500
_MOST_FOLDERS = 50
_MOST_FILES = 20_000
_PURPOSES = ("test", "check", "format", "build")
_decode_evidence = msgspec.json.Decoder(SessionEvidence).decode
_encode = msgspec.json.Encoder().encode


def refresh(store: Store, *, within_seconds: float | None = None) -> bool:
    """Take in the sessions that changed since the last time; returns whether nothing is left to do."""
    ends = None if within_seconds is None else time.monotonic() + within_seconds
    _follow_rules(store)
    while rows := store.rows("experience.waiting", {"limit": _AT_ONCE}):
        # Read before anything is locked. A session that changes meanwhile stays in the queue.
        found = [(row, _evidence(store, row["session_id"]) if row["project"] else None) for row in rows]
        with store.write():
            for row, evidence in found:
                _save(store, row["session_id"], row["project"], evidence)
                store.run("experience.done", {"session_id": row["session_id"], "times": row["times"]})
        if ends is not None and time.monotonic() >= ends:
            return False
    for row in store.rows("experience.stale"):
        rebuild(store, row["project"])
        if ends is not None and time.monotonic() >= ends:
            break
    return not store.rows("experience.stale")


def _follow_rules(store: Store) -> None:
    """Queue all sessions again when the rules have changed since the last time."""
    rules = blake2b(_VERSION.encode() + COMPILED.read_bytes(), digest_size=8).hexdigest()
    known = store.row("experience.rules")
    if known is None or known["digest"] != rules:
        with store.write():
            store.run("experience.wait_all")
            store.run("experience.set_rules", {"digest": rules})


def _evidence(store: Store, session_id: int) -> SessionEvidence | None:
    for track in tracks(store, sessions=[session_id]):
        # A review is about the session it reviews, and has other tools.
        if track.relation != "review" and track.calls:
            return evidence_of(track)
    return None


def _save(store: Store, session_id: int, project: str | None, evidence: SessionEvidence | None) -> None:
    if evidence is None or project is None:
        store.run("experience.drop_evidence", {"session_id": session_id})
        return
    store.run(
        "experience.save_evidence",
        {"session_id": session_id, "project": project, "ended": evidence.end, "content": _encode(evidence)},
    )
    store.run("experience.mark_stale", {"project": project})


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
    known = ProjectKnowledge()
    newest = store.rows("experience.of_project", {"project": project, "limit": _MOST_SESSIONS})
    for row in reversed(newest):
        known.add(_decode_evidence(row["content"]))
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
