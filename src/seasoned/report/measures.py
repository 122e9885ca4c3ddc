"""The four measures of a session: early errors, the way to the first success, all errors, and different tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from seasoned.outcome.track import Track
from seasoned.report.trials import EARLY_TURNS

# As they are named for people. The time to the first success is measured in calls and in seconds.
LABELS = {
    "early_error_rate": f"failed share, first {EARLY_TURNS} turns",
    "calls_to_success": "calls to the first success",
    "seconds_to_success": "seconds to the first success",
    "errors": "errors",
    "diversity": "different tools",
}


class MeasuredCall(Protocol):
    """What a call is measured by."""

    @property
    def tool(self) -> str: ...
    @property
    def counts_as(self) -> str: ...


class SessionMeasures(msgspec.Struct, frozen=True):
    """The measures of one session or run, from its calls that count."""

    early_calls: int
    early_errors: int  # of these, the calls that failed
    errors: int
    calls_to_success: int | None  # None: no call worked
    diversity: int  # different tools, without plans and the like
    seconds_to_success: float | None = None  # None: no call worked, or times are unknown

    @property
    def early_error_rate(self) -> float | None:
        return self.early_errors / self.early_calls if self.early_calls else None


def measures_of(calls: Sequence[MeasuredCall], turns: Iterable[int]) -> SessionMeasures:
    """The measures of calls in order; `turns` has the turn of each, from 1."""
    counted = [
        (call.counts_as == "failed", turn)
        for call, turn in zip(calls, turns, strict=True)
        if call.counts_as in ("ok", "failed")
    ]
    early = [has_failed for has_failed, turn in counted if turn <= EARLY_TURNS]
    worked = (number for number, (has_failed, _) in enumerate(counted, start=1) if not has_failed)
    return SessionMeasures(
        early_calls=len(early),
        early_errors=sum(early),
        errors=sum(has_failed for has_failed, _ in counted),
        calls_to_success=next(worked, None),
        diversity=len({call.tool for call in calls if call.counts_as != "trivial"}),
    )


def measures_of_track(track: Track) -> SessionMeasures:
    """The measures of a session. A turn is an answer of the model that made calls."""
    turns = {message: turn for turn, message in enumerate(sorted({call.message for call in track.calls}), start=1)}
    found = measures_of(track.calls, [turns[call.message] for call in track.calls])
    first = next((call.time for call in track.calls if call.counts_as == "ok"), None)
    if first is None or track.started is None:
        return found
    return msgspec.structs.replace(found, seconds_to_success=max(0.0, first - track.started))
