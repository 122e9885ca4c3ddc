"""Compares error rates before and after compressions of the context."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from seasoned.insight.rate_text import share
from seasoned.insight.track import JudgedCall, Track, counts_of
from seasoned.insight.track import tracks as load_tracks
from seasoned.outcome.error_rate import NOTHING_MORE, Counts, Include
from seasoned.session import SessionRef
from seasoned.stats.cluster import pool, wilson_interval
from seasoned.stats.difference import paired_ratio
from seasoned.stats.difference import ratio as clustered_ratio
from seasoned.stats.interval import Estimate, Interval, two_sided_z
from seasoned.stats.proportion import needed_for_ratio, proportion_ratio, ratio_floor, wilson
from seasoned.store import Store

TOLERANCE = 1.2  # a fifth more failures after a compression still counts as preserved
LEVEL = 0.9
LOW_RATE = 0.01  # below one failure in a hundred calls the ratio does not matter
FEWEST_CALLS = 20  # counted calls on each side; two failures in ten are an accident, not a rate

Method = Literal["calls of one lineage", "pairs of lineages", "lineages on each side"]


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
    method: Method | None = None
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
    return _apply(before, after, estimate, ends, "calls of one lineage", 1.0)


def judge_pairs(pairs: Sequence[tuple[Counts, Counts]], before: Counts, after: Counts) -> Judgement:
    """Apply the rule over lineages: as pairs, or as clusters on each side if pairs give no interval."""
    columns = (
        [a.failed for _, a in pairs],
        [a.counted for _, a in pairs],
        [b.failed for b, _ in pairs],
        [b.counted for b, _ in pairs],
    )
    method: Method = "pairs of lineages"
    estimate = paired_ratio(*columns, level=LEVEL)
    ends = _ends(estimate.interval)
    if ends is None:
        method = "lineages on each side"
        estimate = clustered_ratio(*columns, level=LEVEL)
        ends = _ends(estimate.interval)
    if ends is None:
        of_after, of_before = (wilson_interval(pool(*side), LEVEL) for side in (columns[:2], columns[2:]))
        ends = _floor(after.error_rate, of_after, of_before, len(pairs))
    return _apply(before, after, estimate, ends, method, _spread(before, after, ends))


def _apply(
    before: Counts, after: Counts, estimate: Estimate, ends: BeforeAfter | None, method: Method, effect: float
) -> Judgement:
    """Preserved: the upper end is within the tolerance, or the rate after is low. Lost: the lower end is above it."""
    rate = after.error_rate
    if min(before.counted, after.counted) < FEWEST_CALLS or rate is None:
        reason = (
            f"cannot tell: {before.counted} calls count before and {after.counted} after, "
            f"and fewer than {FEWEST_CALLS} on a side give no rate"
        )
        return Judgement(None, reason, estimate.value, ends, method)
    if rate < LOW_RATE or (ends is not None and ends.high is not None and ends.high <= TOLERANCE):
        return Judgement(True, None, estimate.value, ends, method)
    if ends is not None and ends.low > TOLERANCE:
        return Judgement(False, None, estimate.value, ends, method)
    more, reason = _needed(before, after, effect)
    return Judgement(None, reason, estimate.value, ends, method, more)


def _needed(before: Counts, after: Counts, effect: float) -> tuple[int | None, str]:
    """How many more calls would show an unchanged rate, also as a sentence."""
    rate = (before + after).error_rate
    assert rate is not None  # there are calls on both sides
    each = needed_for_ratio(rate, TOLERANCE, design_effect=effect, level=LEVEL)
    if each.each is None:
        return None, f"cannot tell: {each.reason}"
    more = max(0, each.each - before.counted) + max(0, each.each - after.counted)
    if not more:
        return None, f"cannot tell: the ratio is too close to the tolerance of {TOLERANCE:g}"
    return more, f"cannot tell: about {_rounded(more)} more calls needed"


def _rounded(number: int) -> str:
    """Rounded to two digits: more would suggest precision."""
    digits = max(0, len(str(number)) - 2)
    return f"{round(number, -digits):,}".replace(",", " ")


def _spread(before: Counts, after: Counts, ends: BeforeAfter | None) -> float:
    """How many times the variance of the ratio's logarithm is that of as many independent calls."""
    if ends is None or ends.high is None or not ends.low or not before.failed or not after.failed:
        return 1.0
    own = sum(1 / side.failed - 1 / side.counted for side in (before, after))
    if own <= 0:
        return 1.0
    seen = math.log(ends.high / ends.low) / 2 / two_sided_z(LEVEL)
    return max(1.0, seen * seen / own)


def _ends(interval: Interval | None) -> BeforeAfter | None:
    return None if interval is None else BeforeAfter(interval.low, interval.high, interval.level, interval.n)


def _floor(rate: float | None, of_after: Interval | None, of_before: Interval | None, n: int) -> BeforeAfter | None:
    """The lower end alone, where nothing failed before and something after."""
    if not rate or of_after is None or of_before is None:
        return None
    return BeforeAfter(ratio_floor(rate, of_after, of_before), None, LEVEL, n)


Kind = Literal["compaction", "continuation"]


class Segment(msgspec.Struct, frozen=True):
    """The calls between two compressions, and the compression that it begins with; None for the first."""

    session: SessionRef
    kind: Kind | None
    message: int  # the message of the session that it begins with
    calls: tuple[JudgedCall, ...]


class Boundary(msgspec.Struct, frozen=True):
    """One compression with the counts of the segments on its two sides."""

    session: SessionRef
    kind: Kind
    message: int
    before: Counts
    after: Counts


class CompressionCheck(msgspec.Struct, frozen=True):
    """One lineage of compressions: its sessions, what counts before the first and after it, and the judgement."""

    sessions: tuple[SessionRef, ...]
    root: str
    has_compression: bool
    boundaries: tuple[Boundary, ...]
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
    # Sessions that remain form circles: begin each at its first session.
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
        generation = sorted(following, key=_by_time)
        seen.update(child.ref for child in generation)
    return tuple(chain)


def _by_time(track: Track) -> tuple[bool, float, SessionRef]:
    return track.started is None, track.started or 0.0, track.ref


def segments(chain: Sequence[Track]) -> tuple[Segment, ...]:
    """The calls of a chain, split at each compression. The first segment lies before all of them."""
    found: list[Segment] = []
    for number, track in enumerate(chain):
        kind: Kind | None = "continuation" if number or _is_cut(track) else None
        if kind and not number:
            found.append(Segment(track.ref, None, 0, ()))
        edges = sorted(set(track.compactions))
        for number_here, (start, end) in enumerate(zip([0, *edges], [*edges, math.inf], strict=True)):
            began: Kind | None = "compaction" if number_here else kind
            calls = tuple([call for call in track.calls if start <= call.message < end])
            if kind and began == "compaction" and not _has_calls_before(track, start):
                # A continuation starts with the summary: this is the compression that began it, not another one.
                found.pop()
                began = kind
            found.append(Segment(track.ref, began, start, calls))
    return tuple(found)


def _has_calls_before(track: Track, message: int) -> bool:
    """Whether a session made calls before a message, not counting copies of its parent's calls."""
    return any(call.message < message for call in track.calls)


def _is_cut(track: Track) -> bool:
    """Whether a session that stands first in its chain continues another one."""
    return track.relation == "compression"


def check(chain: Sequence[Track]) -> CompressionCheck:
    """Check one lineage. The interval describes its own calls only."""
    parts = segments(chain)
    refs, is_cut = tuple([track.ref for track in chain]), bool(chain) and _is_cut(chain[0])
    root = chain[0].root if chain else ""
    if len(parts) < 2:
        return CompressionCheck(refs, root, False, (), None, None, Judgement(None, NOT_COMPRESSED, None, None))
    counts = [counts_of(part.calls) for part in parts]
    before, after = counts[0], sum(counts[1:], Counts())
    judgement = judge(before, after, is_cut=is_cut)
    return CompressionCheck(refs, root, True, _boundaries(chain, parts, counts), before, after, judgement, is_cut)


def _boundaries(chain: Sequence[Track], parts: Sequence[Segment], counts: Sequence[Counts]) -> tuple[Boundary, ...]:
    """Each compression with the segment that it ended; a continuation ended the last one of its parent."""
    parents = {track.ref: track.parent for track in chain}
    last: dict[SessionRef | None, Counts] = {}
    found = []
    for number, part in enumerate(parts):
        if part.kind:
            ended = last.get(parents[part.session]) if part.kind == "continuation" else None
            found.append(Boundary(part.session, part.kind, part.message, ended or counts[number - 1], counts[number]))
        last[part.session] = counts[number]
    return tuple(found)


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


def fill(store: Store, chain: Sequence[Track], *, include: Include = NOTHING_MORE) -> tuple[Track, ...]:
    """The same chain with its calls."""
    rows = [store.row("session.find_ref", {"agent": one.ref.agent, "native_id": one.ref.native_id}) for one in chain]
    found = {
        track.ref: track for track in load_tracks(store, include=include, sessions=[row["id"] for row in rows if row])
    }
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
