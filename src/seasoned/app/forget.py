"""Forgets sessions in the store and in the shared database, and what they taught."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path

import msgspec

from seasoned.app.mine import mined_folders
from seasoned.app.stores import memory_and_skills_in, shared_database
from seasoned.config import Config
from seasoned.errors import NotFound
from seasoned.review.undo import forget as undo_lessons
from seasoned.scan.store_writer import update_aggregates
from seasoned.store import Store
from seasoned.store import forget as stored
from seasoned.store.forget import ConfirmationCounts
from seasoned.store.search import find_session
from seasoned.text import plural


class ForgetTarget(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be forgotten, and how to name it in a question."""

    sessions: list[int]
    sentence: str
    source_id: int | None = None
    is_everything: bool = False


def find_target(store: Store, what: str | None) -> ForgetTarget:
    """The session or source meant; without one, everything."""
    if what is None:
        sessions = [int(row["id"]) for row in store.rows("session.all_ids")]
        sentence = f"everything: {plural(len(sessions), 'session')}"
        return ForgetTarget(sessions=sessions, sentence=sentence, is_everything=True)
    # A path is tried first: it cannot be mistaken for a session id, because sources are stored as absolute paths.
    source = store.row("source.find", {"path": str(Path(what).absolute())})
    if source is not None:
        sessions = [int(row["id"]) for row in store.rows("session.of_source", {"source_id": source["id"]})]
        sentence = f"{plural(len(sessions), 'session')} from {source['path']}"
        return ForgetTarget(sessions=sessions, sentence=sentence, source_id=source["id"])
    found = find_session(store, what)
    sentence = f"{found['agent']}:{found['native_id']} with {plural(found['calls'], 'call')}"
    return ForgetTarget(sessions=[int(found["id"])], sentence=sentence)


def forget(config: Config, store: Store, target: ForgetTarget) -> list[str]:
    """Forget it; returns sentences about what could not be removed."""
    # Before the sessions go: the store is what knows which session taught which change.
    left = _undo_lessons(config, store, target)
    # Row ids mean nothing in another database, so the sessions are named there as agent:id.
    refs = stored.refs_of(store, target.sessions)
    with shared_database(config) if config.database_url else nullcontext(store) as database:
        left += _kept_requests(stored.count_asked(database, refs))
        if database is not store:
            # The shared database goes first: if that fails, the sessions are still here and can be forgotten again.
            stored.forget_elsewhere(database, refs)
    if target.is_everything:
        stored.forget_everything(store)
    elif target.source_id is not None:
        update_aggregates(store, stored.forget_source(store, target.source_id, now=time.time()))
    else:
        update_aggregates(store, stored.forget_sessions(store, target.sessions, now=time.time()))
    return left + [
        f"What was mined into {out}. Delete it, then mine again if you need it." for out in mined_folders(config)
    ]


def remember(store: Store, native_id: str) -> None:
    """Let the next scan read a forgotten session again."""
    if not stored.undo_forget(store, native_id):
        raise NotFound(f"No session {native_id!r} was forgotten. Give its whole id.")


def _undo_lessons(config: Config, store: Store, target: ForgetTarget) -> list[str]:
    """Undo in memory and skills what the sessions taught; sentences about what could not be undone."""
    # Sessions that taught something may be gone from the store, so `--all` undoes by what the changes say.
    taught = {row["ref"] for row in store.rows("forget.taught")}
    if not target.is_everything:
        rows = (store.row("forget.ref", {"id": one}) for one in target.sessions)
        taught &= {f"{row['agent']}:{row['native_id']}" for row in rows if row is not None}
    if not taught:
        return []
    return [reply.said for reply in undo_lessons(memory_and_skills_in(config, store), *sorted(taught))]


def _kept_requests(asked: ConfirmationCounts) -> list[str]:
    if not asked.requests:
        return []
    pending = f", {asked.pending} of them pending" if asked.pending else ""
    why = "Requests and decisions are never changed, so that the audit can be verified."
    return [f"{plural(asked.requests, 'confirmation request')}, redacted{pending}. {why}"]
