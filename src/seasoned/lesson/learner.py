"""Learns from sessions while they are read, so that a large scan does it in all its workers.

It finds what `refresh` finds in the store. If the store may decide otherwise, it leaves the session to `refresh`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from seasoned.lesson import rules, storage
from seasoned.lesson.evidence import SessionEvidence, evidence_of
from seasoned.outcome.track import JudgedCall, Track
from seasoned.scan.rows import SessionRows
from seasoned.session import SessionRef, Usage
from seasoned.store import Store

# A correction is about the calls right before it. The query `call.set_corrected` says the same.
_CORRECTED_CALLS = 3


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(SessionEvidence).decode


class SessionLearner:
    """Finds mistakes, repairs and the evidence for the project in a session, and keeps them."""

    def learn(self, session: SessionRows) -> bytes | None:
        """What a whole session shows; None if the store decides which of its calls count, or nothing is learned."""
        track = _track(session)
        # A review is about the session it reviews, and has other tools.
        return None if track is None or track.relation == "review" else _encode(evidence_of(track))

    def keep(self, store: Store, learned: Mapping[int, bytes]) -> None:
        """Write what was found in new sessions that are in the store as they were read; the others stay queued."""
        rows = [row for row in store.rows("lesson.as_read") if row["id"] in learned]
        if not rules.has_rules(store):
            rules.follow_rules(store)
        found = {row["id"]: _decode(learned[row["id"]]) for row in rows}
        storage.note_learned(store, [(row["id"], row["agent"], row["ended"]) for row in rows])
        storage.keep_evidence(
            store,
            [
                # Its lineage is known only now.
                (row["id"], row["project"], msgspec.structs.replace(found[row["id"]], root=row["root"]))
                for row in rows
                if row["project"] is not None
            ],
        )
        store.run_many("lesson.not_waiting", [(at,) for at in found])


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
        usage=Usage(*[getattr(session, f"{name}_tokens") for name in Usage.__struct_fields__]),
    )
