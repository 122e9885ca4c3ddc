"""Which model a job is for, where it names none: a small table, asked about the job's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seasoned.config import Route


def find_route(routes: Sequence[Route], *, words: str, toolsets: Sequence[str] = ()) -> Route | None:
    """The first route whose conditions all hold. It is given the job's own words, never the prompt around them."""
    return next((route for route in routes if _fits(route, words, toolsets)), None)


def reason_of(route: Route) -> str:
    """Why a route was taken, for the history."""
    parts = []
    if route.words:
        parts.append(f"words {', '.join(map(repr, route.words))}")
    if route.longer_than is not None:
        parts.append(f"longer than {route.longer_than:,} characters")
    if route.shorter_than is not None:
        parts.append(f"shorter than {route.shorter_than:,} characters")
    if route.toolset is not None:
        parts.append(f"toolset {route.toolset!r}")
    return f"Routed to {route.model!r} ({'; '.join(parts) or 'every job'})."


def _fits(route: Route, words: str, toolsets: Sequence[str]) -> bool:
    if route.words and not any(_has_word(words, word) for word in route.words):
        return False
    if route.longer_than is not None and len(words) <= route.longer_than:
        return False
    if route.shorter_than is not None and len(words) >= route.shorter_than:
        return False
    return route.toolset is None or route.toolset in toolsets


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
