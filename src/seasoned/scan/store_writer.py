"""Writes batches into the store. A file's rows and its resume point are written in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

import msgspec

from seasoned.outcome.verdict import JUDGE
from seasoned.scan.aggregates import update_aggregates
from seasoned.scan.rows import Batch, Learner, SessionRows
from seasoned.store import Store
from seasoned.store.packed import pack

_NOT_COLUMNS = ("calls", "usage_events", "corrections", "marks", "first_message", "said", "rules", "learned")
_COLUMNS = tuple([name for name in SessionRows.__struct_fields__ if name not in _NOT_COLUMNS])
_values = attrgetter(*_COLUMNS)


class StoreWriter:
    """Writes batches, and collects the sessions whose aggregates must be updated."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self.store = store
        self.clock = clock
        self.touched: set[int] = set()
        # What the readers learned from sessions that were not in the store before, complete and once.
        self._learned: dict[int, bytes] = {}
        self.held_bytes = 0  # how much of it waits in memory
        # Sessions that were written, without their calls yet.
        self._waiting: list[tuple[int, SessionRows]] = []
        self._newest = 0
        self._has_unreadable = True
        # The sessions whose aggregates were updated.
        self.settled: set[int] = set()

    def settle(self, learner: Learner | None = None) -> None:
        """Update the aggregates of the sessions written so far, and keep what was learned from them."""
        update_aggregates(self.store, self.touched, learner, self._learned)
        self.settled |= self.touched
        self.touched = set()
        self._learned = {}
        self.held_bytes = 0

    def write(self, batches: list[Batch]) -> None:
        """Write all batches in one transaction."""
        with self.store.write():
            newest = self.store.row("session.newest_id")
            self._newest = 0 if newest is None else newest["id"] or 0
            self._has_unreadable = self.store.row("source.some_unreadable") is not None
            self._waiting = []
            for batch in batches:
                self._write(batch)
            self._write_calls()

    def _write(self, batch: Batch) -> None:
        source_id = self.write_source(batch)
        if batch.is_first and self._has_unreadable:
            self.store.run("source.clear_unreadable", {"source_id": source_id})
        if batch.was_cut_at is not None:
            self.store.run("source.clear_unreadable_at", {"source_id": source_id, "place": batch.was_cut_at})
        if batch.unreadable:
            self._has_unreadable = True
            self.store.run_many("source.add_unreadable", [(source_id, *one) for one in batch.unreadable])
        for session in batch.sessions:
            if session.messages or session.calls:
                self._begin_session(session, source_id)

    def write_source(self, batch: Batch) -> int:
        """Write the source of a batch; call it inside a transaction."""
        row = self.store.row(
            "source.save",
            {
                "path": batch.path,
                "format": batch.format,
                # Until the whole file is written it counts as not fully read.
                "size": batch.size if batch.done else -1,
                "mtime_ns": batch.mtime_ns,
                "judge": JUDGE,
                "resume": None if batch.resume is None else pack(batch.resume.encode()),
                "check_digest": batch.check_digest,
                "stamps": batch.stamps,
                "scanned_at": self.clock(),
            },
        )
        assert row is not None
        return int(row["id"])

    def write_session(self, session: SessionRows, source_id: int | None) -> int | None:
        """Write one session with its calls; call it inside a transaction. None if the session was forgotten."""
        session_id = self._begin_session(session, source_id)
        self._write_calls()
        return session_id

    def _begin_session(self, session: SessionRows, source_id: int | None) -> int | None:
        """Write a session; its calls are written with those of others, since most sessions have few."""
        fields = dict(zip(_COLUMNS, _values(session), strict=True), source_id=source_id)
        row = self.store.row("session.save", fields)
        if row is None:
            return None
        session_id = int(row["id"])
        if session.learned is not None and session_id > self._newest and session_id not in self.touched:
            self._learned[session_id] = session.learned
            self.held_bytes += len(session.learned)
        else:
            self._learned.pop(session_id, None)
        self.touched.add(session_id)
        self._waiting.append((session_id, session))
        if session.corrections:
            # The corrected calls may have been written by an earlier scan.
            self._write_calls()
            corrections = [{"session_id": session_id, "message": message} for message in session.corrections]
            self.store.run_many("call.set_corrected", corrections)
        if session.marks:
            marks = msgspec.json.encode(sorted(session.marks)).decode()
            self.store.run("guard.mark_session", {"session_id": session_id, "marks": marks})
        return session_id

    def _write_calls(self) -> None:
        waiting, self._waiting = self._waiting, []
        # In the same transaction: if this process is killed before the totals are updated, the next scan does it.
        self.store.run_many("session.unsettle", [(session_id,) for session_id, _ in waiting])
        self.store.run_records("call.save", [(session_id, session.calls) for session_id, session in waiting])
        self.store.run_records("usage.save", [(session_id, session.usage_events) for session_id, session in waiting])
        rules = [
            {"session_id": at, "key": one.key, "text": one.text, "lasts": one.lasts, "said_at": one.said_at}
            for at, session in waiting
            for one in session.rules
        ]
        self.store.run_many("rule.save", rules)
        said = [
            (at, session.first_message, pack(session.said.encode()))
            for at, session in waiting
            if session.said is not None
        ]
        self.store.run_many("search.save_said", said)
