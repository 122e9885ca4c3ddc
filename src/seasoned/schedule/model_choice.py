"""Which model a job uses, whether its context window is large enough, and which toolsets the run gets."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from seasoned.config import Route
from seasoned.errors import SeasonedError
from seasoned.schedule.job import Job

MIN_CONTEXT = 64_000
Source = Literal["job", "configuration", "detection", "nothing"]
_SAID: dict[Source, str] = {
    "job": "as the job says",
    "configuration": "as context_length in the configuration says",
    "detection": "as was detected",
    "nothing": "",
}


class ContextWindow(msgspec.Struct, frozen=True):
    """How many tokens a model reads at once, and who says so."""

    tokens: int | None
    source: Source


def find_window(job: Job, *, configured: int | None, detect: Callable[[], int | None]) -> ContextWindow:
    """The window that the job gives, else the configured one, else the detected one."""
    if job.context_length is not None:
        return ContextWindow(job.context_length, "job")
    if configured is not None:
        return ContextWindow(configured, "configuration")
    try:
        found = detect()
    except (SeasonedError, OSError, ValueError, LookupError, RuntimeError, ImportError):
        # Whatever keeps a window from being known, the job runs.
        found = None
    return ContextWindow(found, "detection" if found is not None else "nothing")


def objection(job: Job, window: ContextWindow, *, model: str, least: int = MIN_CONTEXT) -> str | None:
    """Why the job must not run on this model, and what to change; None if it may, or if the window is unknown."""
    needed = job.min_context or least
    if window.tokens is None or window.tokens >= needed:
        return None
    return (
        f"The model {model!r} has a window of {window.tokens:,} tokens, {_SAID[window.source]}; the job needs "
        f"{needed:,}: choose a larger model (--model), correct the figure (--context-length), or let the job run with "
        "less (--min-context)."
    )


def find_route(routes: Sequence[Route], *, words: str, toolsets: Sequence[str] = ()) -> Route | None:
    """The first route whose conditions all hold. It is given the job's own words, never the prompt around them."""
    return next((route for route in routes if _route_fits(route, words, toolsets)), None)


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


def _route_fits(route: Route, words: str, toolsets: Sequence[str]) -> bool:
    if route.words and not any(_has_word(words, word) for word in route.words):
        return False
    if route.longer_than is not None and len(words) <= route.longer_than:
        return False
    if route.shorter_than is not None and len(words) >= route.shorter_than:
        return False
    return route.toolset is None or route.toolset in toolsets


def _has_word(text: str, word: str) -> bool:
    # Not \b, which fails beside a word that begins or ends with punctuation, such as C++.
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


# A scheduled run creates no further jobs, sends nothing but its answer, and asks no questions.
NEVER = ("schedule", "confirm", "messaging")
# What acts on this machine is not for a model elsewhere to use, unless the job says so.
NOT_IN_THE_CLOUD = ("terminal", "code")


def allowed_toolsets(
    wanted: Sequence[str], *, is_cloud: bool, allow_terminal: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The toolsets that the run gets, and those that are left out."""
    off = {*NEVER, *(NOT_IN_THE_CLOUD if is_cloud and not allow_terminal else ())}
    return tuple(one for one in wanted if one not in off), tuple(one for one in wanted if one in off)
