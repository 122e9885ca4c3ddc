"""Builds a template out of the store: of all its sessions, of those below some paths, or of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from seasoned.command.tool import TaskType
from seasoned.errors import NotFound
from seasoned.insight.track import tracks
from seasoned.redact.redactor import Redactor
from seasoned.store import Store
from seasoned.template.example import Template
from seasoned.template.mine.miner import mine, mine_store
from seasoned.template.mine.selection import MiningOptions, refusal, why_nothing
from seasoned.template.render.tokens import count_tokens

# Examples in a template made from one session.
FROM_ONE_SESSION = 10
_ONE_SESSION = MiningOptions(
    min_messages=0,
    max_sessions=1,
    max_error_rate=1.0,
    max_examples=FROM_ONE_SESSION,
    max_share=1.0,
    max_source_share=1.0,
    quiet_seconds=0.0,
    allow_unsuccessful=True,
    fewest_lineages=1,
)


def build(
    store: Store,
    *,
    name: str,
    now: float,
    redactor: Redactor,
    options: MiningOptions,
    description: str = "",
    tags: Sequence[str] = (),
    paths: Sequence[Path] = (),
    budget: int | None = None,
) -> Template:
    """A template of what worked in the sessions of a store, or below paths; raises NotFound if nothing did."""
    among = sessions_below(store, paths) if paths else None
    made = mine_store(
        store,
        name=name,
        now=now,
        redactor=redactor,
        options=options,
        description=description,
        tags=tags,
        among=among,
    )
    if made is None:
        raise NotFound(f"Nothing to learn from, and nothing was saved. {why_nothing(store, options, now, among=among)}")
    return made if budget is None else within(made, budget)


def create(
    store: Store,
    session_id: int,
    *,
    name: str,
    now: float,
    redactor: Redactor,
    description: str = "",
    tags: Sequence[str] = (),
    max_examples: int = FROM_ONE_SESSION,
    task_type: TaskType | None = None,
) -> Template:
    """A template of what worked in one session of any length; raises NotFound with the reason if nothing did.

    `task_type` replaces what the calls of the session say about its task.
    """
    track = next(tracks(store, sessions=[session_id]))
    options = msgspec.structs.replace(_ONE_SESSION, max_examples=max_examples)
    reason = refusal(track, options, now)
    made = mine([track], name=name, now=now, redactor=redactor, options=options, description=description, tags=tags)
    if made is None:
        why = reason or "none of its calls can be shown"
        raise NotFound(f"Nothing to learn from in {str(track.ref)!r} ({why}). Nothing was saved.")
    return made if task_type is None else msgspec.structs.replace(made, task_type=task_type)


def within(template: Template, budget: int) -> Template:
    """The template with as many of its examples, the best first, as fit into so many tokens."""
    kept = []
    for example in template.examples:
        budget -= count_tokens(f"{example.intent}\n{example.tool}\n{example.arguments}\n{example.result}")
        if budget < 0:
            break
        kept.append(example)
    if not kept:
        raise NotFound("No example fits into the budget, and nothing was saved. Try a larger --budget.")
    return msgspec.structs.replace(template, examples=tuple(kept))


def sessions_below(store: Store, paths: Sequence[Path]) -> set[int]:
    """The sessions that were read from these files, or from files in these folders."""
    places = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (as the scan names them, links not followed)
    return {
        int(row["id"])
        for source in store.rows("source.all")
        if any(source["path"] == place or source["path"].startswith(place.rstrip(os.sep) + os.sep) for place in places)
        for row in store.rows("session.of_source", {"source_id": source["id"]})
    }
