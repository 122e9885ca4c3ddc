"""Whether a model's window is large enough for a job: asked before any request leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

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


class Window(msgspec.Struct, frozen=True):
    """How many tokens a model reads at once, and who says so."""

    tokens: int | None
    source: Source


def find_window(job: Job, *, configured: int | None, detect: Callable[[], int | None]) -> Window:
    """The window by the job, else by the configuration, else as detected; what is configured replaces detection."""
    if job.context_length is not None:
        return Window(job.context_length, "job")
    if configured is not None:
        return Window(configured, "configuration")
    try:
        found = detect()
    except (SeasonedError, OSError, ValueError, LookupError, RuntimeError, ImportError):
        # Whatever keeps a window from being known, the job runs.
        found = None
    return Window(found, "detection" if found is not None else "nothing")


def objection(job: Job, window: Window, *, model: str, least: int = MIN_CONTEXT) -> str | None:
    """Why the job must not run on this model, and what to change; None where it may, or where nothing is known."""
    needed = job.min_context or least
    if window.tokens is None or window.tokens >= needed:
        return None
    return (
        f"The model {model!r} has a window of {window.tokens:,} tokens, {_SAID[window.source]}; the job needs "
        f"{needed:,}: choose a larger model (--model), correct the figure (--context-length), or let the job run with "
        "less (--min-context)."
    )
