"""Writes batches into the store, and then what depends on the written rows: lineages, copies, and totals.

A file's rows and its resume point are written in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from operator import attrgetter
from types import MappingProxyType

import msgspec

from seasoned.outcome.verdict import JUDGE
from seasoned.scan.rows import Batch, Learner, SessionRows, call_totals
from seasoned.scan.title import title_of_words, title_of_work
from seasoned.store import Store
from seasoned.store.packed import pack, unpack
from seasoned.store.project import settle_projects
from seasoned.store.repository import read_repositories

_NOT_COLUMNS = ("calls", "usage_events", "corrections", "first_message", "said", "rules", "learned")
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


def update_aggregates(
    store: Store,
    touched: Iterable[int],
    learner: Learner | None = None,
    learned: Mapping[int, bytes] = MappingProxyType({}),
) -> None:
    """Bring lineages, copies and totals of the touched sessions up to date, in one transaction.

    Sessions that a killed process wrote and did not get to are included. `learned` is what the learner found in some
    of them where they were read.
    """
    sessions = sorted(set(touched))
    waiting = store.row("session.count_unsettled")
    if not sessions and (waiting is None or not waiting["sessions"]):
        return
    # Before the transaction, because it starts git.
    repositories = read_repositories(store, sessions)
    # The ids go into a temporary table, so that one statement serves all sessions.
    store.run("session.begin_touched")
    with store.write():
        store.run("session.clear_touched")
        _touch(store, sessions)
        store.run("session.touch_unsettled")
        # The order matters: copies reveal forks, forks change lineages, and both change totals.
        _touch(store, _settle_repeated(store))
        _settle_roots(store)
        _touch(store, _settle_lineages(store))
        _settle_totals(store)
        _settle_titles(store)
        # A copy of an answer counts in one session only, so the others that have it change too.
        for statement in ("touch_copies", "clear_parts", "add_parts", "add_whole", "set_tokens", "set_cost"):
            store.run(f"usage.{statement}")
        settle_projects(store, repositories=repositories)
        store.run("lesson.wait")
        store.run("search.wait")
        store.run("session.settle")
        if learner is not None and learned:
            learner.keep(store, learned)


def _touch(store: Store, sessions: Iterable[int]) -> None:
    store.run_many("session.touch", [(session_id,) for session_id in sessions])


def _settle_repeated(store: Store) -> set[int]:
    """Mark copies among calls with a globally unique id: the call in the first session counts."""
    repeated = [row["call_id"] for row in store.rows("call.repeated")]
    changed: set[int] = set()
    for call_id in sorted(repeated):
        rows = store.rows("call.with_call_id", {"call_id": call_id})
        changed |= _set_copies(store, rows)
        for row in rows[1:]:
            if row["parent_agent"] is None and row["session_id"] != rows[0]["session_id"]:
                # A fork without a link to its parent is recognised by the calls it copied.
                link = {"parent_agent": rows[0]["agent"], "parent_native_id": rows[0]["native_id"], "relation": "fork"}
                if store.run("session.set_parent", {"id": row["session_id"], **link}):
                    changed.add(row["session_id"])
    return changed


def _set_copies(store: Store, rows: list[sqlite3.Row]) -> set[int]:
    """Make the other rows copies of the first; returns the sessions where that changed something."""
    changed: set[int] = set()
    for number, row in enumerate(rows):
        copy_of = None if number == 0 else rows[0]["id"]
        if row["copy_of"] != copy_of:
            store.run("call.set_copy_of", (copy_of, row["id"]))
            changed.add(row["session_id"])
    return changed


def _settle_roots(store: Store) -> None:
    """Set the first session of each chain; a circular chain ends where it meets itself."""
    links = store.rows("session.links")
    # What is known of a session by its name: its row, or None if the store has none.
    known: dict[tuple[str, str], sqlite3.Row | None] = {(row["agent"], row["native_id"]): row for row in links}
    for row in links:
        top = row
        seen = {(row["agent"], row["native_id"])}
        while top["parent_agent"] is not None:
            ref = (top["parent_agent"], top["parent_native_id"])
            above = _find(store, ref, known)
            if above is None or ref in seen:
                break
            seen.add(ref)
            top = above
        if row["root_id"] != top["id"]:
            store.run("session.set_root", {"id": row["id"], "root_id": top["id"]})
            store.run("session.set_root", {"id": top["id"], "root_id": top["id"]})


def _find(store: Store, ref: tuple[str, str], known: dict[tuple[str, str], sqlite3.Row | None]) -> sqlite3.Row | None:
    if ref not in known:
        known[ref] = store.row("session.find_ref", {"agent": ref[0], "native_id": ref[1]})
    return known[ref]


def _settle_lineages(store: Store) -> set[int]:
    """Mark copies among calls whose id is unique only within their lineage."""
    changed: set[int] = set()
    for root in store.rows("session.touched_roots"):
        by_call: dict[str, list[sqlite3.Row]] = {}
        for row in store.rows("call.weak_in_lineage", {"root_id": root["root_id"]}):
            by_call.setdefault(row["call_id"], []).append(row)
        for rows in by_call.values():
            changed |= _set_copies(store, rows)
    return changed


def _settle_titles(store: Store) -> None:
    """Name the sessions that their agent gave no title."""
    titles = []
    for row in store.rows("session.untitled"):
        parts = store.rows("search.said_in", {"session_id": row["id"]})
        said = chain.from_iterable(_decode_said(unpack(part["messages"])) for part in parts)
        title = title_of_words(islice((words for _, is_person, words in said if is_person), _MOST_SAID))
        if title is None:
            calls = [
                (call["tool"], call["arguments"]) for call in store.rows("call.of_session", {"session_id": row["id"]})
            ]
            title = title_of_work(calls, row["cwd"], row["messages"])
        titles.append({"id": row["id"], "title": title})
    store.run_many("session.set_title", titles)


_MOST_SAID = 6
_decode_said = msgspec.json.Decoder(list[tuple[int, int, str]]).decode


def _settle_totals(store: Store) -> None:
    counted: dict[int, dict[tuple[str, str], int]] = {}
    copies: Counter[int] = Counter()
    for row in store.rows("call.counts"):
        of_session = counted.setdefault(row["session_id"], {})
        if row["is_copy"]:
            copies[row["session_id"]] += row["calls"]
        elif row["counts_as"] is not None:
            of_session[row["counts_as"], row["kind"]] = row["calls"]
    totals = [
        {"id": session_id, "calls": sum(one.values()), "copies": copies[session_id], **call_totals(one)}
        for session_id, one in counted.items()
    ]
    store.run_many("session.set_aggregates", totals)
    store.run("call.clear_tools")
    store.run("call.save_tools")
