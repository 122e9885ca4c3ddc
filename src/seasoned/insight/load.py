"""Tracks out of the store, one session after the other, so that a million calls are never held at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

import msgspec

from seasoned.insight.track import JudgedCall, Track
from seasoned.outcome.error_rate import NOTHING_MORE, Include, counts_as
from seasoned.session import SessionRef, Usage
from seasoned.store import Store

_compactions = msgspec.json.Decoder(tuple[int, ...]).decode


def tracks(
    store: Store,
    *,
    include: Include = NOTHING_MORE,
    agent: str | None = None,
    sessions: Iterable[int] | None = None,
) -> Iterator[Track]:
    """Every session of the store, or of one agent, or those with these row ids, in the order of their row ids."""
    if sessions is not None:
        for session_id in sorted(sessions):
            row = store.row("session.track", {"id": session_id})
            if row is not None:
                yield _track(row, store.rows("call.of_track", {"session_id": session_id}), include)
        return
    by_session = groupby(store.each("call.of_tracks", {"agent": agent}), key=itemgetter("session_id"))
    following = next(by_session, None)
    for row in store.each("session.tracks", {"agent": agent}):
        # Both come in the order of row ids; a session without calls of its own is passed over by the calls.
        if following is not None and following[0] == row["id"]:
            yield _track(row, following[1], include)
            following = next(by_session, None)
        else:
            yield _track(row, (), include)


def compressed(store: Store, *, include: Include = NOTHING_MORE, agent: str | None = None) -> Iterator[Track]:
    """The sessions in which a context was compressed, with those that they continue."""
    rows = store.rows("session.compressed", {"agent": agent})
    return tracks(store, include=include, sessions=[row["id"] for row in rows])


def _track(row: sqlite3.Row, calls: Iterable[sqlite3.Row], include: Include) -> Track:
    ref = SessionRef(row["agent"], row["native_id"])
    return Track(
        ref=ref,
        messages=row["messages"],
        calls=tuple([_call(position, call, include) for position, call in enumerate(calls)]),
        root=row["root"],
        task_type=row["task_type"],
        title=row["title"],
        model=row["model"],
        started=row["started"],
        ended=row["ended"],
        parent=SessionRef(row["parent_agent"], row["parent_native_id"]) if row["parent_agent"] else None,
        relation=row["relation"],
        compactions=_compactions(row["compactions"]),
        usage=Usage(*[row[f"{name}_tokens"] for name in Usage.__struct_fields__]),
        cost_usd=row["cost_usd"],
        copies=row["copies"],
    )


def _call(position: int, row: sqlite3.Row, include: Include) -> JudgedCall:
    return JudgedCall(
        position,
        row["message"],
        row["tool"],
        row["kind"],
        # What was stored is the count by default; only with switches on is it asked for again.
        row["counts_as"] if include == NOTHING_MORE else counts_as(row["tool"], row["verdict"], row["fault"], include),
        row["verdict"],
        row["fault"],
        row["time"],
        row["arguments"],
        row["result"],
        row["reason"],
        row["intent"],
        bool(row["corrected"]),
        row["call_id"],
    )
