"""Learns from sessions while they are read, so that a large scan does it in all its workers.

It finds what `refresh` finds in the store. If the store may decide otherwise, it leaves the session to `refresh`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from seasoned.experience import rules as evidence_rules
from seasoned.experience import storage
from seasoned.experience.evidence import SessionEvidence, evidence_of
from seasoned.insight.track import JudgedCall, Track
from seasoned.scan.rows import SessionRows
from seasoned.session import SessionRef
from seasoned.store import Store
from seasoned.template.recall import index
from seasoned.template.recall import rules as recall_rules
from seasoned.template.recall.index import SessionIndex

# A correction is about the calls right before it. The query `call.set_corrected` says the same.
_CORRECTED_CALLS = 3


class LearnedSession(msgspec.Struct, frozen=True, array_like=True):
    """What was found in a session."""

    index: SessionIndex
    evidence: SessionEvidence


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(LearnedSession).decode


class SessionLearner:
    """Finds mistakes, repairs and the evidence for the project in a session, and keeps them."""

    def learn(self, session: SessionRows) -> bytes | None:
        """What a whole session shows; None if the store decides which of its calls count, or nothing is learned."""
        track = _track(session)
        read = None if track is None else index.read_session(track)
        if read is None:
            return None
        return _encode(LearnedSession(index.index_of(read), evidence_of(read.track, read.targets, read.repaired_by)))

    def keep(self, store: Store, learned: Mapping[int, bytes]) -> None:
        """Write what was found in new sessions that are in the store as they were read; the others stay queued."""
        rows = [row for row in store.rows("experience.as_read") if row["id"] in learned]
        for rules in (recall_rules, evidence_rules):
            if not rules.has_rules(store):
                rules.follow_rules(store)
        found = {row["id"]: _decode(learned[row["id"]]) for row in rows}
        index.keep_index(store, {at: one.index for at, one in found.items()})
        storage.note_learned(store, [(row["id"], row["agent"], row["ended"]) for row in rows])
        storage.keep_evidence(
            store,
            [
                # Its lineage is known only now.
                (row["id"], row["project"], msgspec.structs.replace(found[row["id"]].evidence, root=row["root"]))
                for row in rows
                if row["project"] is not None
            ],
        )
        store.run_many("recall.not_waiting", [(at,) for at in found])


def _track(session: SessionRows) -> Track | None:
    """The session as the store will have it; None if that depends on what the store has already."""
    rows = sorted(session.calls, key=lambda row: row.position)
    if not rows or len({row.call_id for row in rows}) < len(rows) or len({row.position for row in rows}) < len(rows):
        return None
    corrected: set[int] = set()
    for message in session.corrections:
        before = [row.position for row in rows if row.message < message]
        corrected.update(before[-_CORRECTED_CALLS:])
    ref = SessionRef(session.agent, session.native_id)
    return Track(
        ref=ref,
        messages=session.messages,
        calls=tuple(
            [
                JudgedCall(
                    position=position,
                    message=row.message,
                    tool=row.tool,
                    kind=row.kind,
                    counts_as=row.counts_as,
                    verdict=row.verdict,
                    fault=row.fault,
                    time=row.time,
                    raw_arguments=row.arguments,
                    result=row.result,
                    reason=row.reason,
                    intent=row.intent,
                    is_corrected=row.position in corrected,
                    is_foreign=bool(row.is_foreign),
                    call_id=row.call_id,
                    evidence=row.evidence,
                )
                for position, row in enumerate(rows)
            ]
        ),
        root=str(ref),
        started=session.started,
        ended=session.ended,
        relation=session.relation,  # type: ignore[arg-type]
        cwd=session.cwd,
    )
