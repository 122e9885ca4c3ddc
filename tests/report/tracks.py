"""Tracks made by hand: a letter for each call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from seasoned.outcome.error_rate import Include, counts_as
from seasoned.outcome.track import JudgedCall, Track
from seasoned.report.trials import TrialColumns, Trials
from seasoned.session import SessionRef

_MEANING = {
    ".": ("ok", "none"),
    "x": ("failed", "call"),
    "?": ("unclear", "none"),
    "d": ("failed", "user_declined"),
    "c": ("failed", "sibling_cancelled"),
    "i": ("failed", "interrupted"),
}


def call(position: int, letter: str, tool: str = "Read", kind: str = "file", **more: Any) -> JudgedCall:
    """One call: `.` worked, `x` failed, `?` unclear, `d` declined, `c` cancelled, `i` interrupted."""
    verdict, fault = _MEANING[letter]
    include = more.pop("include", Include())
    arguments = msgspec.json.encode(more.pop("arguments", {})).decode()
    return JudgedCall(
        position,
        more.pop("message", 2 * position + 1),
        tool,
        kind,
        counts_as(tool, verdict, fault, include),
        verdict,
        fault,
        raw_arguments=arguments,
        **more,
    )


def track(letters: Iterable[str], name: str = "s1", *, tool: str = "Read", kind: str = "file", **facts: Any) -> Track:
    """A session whose calls are all of one tool."""
    calls = tuple(call(position, letter, tool, kind) for position, letter in enumerate(letters))
    facts.setdefault("messages", 2 * len(calls) + 1)
    facts.setdefault("root", name)
    return Track(ref=SessionRef("test", name), calls=calls, **facts)


def trials_of(tracks: Iterable[Track]) -> Trials:
    """The counted calls of sessions."""
    columns = TrialColumns()
    for track in tracks:
        columns.add(track)
    return columns.trials()
