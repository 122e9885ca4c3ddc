"""Removes sessions for good, with everything that was learned from them: examples, templates, blocks, evidence."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from seasoned.digest import blake2b, short_digest
from seasoned.store.database import Store
from seasoned.store.interface import Database
from seasoned.store.project import forget_empty

# Statements on tables that several machines may share; they run in their own database where one is configured.
_SHARED_OF_A_SESSION = (
    "experiment.drop_assignment",
    "experiment.drop_exposure",
    "gateway.forget_view",
    "gateway.forget_chains",
    "gateway.forget_name",
    "trace.forget_run",
)
_SHARED = (
    "experiment.forget_assignments",
    "experiment.forget_exposures",
    "experiment.forget_splits",
    "gateway.forget_views",
    "gateway.forget_all_chains",
    "gateway.forget_requests",
    "trace.forget_runs",
)
_OF_A_SESSION = (
    "review.forget_session",
    "forget.runs",
    "lesson.forget_told",
    *_SHARED_OF_A_SESSION,
)
_EVERYTHING = (
    "learned.forget_all",
    "review.forget_all",
    "forget.words",
    "forget.all_runs",
    "lesson.forget_all_told",
    "lesson.forget_choices",
    "lesson.forget_lessons",
    "proposal.forget_all",
    "forget.all_material",
    *_SHARED,
)


def unlearn(store: Store, session_ids: Iterable[int]) -> None:
    """Remove what these sessions show, and their names from the rest. Call it inside a write transaction."""
    refs = set()
    for session_id in session_ids:
        row = store.row("session.track", {"id": session_id})
        if row is not None:
            ref = f"{row['agent']}:{row['native_id']}"
            refs.add(ref)
            store.run("template.drop_block", {"lineage_root": ref})
            if row["root_id"] == session_id:
                store.run("template.drop_block", {"lineage_root": f"#{session_id}"})
    found = {
        (row["key"], row["version"]): row["document"]
        for ref in refs
        for row in store.rows("template.of_session", {"session": ref})
    }
    # With real names a block shows the call of any session that the example comes from.
    _drop_blocks(store, {one for document in found.values() for one in _examples_of(document, refs)})
    if found:
        revision = _raise_revision(store)
        for (key, version), document in found.items():
            _rewrite(store, key, version, document, refs, revision)
    taught: set[str] = set()
    for ref in refs:
        taught |= {row["example_id"] for row in store.rows("template.examples_from", {"session": ref})}
        store.run("template.drop_example_source", {"session": ref})
        store.run("template.drop_source", {"session": ref})
        store.run("template.drop_evidence", {"pattern": _naming(ref)})
    _drop_examples(store, {one for one in taught if store.row("template.has_source", {"example_id": one}) is None})


def unlearn_everything(store: Store) -> None:
    """Remove all templates, states and blocks. Call it inside a write transaction."""
    for table in ("names", "example_usage", "example_source", "states", "blocks"):
        store.run(f"template.forget_{table}")
    _raise_revision(store)


def _examples_of(document: str, refs: set[str]) -> Iterator[str]:
    """The ids of a template's examples that one of these sessions is a source of."""
    for one in msgspec.json.decode(document)["examples"]:
        if any(source["session"] in refs for source in one["sources"]):
            yield short_digest(one["tool"], one["arguments"], one["result"], one["intent"])


def _rewrite(store: Store, key: str, version: int, document: str, refs: set[str], revision: int) -> None:
    """Store the template without these sessions, or remove it if nothing is left to show."""
    template = msgspec.json.decode(document)
    at = {"key": key, "version": version}
    # The words of a forgotten session go, also where others made the same call: theirs are not in this document.
    lost = [example for example in template["examples"] if _is_shown_from(example, template, refs)]
    template["examples"] = [_without(example, refs) for example in template["examples"] if example not in lost]
    template["sources"] = [session for session in template["sources"] if session not in refs]
    if template["examples"]:
        text = msgspec.json.encode(template).decode()
        store.run(
            "template.rewrite", {**at, "revision": revision, "examples": len(template["examples"]), "document": text}
        )
    else:
        store.run("template.delete_one", at)


def _is_shown_from(example: dict[str, Any], template: dict[str, Any], refs: set[str]) -> bool:
    """Whether the example's own words are those of a forgotten session: its first source is the call that it shows."""
    # An example that does not say where it comes from comes from the sessions of its template.
    sessions = {source["session"] for source in example["sources"][:1]} or set(template["sources"])
    return bool(sessions) and sessions <= refs


def _without(example: dict[str, Any], refs: set[str]) -> dict[str, Any]:
    kept = [source for source in example["sources"] if source["session"] not in refs]
    lost = {source["root"] for source in example["sources"]} - {source["root"] for source in kept}
    nameless = [{**one, "root": _nameless(one["root"])} if one["root"] in refs else one for one in kept]
    return {**example, "sources": nameless, "support": max(1, example["support"] - len(lost))}


def _nameless(root: str) -> str:
    """A name for the lineage of a forgotten session: sessions that continue it stay together, its own name is gone."""
    return f"#{blake2b(root.encode(), digest_size=8).hexdigest()}"


def _drop_examples(store: Store, ids: set[str]) -> None:
    """Remove the state of dropped examples, and the blocks that show them."""
    _drop_blocks(store, ids)
    for example_id in ids:
        store.run("template.drop_states", {"example_id": example_id})
        store.run("template.drop_shown", {"example_id": example_id})


def _drop_blocks(store: Store, ids: set[str]) -> None:
    for row in store.rows("template.blocks") if ids else ():
        if not ids.isdisjoint(msgspec.json.decode(row["example_ids"])):
            store.run("template.drop_block_in", {"lineage_root": row["lineage_root"], "format": row["format"]})


def _raise_revision(store: Store) -> int:
    row = store.row("template.raise_revision")
    return 0 if row is None else int(row["revision"])


def _naming(ref: str) -> str:
    """A pattern of LIKE for JSON that names a session."""
    inside = msgspec.json.encode(ref).decode()[1:-1]
    escaped = inside.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


class ConfirmationCounts(msgspec.Struct, frozen=True):
    """Requests for confirmation made by sessions. They are kept: otherwise the audit would prove nothing."""

    requests: int = 0
    pending: int = 0  # of these, not yet decided


def refs_of(store: Store, session_ids: Iterable[int]) -> list[str]:
    """The names of sessions as other tables store them."""
    rows = (store.row("forget.ref", {"id": one}) for one in session_ids)
    return [f"{row['agent']}:{row['native_id']}" for row in rows if row is not None]


def forget_elsewhere(database: Database, refs: Sequence[str]) -> None:
    """Remove what these sessions left in the shared database."""
    with database.write():
        for statement in _SHARED_OF_A_SESSION:
            database.run_many(statement, [{"session": ref} for ref in refs])


def count_asked(database: Database, refs: Collection[str]) -> ConfirmationCounts:
    """Count the requests for confirmation made by these sessions."""
    wanted = set(refs)
    rows = [row for row in database.rows("trace.asked") if row["session_key"] in wanted]
    return ConfirmationCounts(sum(int(row["requests"]) for row in rows), sum(int(row["pending"]) for row in rows))


def forget_sessions(store: Store, session_ids: list[int], *, now: float) -> set[int]:
    """Remove sessions and everything that depends on them. Returns the other sessions with copies of their calls."""
    with store.write():
        others: set[int] = set()
        for session_id in session_ids:
            others |= {row["session_id"] for row in store.rows("call.copied_sessions", {"session_id": session_id})}
        unlearn(store, session_ids)
        for session_id in session_ids:
            _forget_traces(store, session_id)
            store.run("session.remember_forgotten", {"id": session_id, "forgotten_at": now})
            store.run("session.delete", {"id": session_id})
        forget_empty(store)
        # The index keeps deleted text until it is rebuilt.
        store.run("forget.words")
    _erase_freed_pages(store)
    return others - set(session_ids)


def forget_source(store: Store, source_id: int, *, now: float) -> set[int]:
    """Remove a source and every session that was read from it."""
    session_ids = [int(row["id"]) for row in store.rows("session.of_source", {"source_id": source_id})]
    others = forget_sessions(store, session_ids, now=now)
    with store.write():
        store.run("source.delete", {"id": source_id})
    return others


def forget_everything(store: Store) -> int:
    """Remove everything, including the list of forgotten sessions.

    The next scan by a person starts from scratch. What is read when sessions end leaves out those that ended before.
    """
    session_ids = [int(row["id"]) for row in store.rows("session.all_ids")]
    with store.write():
        for session_id in session_ids:
            store.run("session.delete", {"id": session_id})
        for row in store.rows("source.all"):
            store.run("source.delete", {"id": row["id"]})
        store.run("session.unforget_all")
        store.run("session.forget_ended", {"at": time.time()})
        unlearn_everything(store)
        for statement in _EVERYTHING:
            store.run(statement)
        forget_empty(store)
    _erase_freed_pages(store)
    return len(session_ids)


def _forget_traces(store: Store, session_id: int) -> None:
    """Remove what else names a session: reviews, experiments, and links from other sessions."""
    row = store.row("forget.ref", {"id": session_id})
    if row is None:
        return
    ref = f"{row['agent']}:{row['native_id']}"
    for statement in _OF_A_SESSION:
        store.run(statement, {"session": ref})
    store.run("forget.material", {"written": msgspec.json.encode(ref).decode()[1:-1]})
    store.run("forget.parent", {"agent": row["agent"], "native_id": row["native_id"]})


def undo_forget(store: Store, native_id: str) -> bool:
    """Allow a forgotten session again; the next scan reads its sources from the beginning."""
    with store.write():
        lifted = store.run("session.unforget", {"native_id": native_id}) > 0
        if lifted:
            store.run("source.read_again")
    return lifted


def _erase_freed_pages(store: Store) -> None:
    """Overwrite free pages: forgotten text must not remain in the file."""
    if store.path:
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.connection.execute("VACUUM")
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
