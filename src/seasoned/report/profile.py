"""The profile of one session: how much was done, what failed, by which tools, early and late."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from seasoned.command.tool import Kind, TaskType, is_trivial, task_type_of, tool_of
from seasoned.outcome.error_rate import Counts
from seasoned.outcome.track import JudgedCall, Track, counts_of
from seasoned.report.trials import EARLY_TURNS
from seasoned.session import Usage
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import proportion_difference, wilson

EARLY_SHARE = 5  # early is the first fifth of the counted calls, late the last fifth
_KINDS: tuple[Kind, ...] = ("terminal", "code", "file", "research", "meta", "general")
TOO_FEW = f"fewer than {EARLY_SHARE} counted calls, so there is no first and last fifth"


class ToolUse(msgspec.Struct, frozen=True):
    """The calls of one tool by outcome."""

    calls: int
    ok: int
    failed: int
    unclear: int
    left_out: int

    @property
    def success_rate(self) -> float | None:
        """ok / (ok + failed); None when nothing counts."""
        counted = self.ok + self.failed
        return self.ok / counted if counted else None


class Profile(msgspec.Struct, frozen=True):
    """One session, or a part of it, in figures. Its intervals describe its own calls only."""

    messages: int | None
    counts: Counts
    error_rate: Estimate
    tools: dict[str, ToolUse]
    early: Estimate
    late: Estimate
    gain: Estimate  # late minus early: negative is improvement
    dominant_tool_type: Kind | None
    task_type: TaskType | None
    usage: Usage = Usage()
    cost_usd: float | None = None
    compactions: int = 0
    copies: int = 0
    measures: SessionMeasures | None = None  # None for a part of a session

    @property
    def calls(self) -> int:
        """Without plans, thoughts and the like, which are counted apart."""
        return self.counts.total - self.counts.trivial


def profile(track: Track) -> Profile:
    """The profile of a whole session."""
    made = profile_calls(track.calls, messages=track.messages)
    return msgspec.structs.replace(
        made,
        task_type=track.task_type,
        usage=track.usage,
        cost_usd=track.cost_usd,
        compactions=len(track.compactions),
        copies=track.copies,
        measures=measures_of_track(track),
    )


def profile_calls(calls: Sequence[JudgedCall], *, messages: int | None = None) -> Profile:
    """The profile of any calls in order, without the facts that only a session has."""
    counts = counts_of(calls)
    outcomes = [call.has_failed for call in calls if call.is_counted]
    early, late, gain = _early_and_late(outcomes)
    return Profile(
        messages=messages,
        counts=counts,
        error_rate=wilson(counts.failed, counts.counted),
        tools=_by_tool(calls),
        early=early,
        late=late,
        gain=gain,
        dominant_tool_type=_dominant(calls),
        task_type=_task_type(calls),
    )


def _early_and_late(failed: Sequence[bool]) -> tuple[Estimate, Estimate, Estimate]:
    size = len(failed) // EARLY_SHARE
    if not size:
        unknown = Estimate(None, None, 0, 0, TOO_FEW)
        return unknown, unknown, unknown
    first, last = sum(failed[:size]), sum(failed[-size:])
    return wilson(first, size), wilson(last, size), proportion_difference(last, size, first, size)


def _by_tool(calls: Sequence[JudgedCall]) -> dict[str, ToolUse]:
    """Most used first."""
    places: dict[str, list[str]] = {}
    for call in calls:
        if call.counts_as != "trivial":
            places.setdefault(call.tool, []).append(call.counts_as)
    uses = {}
    for tool, found in sorted(places.items(), key=lambda item: (-len(item[1]), item[0])):
        ok, failed, unclear = (found.count(name) for name in ("ok", "failed", "unclear"))
        uses[tool] = ToolUse(len(found), ok, failed, unclear, len(found) - ok - failed - unclear)
    return uses


def _dominant(calls: Sequence[JudgedCall]) -> Kind | None:
    """The tool type with the most calls; every shell call counts as terminal."""
    counts = dict.fromkeys(_KINDS, 0)
    for call in calls:
        if not is_trivial(call.tool):
            counts[tool_of(call.tool).kind] += 1
    if not any(counts.values()):
        return None
    # Of equal counts the first kind wins, so that the answer does not depend on the order of calls.
    return max(_KINDS, key=counts.__getitem__)


def _task_type(calls: Sequence[JudgedCall]) -> TaskType | None:
    kinds = [call.kind for call in calls if not is_trivial(call.tool)]
    return task_type_of({kind: kinds.count(kind) for kind in set(kinds)})


# The four measures as they are named for people. The time to the first success is measured in calls and in seconds.
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
