"""Recall from end to end. Apart from templates, so that a lookup does not wait for what only they need."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from seasoned.lesson.rules import is_behind
from seasoned.store import Store
from seasoned.template.recall.lookup import Recall
from seasoned.template.recall.lookup import recall as look_up

# How long a lookup may wait for sessions to be indexed that were scanned since the last one.
_FILL_SECONDS = 10.0
_filling = Lock()


def recall(
    store: Store,
    *,
    tool: str | None,
    error: str | None,
    arguments: Mapping[str, Any] | None,
    limit: int,
    any_age: bool,
    project: str | None = None,
    within_seconds: float = _FILL_SECONDS,
) -> Recall:
    """What worked for a tool or an error, in the sessions scanned so far; `project` is the key of one project.

    Sessions of the last scan are indexed first, for at most `within_seconds`; the next call continues.
    """
    # A server is asked by several agents at once; one of them indexes.
    if is_behind(store) and _filling.acquire(blocking=False):
        # Imported here: mostly there is nothing to index.
        from seasoned.lesson.storage import refresh

        try:
            refresh(store, within_seconds=within_seconds)
        finally:
            _filling.release()
    return look_up(store, tool=tool, error=error, arguments=arguments, limit=limit, any_age=any_age, project=project)
