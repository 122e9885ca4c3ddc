"""Recall from end to end: sessions of the last scan are taken in first."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

import msgspec

from seasoned.lesson.recall import Recall
from seasoned.lesson.recall import recall as look_up
from seasoned.lesson.rules import is_behind
from seasoned.store import Store
from seasoned.store.project import list_projects

# How long a lookup may wait for sessions to be taken in that were scanned since the last one.
_FILL_SECONDS = 10.0
_filling = Lock()
_NOTHING_READ = "Nothing has been learned yet. Run `seasoned scan` to read the histories of your agents."


def recall(
    store: Store,
    *,
    tool: str | None,
    error: str | None,
    arguments: Mapping[str, Any] | None,
    limit: int,
    project: str | None = None,
    within_seconds: float = _FILL_SECONDS,
) -> Recall:
    """What worked for a tool or an error, in the sessions scanned so far; without `project`, of every project.

    Sessions of the last scan are taken in first, for at most `within_seconds`; the next call continues.
    """
    # A server is asked by several agents at once; one of them takes them in.
    if is_behind(store) and _filling.acquire(blocking=False):
        # Imported here: mostly there is nothing to take in.
        from seasoned.lesson.storage import refresh

        try:
            refresh(store, within_seconds=within_seconds)
        finally:
            _filling.release()
    projects = [project] if project is not None else [one.key for one in list_projects(store)]
    found = look_up(store, projects=projects, tool=tool, error=error, arguments=arguments, limit=limit)
    if found.is_empty and not list_projects(store):
        return msgspec.structs.replace(found, reason=f"{found.reason} {_NOTHING_READ}")
    return found
