"""Recurring mistakes: the same error in several sessions, and what repaired it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from seasoned.command.risk import needs_person
from seasoned.lesson.failure.action import MistakeCost, MistakeExample, MistakeFacts, RepairWay, action
from seasoned.lesson.failure.call_target import target_of
from seasoned.lesson.failure.failure import (
    FailureKey,
    MistakeKind,
    cause_of,
    failure_key,
    is_finding,
    subject_of_error,
)
from seasoned.lesson.failure.repair import MAX_CALLS_TO_REPAIR, CallChange, CallTargets, Repair, RepairStep, repairs
from seasoned.lesson.failure.signature import error_line, mask
from seasoned.outcome.track import JudgedCall, Track
from seasoned.session import SessionRef

FEWEST_SESSIONS = 2
_AFTER_EDIT = "after an edit"
# Changes to how a program is started, apart from its arguments: without them it could not run.
_SETUP_CHANGES = ("with wrapper", "without wrapper", "variable", "given", "before")
_VALUE_CHARS = 200
_MAX_ITEMS = 20
_MAX_DEPTH = 4
# Beyond these limits the session worked on something else, or waited for the user.
_MAX_LOST_CALLS = 20
_MAX_LOST_SECONDS = 300.0
_encode = msgspec.json.Encoder().encode


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
    kind: MistakeKind = "mistake"  # a signal reports on the user's code: a failing test, a linter's finding
    action: str | None = None  # what to do instead, in a sentence with its evidence; None for a signal


# How much is kept for each mistake, so that memory does not grow with the number of calls.
_MOST_REFS = 5
_MOST_WAYS = 16
_MOST_STEPS = 32
_MOST_FILES = 200


class _Way:
    """What is collected about one way in which a mistake was repaired."""

    __slots__ = ("change", "roots", "steps", "worked")

    def __init__(self, change: CallChange, worked: JudgedCall) -> None:
        self.change = change
        self.worked = worked
        self.roots: set[str] = set()
        self.steps: dict[tuple[str, str], tuple[RepairStep, set[str]]] = {}

    def add(self, steps: Iterable[tuple[RepairStep, set[str]]], roots: set[str], most_steps: int) -> None:
        self.roots |= roots
        for step, of_step in steps:
            if len(self.steps) < most_steps or (step.kind, step.name) in self.steps:
                self.steps.setdefault((step.kind, step.name), (step, set()))[1].update(of_step)

    def finished(self) -> RepairWay:
        steps = tuple((step, frozenset(roots)) for step, roots in self.steps.values())
        given = self.worked.arguments
        return RepairWay(self.change, frozenset(self.roots), given, steps, not needs_person(self.worked.tool, given))


class _MistakeGroup:
    """What is collected about one mistake."""

    __slots__ = (
        *("agents", "calls", "cause", "edited", "example", "failures", "first", "found", "hows", "last"),
        *("lost_calls", "lost_seconds", "lost_tokens", "missing", "refs", "rewritten", "roots", "signals"),
        *("signature", "things", "ways"),
    )

    def __init__(self, cause: str | None, signature: str) -> None:
        self.failures = 0
        self.signals = 0
        self.rewritten = 0
        self.roots: dict[str, float] = {}  # each lineage, and when it last made the mistake
        self.refs: dict[str, SessionRef] = {}  # by lineage
        self.first: float | None = None
        self.last: float | None = None
        self.calls: Counter[int] = Counter()
        self.hows: dict[str, tuple[int, MistakeExample]] = {}
        self.ways: dict[CallChange, _Way] = {}
        self.example: MistakeExample | None = None
        self.cause = cause
        self.signature = signature
        self.agents: Counter[str] = Counter()
        self.lost_calls = 0
        self.lost_seconds: float | None = None
        self.lost_tokens: float | None = None
        self.things: Counter[tuple[str | None, str]] = Counter()  # what errors name, by their cause
        self.missing: dict[str, set[str]] = {}
        self.found: dict[str, set[str]] = {}
        self.edited: dict[str, set[str]] = {}


class RecurrenceCounter:
    """Counts mistakes over tracks, one at a time; memory grows with the mistakes, not with the calls."""

    def __init__(self, *, within: int = MAX_CALLS_TO_REPAIR, by_cause: bool = False) -> None:
        self._within = within
        # One cause has many wordings: a sandbox refuses `git fetch` in several ways.
        self._by_cause = by_cause
        self._groups: dict[FailureKey, _MistakeGroup] = {}

    def add(self, track: Track, *also: RecurrenceCounter) -> None:
        """Counts the failures of one session in this and other counters, finding its repairs only once."""
        targets = CallTargets(track.calls)
        if not targets.failed:
            return
        repaired = {repair.failed: repair for repair in repairs(track.calls, within=self._within, targets=targets)}
        for one in (self, *also):
            one._add(track, targets, repaired)

    def _add(self, track: Track, targets: CallTargets, repaired: Mapping[int, Repair]) -> None:
        lost: dict[FailureKey, set[int]] = {}
        for at in targets.failed:
            call = track.calls[at]
            key = self._key(call)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = _MistakeGroup(cause_of(call), failure_key(call).signature)
            group.signals += targets.is_signal(at)
            repair = repaired.get(at)
            self._count(group, track, call, repair)
            # Calls between a mistake and its repair are its cost; two mistakes may share them.
            end = at + 1 if repair is None else min(repair.repaired, at + _MAX_LOST_CALLS)
            lost.setdefault(key, set()).update(range(at, end))
        for key, places in lost.items():
            _count_lost(self._groups[key], track, places)

    def _key(self, call: JudgedCall) -> FailureKey:
        key = failure_key(call)
        cause = cause_of(call) if self._by_cause else None
        return key if cause is None else key._replace(signature=cause)

    def _count(self, group: _MistakeGroup, track: Track, call: JudgedCall, repair: Repair | None) -> None:
        group.failures += 1
        if track.root not in group.roots:
            group.roots[track.root] = 0.0
            group.agents[track.ref.agent] += 1
            if len(group.refs) < _MOST_REFS:
                group.refs[track.root] = track.ref
        began = call.time if call.time is not None else track.started
        ended = call.time if call.time is not None else track.ended if track.ended is not None else track.started
        group.first = _pick(min, group.first, began if began is not None else ended)
        group.last = _pick(max, group.last, ended)
        group.roots[track.root] = max(group.roots[track.root], ended or 0.0)
        cause = cause_of(call)
        thing = subject_of_error(cause, error_line(call))
        if thing is not None:
            group.things[cause, thing] += 1
        if cause == "missing file" and (name := _file_name(call)):
            _keep(group.missing, name, {track.root}, _MOST_FILES)
        if repair is None:
            if group.example is None:
                group.example = _example(track, call, None)
            return
        group.calls[repair.calls] += 1
        self._count_repair(group, track, call, repair)

    def _count_repair(self, group: _MistakeGroup, track: Track, call: JudgedCall, repair: Repair) -> None:
        worked = track.calls[repair.repaired]
        how = repair.how
        step = next((step for step in repair.steps if step.at == repair.step), None)
        if step is not None and step.kind == "edit":
            # Sessions edit different files: they count as one way, and a recurring file is named at the end.
            how = how.replace(step.words, _AFTER_EDIT)
            _keep(group.edited, step.words, {track.root}, _MOST_FILES)
        known = group.hows.get(how)
        if known is not None:
            group.hows[how] = (known[0] + 1, known[1])
        elif len(group.hows) < _MOST_WAYS:
            group.hows[how] = (1, _example(track, call, worked))
        if cause_of(call) == "missing file" and (name := _file_name(call)) in group.missing and name is not None:
            group.found.setdefault(name, set()).add(_file_name(worked) or "")
        # Tests that failed and then passed had been called correctly, even if the call changed too.
        group.rewritten += repair.step is None and repair.change.kind in _SETUP_CHANGES and not is_finding(call)
        way = group.ways.get(repair.change)
        if way is None and len(group.ways) < _MOST_WAYS:
            way = group.ways[repair.change] = _Way(repair.change, worked)
        if way is not None:
            root = {track.root}
            way.add([(step, root) for step in repair.steps], root, _MOST_STEPS)

    def facts(self, *, fewest_sessions: int = FEWEST_SESSIONS) -> Iterator[MistakeFacts]:
        """The facts about mistakes made in at least `fewest_sessions` sessions, without signals."""
        for key, group in self._groups.items():
            if len(group.roots) >= fewest_sessions and _kind(group) == "mistake":
                yield _facts(key, group)

    def recurring(self, *, fewest_sessions: int = FEWEST_SESSIONS) -> tuple[Recurrence, ...]:
        """Mistakes made in at least `fewest_sessions` sessions, then signals; most sessions and failures first."""
        found = [_recurrence(key, group) for key, group in self._groups.items() if len(group.roots) >= fewest_sessions]
        return tuple(
            sorted(
                found,
                key=lambda r: (r.kind == "signal", -r.sessions, -r.failures, r.tool, r.program or "", r.signature),
            )
        )


def _count_lost(group: _MistakeGroup, track: Track, places: set[int]) -> None:
    """Adds the cost of a mistake in one session: its calls, and their time and tokens where known."""
    group.lost_calls += len(places)
    for at in places:
        before, after = track.calls[at].time, track.calls[at + 1].time if at + 1 < len(track.calls) else None
        if before is not None and after is not None and after >= before:
            group.lost_seconds = (group.lost_seconds or 0.0) + min(after - before, _MAX_LOST_SECONDS)
    used = track.usage.total
    if used:
        group.lost_tokens = (group.lost_tokens or 0.0) + used * len(places) / len(track.calls)


def _keep(known: dict[str, set[str]], name: str, roots: set[str], most: int) -> None:
    if name in known or len(known) < most:
        known.setdefault(name, set()).update(roots)


def _file_name(call: JudgedCall) -> str | None:
    """The name of the file that a call did not find, if it is clear which."""
    target = target_of(call)
    paths = [target.path] if target.path else [word for run in target.runs for word in run.operands if "/" in word]
    name = paths[0].rstrip("/").rsplit("/", 1)[-1] if len(paths) == 1 else ""
    return name if name and "*" not in name and len(name) <= _VALUE_CHARS else None


def _recurrence(key: FailureKey, group: _MistakeGroup) -> Recurrence:
    # Imported here: hooks need other functions of this package and must be fast.
    from statistics import median

    how, (count, example) = max(
        group.hows.items(), key=lambda way: (way[1][0], way[0]), default=(None, (0, group.example))
    )
    if how is not None and _AFTER_EDIT in how:
        words, roots = max(group.edited.items(), key=lambda one: (len(one[1]), one[0]))
        if len(roots) > 1 and 2 * len(roots) >= count:
            how = how.replace(_AFTER_EDIT, words)
    kind = _kind(group)
    return Recurrence(
        *key,
        group.failures,
        len(group.roots),
        group.first,
        group.last,
        group.calls.total(),
        float(median(group.calls.elements())) if group.calls else None,
        how,
        count,
        example,
        tuple(map(str, group.refs.values())),
        kind,
        action(_facts(key, group)) if kind == "mistake" else None,
    )


def _kind(group: _MistakeGroup) -> MistakeKind:
    """A signal, unless most repairs only changed how the call was written."""
    if 2 * group.signals <= group.failures:
        return "mistake"
    return "mistake" if group.rewritten and 2 * group.rewritten > group.calls.total() else "signal"


def _facts(key: FailureKey, group: _MistakeGroup) -> MistakeFacts:
    ways = sorted((way.finished() for way in group.ways.values()), key=lambda way: (-way.sessions, way.change.words))
    # The first error of a group defines its cause; others may read alike and have another cause.
    of_cause = group.missing.items() if group.cause == "missing file" else ()
    missing = max(of_cause, key=lambda one: (len(one[1]), one[0]), default=("", set[str]()))
    things = Counter({thing: count for (cause, thing), count in group.things.items() if cause == group.cause})
    return MistakeFacts(
        key.tool,
        key.program,
        group.signature,
        group.cause,
        things.most_common(1)[0][0] if things else None,
        missing[0] if len(missing[1]) > 1 else None,
        _only(group.found.get(missing[0], set()) - {missing[0]}),
        group.failures,
        len(group.roots),
        group.last,
        tuple(ways),
        key.signature,
        group.roots,
        group.agents.most_common(1)[0][0],
        MistakeCost(group.lost_calls, group.lost_seconds, group.lost_tokens),
        tuple(map(str, group.refs.values())),
        group.example,
    )


def _only(names: set[str]) -> str | None:
    """The one name of a set; None if there are none or several, or if it is not known."""
    return (names.copy().pop() or None) if len(names) == 1 else None


def _pick(choose: Any, known: float | None, new: float | None) -> float | None:
    if known is None or new is None:
        return known if new is None else new
    return float(choose(known, new))


def _example(track: Track, failed: JudgedCall, repaired: JudgedCall | None) -> MistakeExample:
    """Both calls, truncated; the failed one masked, since only its shape is useful."""
    shown = _encode(_truncated(failed.arguments, _MAX_DEPTH, is_masked=True)).decode()
    if repaired is None:
        return MistakeExample(str(track.ref), shown)
    return MistakeExample(str(track.ref), shown, _encode(_truncated(repaired.arguments, _MAX_DEPTH)).decode())


def _truncated(value: Any, depth: int, *, is_masked: bool = False) -> Any:
    """The value, truncated."""
    if isinstance(value, str):
        text = mask(value) if is_masked else value.encode("utf-8", "replace").decode()
        return text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 1] + "…"
    if isinstance(value, dict):
        pairs = list(value.items())[:_MAX_ITEMS]
        return {
            str(name)[:_VALUE_CHARS]: _truncated(item, depth - 1, is_masked=is_masked) for name, item in pairs if depth
        }
    if isinstance(value, list | tuple):
        return [_truncated(item, depth - 1, is_masked=is_masked) for item in value[:_MAX_ITEMS] if depth]
    return value
