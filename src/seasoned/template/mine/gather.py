"""The calls of one session that are worth keeping, each with its kinds, its pattern and the words before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from seasoned.command.parse import parse
from seasoned.command.tool import tool_of
from seasoned.insight.mistake.repair import Repair, repairs
from seasoned.insight.track import JudgedCall
from seasoned.template.example import ExampleKind
from seasoned.template.mine.merge import ExampleCandidate, is_look, pattern_of, pattern_of_target, step_of
from seasoned.template.mine.selection import MiningOptions, WorkedCalls

# Descriptions of repairs that the call itself did not make: an edit in between, another try, waiting.
_ELSEWHERE = ("after ", "same call", "with `sleep` before")
_LOOKS = ("file_read", "search", "web")


def gather(
    worked: WorkedCalls, options: MiningOptions, source: str, written: float = 0.0
) -> Iterator[ExampleCandidate]:
    """The candidates of one session, in the order of its calls."""
    track, positions = worked.track, worked.positions
    lessons = _lessons(worked)
    firsts = _firsts(track.calls, positions)
    lasts = _lasts(worked)
    for at in positions:
        call, target = track.calls[at], worked.targets[at]
        kinds: set[ExampleKind] = set()
        if at in lessons:
            kinds.add("recovery")
        if at in firsts:
            kinds.add("init")
        if at in lasts:
            kinds.add("final")
        repair = lessons.get(at)
        failed = None if repair is None else track.calls[repair.failed]
        pattern = pattern_of_target(target)
        yield ExampleCandidate(
            track,
            call,
            target,
            pattern,
            step_of(target),
            frozenset(kinds),
            source,
            options.max_argument_chars,
            is_look(target),
            repair,
            failed,
            failed is not None and pattern_of(failed.tool, failed.arguments) != pattern,
            written=written,
        )


def _lessons(worked: WorkedCalls) -> dict[int, Repair]:
    """Repairs whose call made the difference, by the call that worked; of several failed attempts the last one."""
    found = {}
    calls, positions = worked.track.calls, set(worked.positions)
    for repair in repairs(calls, aims=worked.targets):
        if repair.repaired in positions and teaches(repair, calls):
            found[repair.repaired] = repair
    return found


def teaches(repair: Repair, calls: Sequence[JudgedCall]) -> bool:
    """Whether what changed in the call repaired it, and not an edit in between, another try, or luck."""
    failed, repaired = calls[repair.failed], calls[repair.repaired]
    # A failure of the environment, or the same call again, teaches nothing about writing it.
    if failed.fault == "environment" or failed.raw_arguments == repaired.raw_arguments:
        return False
    if not repair.changed or repair.how.startswith(_ELSEWHERE):
        return False
    return _complained(failed) <= {step.program for step in parse(repaired.command or "")}


def _complained(failed: JudgedCall) -> set[str]:
    """The program that complained by its name, where the failed command ran it: a repair must run it again."""
    said = failed.reason.partition(":")[0].split()
    return {step.program for step in parse(failed.command or "") if said and step.program == said[-1]}


def _firsts(calls: Sequence[JudgedCall], positions: Sequence[int]) -> set[int]:
    """The first call of each tool that worked."""
    seen: dict[str, int] = {}
    for at in positions:
        seen.setdefault(calls[at].tool, at)
    return set(seen.values())


def _lasts(worked: WorkedCalls) -> set[int]:
    """The last call of the session or of a turn, if it did something and did not only look around."""
    calls, positions = worked.track.calls, worked.positions
    closing = set(positions[-1:])
    for at, following in pairwise(positions):
        if _ends_turn(calls, at, following):
            closing.add(at)
    return {at for at in closing if tool_of(calls[at].tool).form not in _LOOKS and not is_look(worked.targets[at])}


def _ends_turn(calls: Sequence[JudgedCall], at: int, following: int) -> bool:
    """Whether the user spoke before the next call: enough messages lie between them, and the words differ."""
    if following != at + 1 or calls[at].intent == calls[following].intent:
        return False
    # Turns are not stored: an answer and a request in between take at least three messages.
    together = sum(other.message == calls[at].message for other in calls[max(0, at - 20) : at + 1])
    return calls[following].message >= calls[at].message + together + 3
