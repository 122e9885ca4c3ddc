"""Recurring mistakes: the same error in several sessions, and what repaired it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from seasoned.command.tool import tool_of
from seasoned.insight.mistake.call_target import blamed, target_of
from seasoned.insight.mistake.repair import WITHIN, Repair, repairs
from seasoned.insight.mistake.signature import mask, signature
from seasoned.insight.track import JudgedCall, Track

FEWEST_SESSIONS = 2
_SHOWN_SESSIONS = 5
# Most repairs kept for a mistake, so that memory does not grow with the calls.
_WAYS = 16
_VALUE_CHARS = 200
_NAMES = 20
_DEPTH = 4
_encode = msgspec.json.Encoder().encode


class MistakeExample(msgspec.Struct, frozen=True):
    """One failure and its repair: the arguments of both calls as JSON, masked for the failed one."""

    session: str
    failed: str
    repaired: str | None = None  # None if no failure was repaired


class Recurrence(msgspec.Struct, frozen=True):
    """One mistake and how often it was made."""

    tool: str
    program: str | None  # for a shell: `git commit`, `pytest`
    signature: str
    failures: int
    sessions: int  # lineages: a fork that keeps failing does not count twice
    first_seen: float | None
    last_seen: float | None
    repaired: int  # how many of the failures were repaired in their session
    calls_until_repaired: float | None  # the median; None if nothing was repaired
    repair: str | None  # what worked most often
    repair_count: int
    example: MistakeExample | None
    refs: tuple[str, ...]  # a few of the sessions


class _MistakeGroup:
    """What is collected about one mistake."""

    __slots__ = ("calls", "example", "failures", "first", "last", "refs", "roots", "ways")

    def __init__(self) -> None:
        self.failures = 0
        self.roots: set[str] = set()
        self.refs: list[str] = []
        self.first: float | None = None
        self.last: float | None = None
        self.calls: Counter[int] = Counter()
        self.ways: dict[str, tuple[int, MistakeExample]] = {}
        self.example: MistakeExample | None = None


class RecurrenceCounter:
    """Counts mistakes over tracks, one at a time; memory grows with the mistakes, not with the calls."""

    def __init__(self, *, within: int = WITHIN) -> None:
        self._within = within
        self._groups: dict[tuple[str, str | None, str], _MistakeGroup] = {}

    def add(self, track: Track) -> None:
        """Counts the failures of one session."""
        if not any(call.has_failed for call in track.calls):
            return
        repaired = {repair.failed: repair for repair in repairs(track.calls, within=self._within)}
        for at, call in enumerate(track.calls):
            if call.has_failed:
                key = (call.tool, program_of(call), signature(call))
                self._count(self._groups.setdefault(key, _MistakeGroup()), track, call, repaired.get(at))

    def _count(self, group: _MistakeGroup, track: Track, call: JudgedCall, repair: Repair | None) -> None:
        group.failures += 1
        if track.root not in group.roots:
            group.roots.add(track.root)
            if len(group.refs) < _SHOWN_SESSIONS:
                group.refs.append(str(track.ref))
        began = call.time if call.time is not None else track.started
        ended = call.time if call.time is not None else track.ended if track.ended is not None else track.started
        group.first = _pick(min, group.first, began if began is not None else ended)
        group.last = _pick(max, group.last, ended)
        if repair is None:
            if group.example is None:
                group.example = _example(track, call, None)
            return
        group.calls[repair.calls] += 1
        known = group.ways.get(repair.how)
        if known is not None:
            group.ways[repair.how] = (known[0] + 1, known[1])
        elif len(group.ways) < _WAYS:
            group.ways[repair.how] = (1, _example(track, call, track.calls[repair.repaired]))

    def recurring(self, *, fewest_sessions: int = FEWEST_SESSIONS) -> tuple[Recurrence, ...]:
        """Mistakes of at least so many sessions: most sessions first, then most failures, then by name."""
        found = [_recurrence(key, group) for key, group in self._groups.items() if len(group.roots) >= fewest_sessions]
        return tuple(sorted(found, key=lambda r: (-r.sessions, -r.failures, r.tool, r.program or "", r.signature)))


def recurring(tracks: Iterable[Track], *, fewest_sessions: int = FEWEST_SESSIONS) -> tuple[Recurrence, ...]:
    """The recurring mistakes of these sessions."""
    recurrer = RecurrenceCounter()
    for track in tracks:
        recurrer.add(track)
    return recurrer.recurring(fewest_sessions=fewest_sessions)


def program_of(call: JudgedCall) -> str | None:
    """The program and subcommand of a shell call; None for other tools and empty commands."""
    aim = target_of(call)
    if aim.runs:
        return mask(blamed(aim)[-1].label) or None
    return aim.label if aim.path is not None and tool_of(call.tool).form == "shell" else None


def _recurrence(key: tuple[str, str | None, str], group: _MistakeGroup) -> Recurrence:
    # Imported here: hooks need only this function and must be fast.
    from statistics import median

    tool, program, name = key
    how, (count, example) = max(
        group.ways.items(), key=lambda way: (way[1][0], way[0]), default=(None, (0, group.example))
    )
    return Recurrence(
        tool,
        program,
        name,
        group.failures,
        len(group.roots),
        group.first,
        group.last,
        group.calls.total(),
        float(median(group.calls.elements())) if group.calls else None,
        how,
        count,
        example,
        tuple(group.refs),
    )


def _pick(choose: Any, known: float | None, new: float | None) -> float | None:
    if known is None or new is None:
        return known if new is None else new
    return float(choose(known, new))


def _example(track: Track, failed: JudgedCall, repaired: JudgedCall | None) -> MistakeExample:
    """Both calls, truncated; the failed one masked, since only its shape is useful."""
    shown = _encode(_short(failed.arguments, _DEPTH, is_masked=True)).decode()
    if repaired is None:
        return MistakeExample(str(track.ref), shown)
    return MistakeExample(str(track.ref), shown, _encode(_short(repaired.arguments, _DEPTH)).decode())


def _short(value: Any, depth: int, *, is_masked: bool = False) -> Any:
    """The value, truncated."""
    if isinstance(value, str):
        text = mask(value) if is_masked else value.encode("utf-8", "replace").decode()
        return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"
    if isinstance(value, dict):
        pairs = list(value.items())[:_NAMES]
        return {str(name)[:_VALUE_CHARS]: _short(item, depth - 1, is_masked=is_masked) for name, item in pairs if depth}
    if isinstance(value, list | tuple):
        return [_short(item, depth - 1, is_masked=is_masked) for item in value[:_NAMES] if depth]
    return value
