"""Compressions of the context: error rates before and after, and what was known before and no longer used after."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from seasoned.command.parse import names, parse
from seasoned.command.tool import argument_names
from seasoned.lazy_regex import LazyRegex
from seasoned.lesson.failure.call_target import WRONG_PATH, CallTarget, target_of
from seasoned.outcome.error_rate import Counts
from seasoned.outcome.track import JudgedCall, Track, counts_of
from seasoned.outcome.track import tracks as load_tracks
from seasoned.report.trials import share
from seasoned.session import SessionRef
from seasoned.stats.difference import paired_ratio
from seasoned.stats.interval import Estimate, Interval
from seasoned.stats.proportion import needed_for_ratio, pool, proportion_ratio, ratio_floor, wilson, wilson_interval
from seasoned.store import Store

TOLERANCE = 1.2  # a fifth more failures after a compression still counts as preserved
LEVEL = 0.9
LOW_RATE = 0.01  # below one failure in a hundred calls the ratio does not matter
FEWEST_CALLS = 20  # counted calls on each side; two failures in ten are an accident, not a rate


class BeforeAfter(msgspec.Struct, frozen=True):
    """The interval of after / before. `high` is None if nothing failed before: then the ratio has no upper end."""

    low: float
    high: float | None
    level: float
    n: int


class Judgement(msgspec.Struct, frozen=True):
    """The result of the rule. `preserved` is None if the data cannot tell, and `reason` says why."""

    preserved: bool | None
    reason: str | None
    ratio: float | None
    interval: BeforeAfter | None
    # Calls that would be needed to show an unchanged rate, over both sides.
    more_calls: int | None = None


def judge(before: Counts, after: Counts, *, is_cut: bool = False) -> Judgement:
    """Apply the rule to one lineage, treating its calls as independent."""
    if is_cut and not before.counted:
        return Judgement(None, "cannot tell: the session before it is missing", None, None)
    estimate = proportion_ratio(after.failed, after.counted, before.failed, before.counted, level=LEVEL)
    ends = _ends(estimate.interval)
    if ends is None and before.counted and after.counted:
        of_after = wilson(after.failed, after.counted, level=LEVEL).interval
        of_before = wilson(before.failed, before.counted, level=LEVEL).interval
        ends = _floor(after.error_rate, of_after, of_before, before.counted + after.counted)
    return _apply(before, after, estimate, ends)


def judge_pairs(pairs: Sequence[tuple[Counts, Counts]], before: Counts, after: Counts) -> Judgement:
    """Apply the rule over lineages, each compared with itself."""
    columns = (
        [a.failed for _, a in pairs],
        [a.counted for _, a in pairs],
        [b.failed for b, _ in pairs],
        [b.counted for b, _ in pairs],
    )
    estimate = paired_ratio(*columns, level=LEVEL)
    ends = _ends(estimate.interval)
    if ends is None and not before.failed:
        of_after, of_before = (wilson_interval(pool(*side), LEVEL) for side in (columns[:2], columns[2:]))
        ends = _floor(after.error_rate, of_after, of_before, len(pairs))
    return _apply(before, after, estimate, ends)


def _apply(before: Counts, after: Counts, estimate: Estimate, ends: BeforeAfter | None) -> Judgement:
    """Preserved: the upper end is within the tolerance, or the rate after is low. Lost: the lower end is above it."""
    rate = after.error_rate
    if min(before.counted, after.counted) < FEWEST_CALLS or rate is None:
        reason = (
            f"cannot tell: {before.counted} calls count before and {after.counted} after, "
            f"and fewer than {FEWEST_CALLS} on a side give no rate"
        )
        return Judgement(None, reason, estimate.value, ends)
    if rate < LOW_RATE or (ends is not None and ends.high is not None and ends.high <= TOLERANCE):
        return Judgement(True, None, estimate.value, ends)
    if ends is not None and ends.low > TOLERANCE:
        return Judgement(False, None, estimate.value, ends)
    more, reason = _needed(before, after)
    return Judgement(None, reason, estimate.value, ends, more)


def _needed(before: Counts, after: Counts) -> tuple[int | None, str]:
    """How many more independent calls would show an unchanged rate, as a number and a sentence."""
    rate = (before + after).error_rate
    assert rate is not None  # there are calls on both sides
    each = needed_for_ratio(rate, TOLERANCE, level=LEVEL)
    if each is None:
        return None, f"cannot tell: at a rate of {rate:g} a ratio cannot be measured"
    more = max(0, each - before.counted) + max(0, each - after.counted)
    if not more:
        return None, f"cannot tell: the ratio is too close to the tolerance of {TOLERANCE:g}"
    return more, f"cannot tell: about {_rounded(more)} more calls needed"


def _rounded(number: int) -> str:
    """Rounded to two digits: more would suggest precision."""
    digits = max(0, len(str(number)) - 2)
    return f"{round(number, -digits):,}".replace(",", " ")


def _ends(interval: Interval | None) -> BeforeAfter | None:
    return None if interval is None else BeforeAfter(interval.low, interval.high, interval.level, interval.n)


def _floor(rate: float | None, of_after: Interval | None, of_before: Interval | None, n: int) -> BeforeAfter | None:
    """The lower end alone, where nothing failed before and something after."""
    if not rate or of_after is None or of_before is None:
        return None
    return BeforeAfter(ratio_floor(rate, of_after, of_before), None, LEVEL, n)


Kind = Literal["compaction", "continuation"]


class Segment(msgspec.Struct, frozen=True):
    """The calls between two compressions. `kind` is that of the compression it begins with; None for the first."""

    session: SessionRef
    kind: Kind | None
    message: int  # the message of the session that it begins with
    calls: tuple[JudgedCall, ...]


class CompressionCheck(msgspec.Struct, frozen=True):
    """One lineage: its sessions, the counts before and after the first compression, and the judgement."""

    sessions: tuple[SessionRef, ...]
    root: str
    has_compression: bool
    compressions: int
    before: Counts | None
    after: Counts | None
    judgement: Judgement
    # The session before the first one is missing, so nothing is known about the time before.
    is_cut: bool = False


class PooledCheck(msgspec.Struct, frozen=True):
    """Many lineages: each one's check, and the judgement over those with counted calls on both sides."""

    checks: tuple[CompressionCheck, ...]  # those with a compression
    without: int  # lineages that were never compressed
    pairs: int
    before: Counts
    after: Counts
    judgement: Judgement


NOT_COMPRESSED = "no context was compressed"


def chains(tracks: Iterable[Track]) -> list[tuple[Track, ...]]:
    """Sessions linked by compression, oldest first; an unlinked session is a chain by itself.

    If a session was continued twice, both continuations belong to one chain, so that what came before counts once.
    """
    known = {track.ref: track for track in tracks}
    children: dict[SessionRef, list[Track]] = {}
    first: list[Track] = []
    for track in known.values():
        if track.relation == "compression" and track.parent in known and track.parent != track.ref:
            children.setdefault(track.parent, []).append(track)
        else:
            first.append(track)
    found, seen = [], set[SessionRef]()
    # The remaining sessions form cycles: start each at its first session.
    for track in [*first, *known.values()]:
        if track.ref not in seen:
            found.append(_descend(track, children, seen))
    return found


def _descend(track: Track, children: dict[SessionRef, list[Track]], seen: set[SessionRef]) -> tuple[Track, ...]:
    """A session and all that continue it, one generation after the other."""
    chain, generation = [], [track]
    seen.add(track.ref)
    while generation:
        chain += generation
        following = [child for parent in generation for child in children.get(parent.ref, ()) if child.ref not in seen]
        generation = sorted(following, key=lambda one: (one.started is None, one.started or 0.0, one.ref))
        seen.update(child.ref for child in generation)
    return tuple(chain)


def segments(chain: Sequence[Track]) -> tuple[Segment, ...]:
    """The calls of a chain, split at each compression. The first segment precedes all of them."""
    found: list[Segment] = []
    for number, track in enumerate(chain):
        kind: Kind | None = "continuation" if number or _is_cut(track) else None
        if kind and not number:
            found.append(Segment(track.ref, None, 0, ()))
        edges = sorted(set(track.compactions))
        for number_here, (start, end) in enumerate(zip([0, *edges], [*edges, math.inf], strict=True)):
            began: Kind | None = "compaction" if number_here else kind
            calls = tuple([call for call in track.calls if start <= call.message < end])
            if kind and began == "compaction" and not any(call.message < start for call in track.calls):
                # A continuation starts with the summary: this is the same compression, not another one. Copies of its
                # parent's calls are not among its calls.
                found.pop()
                began = kind
            found.append(Segment(track.ref, began, start, calls))
    return tuple(found)


def _is_cut(track: Track) -> bool:
    """Whether the first session of a chain continues another one."""
    return track.relation == "compression"


def check(chain: Sequence[Track]) -> CompressionCheck:
    """Check one lineage. The interval describes its own calls only."""
    parts = segments(chain)
    refs, is_cut = tuple([track.ref for track in chain]), bool(chain) and _is_cut(chain[0])
    root = chain[0].root if chain else ""
    if len(parts) < 2:
        return CompressionCheck(refs, root, False, 0, None, None, Judgement(None, NOT_COMPRESSED, None, None))
    counts = [counts_of(part.calls) for part in parts]
    before, after = counts[0], sum(counts[1:], Counts())
    judgement = judge(before, after, is_cut=is_cut)
    return CompressionCheck(refs, root, True, len(parts) - 1, before, after, judgement, is_cut)


def check_many(many: Iterable[Sequence[Track]]) -> PooledCheck:
    """Check all lineages together, each compared with itself; lineages of one root form one pair."""
    checks, without = [], 0
    for chain in many:
        found = check(chain)
        if found.has_compression:
            checks.append(found)
        else:
            without += 1
    sides: dict[str, tuple[Counts, Counts]] = {}
    for found in checks:
        if found.before and found.after and found.before.counted and found.after.counted:
            before, after = sides.get(found.root, (Counts(), Counts()))
            sides[found.root] = before + found.before, after + found.after
    pairs = tuple(sides.values())
    before, after = sum([b for b, _ in pairs], Counts()), sum([a for _, a in pairs], Counts())
    if not checks:
        judgement = Judgement(None, NOT_COMPRESSED, None, None)
    elif len(pairs) < 2:
        judgement = judge(before, after)
    else:
        judgement = judge_pairs(pairs, before, after)
    return PooledCheck(tuple(checks), without, len(pairs), before, after, judgement)


def is_compressed(chain: Sequence[Track]) -> bool:
    """Whether the chain has a compression; works without calls."""
    return len(chain) > 1 or any(track.compactions or _is_cut(track) for track in chain)


def outlines(store: Store) -> list[tuple[Track, ...]]:
    """The chains of all sessions of a store without their calls: `fill` fetches them one chain at a time."""
    return chains(
        Track(
            ref=SessionRef(row["agent"], row["native_id"]),
            messages=row["messages"],
            calls=(),
            root="",
            started=row["started"],
            parent=SessionRef(row["parent_agent"], row["parent_native_id"]) if row["parent_agent"] else None,
            relation=row["relation"],
            compactions=tuple(msgspec.json.decode(row["compactions"])),
        )
        for row in store.each("session.tracks", {"agent": None, "project": None})
    )


def around(chain: Sequence[Track]) -> tuple[tuple[JudgedCall, ...], tuple[JudgedCall, ...]]:
    """The calls before the first compression, and all that came after it."""
    parts = segments(chain)
    return parts[0].calls if parts else (), tuple([call for part in parts[1:] for call in part.calls])


def fill(store: Store, chain: Sequence[Track]) -> tuple[Track, ...]:
    """The same chain with its calls."""
    rows = [store.row("session.find_ref", {"agent": one.ref.agent, "native_id": one.ref.native_id}) for one in chain]
    found = {track.ref: track for track in load_tracks(store, sessions=[row["id"] for row in rows if row])}
    return tuple([found[one.ref] for one in chain if one.ref in found])


def sentence(found: CompressionCheck | PooledCheck) -> str:
    """The result of a check in a sentence."""
    if found.judgement.reason == NOT_COMPRESSED or found.before is None or found.after is None:
        return "No context was compressed here, so there is nothing to compare."
    where = f" over {found.pairs} lineages" if isinstance(found, PooledCheck) and found.pairs > 1 else ""
    figures = f"{_figures(found.before)} before the first compression and {_figures(found.after)} after it{where}"
    says = found.judgement
    if says.preserved is None:
        why = (says.reason or "").partition(": ")[2]
        return f"It is unclear whether proficiency was preserved: {figures}{_ratio(says)}; {why}."
    word = "preserved" if says.preserved else "not preserved"
    if says.preserved and (says.interval is None or says.interval.high is None or says.interval.high > TOLERANCE):
        return f"Proficiency was {word}: {figures}; below one failure in a hundred calls no ratio is required."
    return f"Proficiency was {word}: {figures}{_ratio(says)}, and the tolerance is {TOLERANCE:g}."


def _ratio(says: Judgement) -> str:
    ends = says.interval
    if ends is None:
        return ""
    if says.ratio is None or ends.high is None:
        lower = f"lower end of the {100 * LEVEL:g} % interval"
        return f"; the rate after is at least {ends.low:.1f} times that before ({lower})"
    between = f"{100 * LEVEL:g} % interval {ends.low:.2f} to {ends.high:.2f}"
    return f"; the rate after is {says.ratio:.2f} times that before ({between})"


def _figures(counts: Counts) -> str:
    return f"{counts.failed} of {counts.counted} calls fail ({share(counts.error_rate)})"


State = Literal["failed after", "not used"]
Outcome = Literal["ok", "failed", "used"]
FEWEST_USES = 2  # once may have been luck


class LostKnowledge(msgspec.Struct, frozen=True):
    """One thing that was known. `not used` may just mean that the work moved on."""

    what: str
    state: State
    before: int  # how often it worked before
    after: int  # how often it was used after
    failed_after: int


class Topic(msgspec.Struct, frozen=True):
    """How much of one kind was known before, and what of it was lost, most important first."""

    known: int
    lost: tuple[LostKnowledge, ...]

    def count(self, state: State) -> int:
        return sum(one.state == state for one in self.lost)


class Knowledge(msgspec.Struct, frozen=True):
    """What was known before and what of it was lost."""

    commands: Topic
    paths: Topic
    shapes: Topic


class _Uses(msgspec.Struct):
    """Uses of one thing on one side. A failed compound command says nothing about its parts."""

    ok: int = 0
    failed: int = 0
    all: int = 0

    def add(self, outcome: Outcome) -> None:
        self.all += 1
        self.ok += outcome == "ok"
        self.failed += outcome == "failed"

    def __iadd__(self, other: _Uses) -> _Uses:
        self.ok, self.failed, self.all = self.ok + other.ok, self.failed + other.failed, self.all + other.all
        return self


Find = Callable[[JudgedCall], Iterator[tuple[str, Outcome]]]
Lookup = Callable[[str], _Uses]


def lost_knowledge(before: Sequence[JudgedCall], after: Sequence[JudgedCall]) -> Knowledge:
    """Compare both sides. Known: worked at least twice and mostly. Lost: unused, or failed half of the time or more."""
    return Knowledge(
        commands=_topic(before, after, _commands, _by_name),
        paths=_topic(before, after, _paths, _by_path),
        shapes=_topic(before, after, _shapes, _by_name),
    )


def _topic(
    before: Sequence[JudgedCall],
    after: Sequence[JudgedCall],
    find: Find,
    by: Callable[[Mapping[str, _Uses]], Lookup],
) -> Topic:
    then, uses_of = _tally(before, find), by(_tally(after, find))
    known = {what: uses for what, uses in then.items() if uses.ok >= FEWEST_USES and uses.ok > uses.failed}
    lost = []
    for what, uses in known.items():
        here = uses_of(what)
        if not here.all:
            lost.append(LostKnowledge(what, "not used", uses.ok, 0, 0))
        elif here.failed and here.failed >= here.ok:
            lost.append(LostKnowledge(what, "failed after", uses.ok, here.all, here.failed))
    # What fails now comes before what is only not used any more.
    lost.sort(key=lambda one: (one.state != "failed after", -one.failed_after, -one.before, one.what))
    return Topic(len(known), tuple(lost))


def _tally(calls: Sequence[JudgedCall], find: Find) -> dict[str, _Uses]:
    uses: dict[str, _Uses] = {}
    for call in calls:
        if call.is_counted:
            # A command that names a file five times has used it once.
            for what, outcome in dict(find(call)).items():
                uses.setdefault(what, _Uses()).add(outcome)
    return uses


def _by_name(now: Mapping[str, _Uses]) -> Lookup:
    return lambda what: now.get(what) or _Uses()


def _commands(call: JudgedCall) -> Iterator[tuple[str, Outcome]]:
    """Program and subcommand of what a shell call was about."""
    if call.command is None:
        return
    target = target_of(call)
    guilty = {run.label for run in target.failed_runs} if call.has_failed and not _only_finds(target) else set()
    for run in target.runs:
        outcome: Outcome = "used"
        if not call.has_failed:
            outcome = "ok" if run.decides else "used"
        # With several candidates it is unknown which program failed.
        elif guilty == {run.label}:
            outcome = "failed"
        yield run.label, outcome


def _only_finds(target: CallTarget) -> bool:
    """A check that reports a finding worked."""
    return bool(target.runs) and all(run.is_check for run in target.failed_runs)


_READERS = names("cat head tail nl wc less more bat sed")
_PATH = LazyRegex(r"(?:~?/|\.{1,2}/)?(?:[\w.@+-]{1,80}/){0,20}[\w.@+-]{0,80}[\w+-]\.\w{1,8}\Z")


def _paths(call: JudgedCall) -> Iterator[tuple[str, Outcome]]:
    """Files that a call names, and those that a shell call only reads; failed if the path was wrong."""
    outcome: Outcome = "ok"
    if call.has_failed:
        error_text = f"{call.reason} {(call.result or '')[:600]}"
        outcome = "failed" if WRONG_PATH.compiled.search(error_text) else "used"
    command = call.command
    if command is None:
        for name, value in call.arguments.items():
            if name in argument_names("path") and isinstance(value, str) and value:
                yield _tidy(value), outcome
        return
    steps = parse(command)
    if call.has_failed and len(steps) > 1:
        outcome = "used"
    for step in steps:
        if step.program in _READERS:
            yield from [(_tidy(word), outcome) for word in step.words if _PATH.compiled.match(word)]


def _tidy(path: str) -> str:
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/") or path


def _by_path(now: Mapping[str, _Uses]) -> Lookup:
    """Join uses of one file under different paths: `src/a.py` and `/home/x/src/a.py`."""
    by_end: dict[str, list[str]] = {}
    for path in now:
        by_end.setdefault(path.rpartition("/")[2], []).append(path)

    def look_up(what: str) -> _Uses:
        uses = _Uses()
        for path in by_end.get(what.rpartition("/")[2], ()):
            if path == what or path.endswith(f"/{what}") or what.endswith(f"/{path}"):
                uses += now[path]
        return uses

    return look_up


def _shapes(call: JudgedCall) -> Iterator[tuple[str, Outcome]]:
    """A tool with the names of its arguments."""
    yield f"{call.tool}({', '.join(sorted(call.arguments))})", "failed" if call.has_failed else "ok"
