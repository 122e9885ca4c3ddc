"""Compares two sessions or two sets: which fails less, by how much, and how certainly. The first is "warm"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal

import msgspec

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.outcome.track import Track
from seasoned.report.profile import LABELS, SessionMeasures, measures_of_track
from seasoned.report.trials import points, share
from seasoned.session import SessionRef
from seasoned.stats.difference import difference, mean_difference
from seasoned.stats.interval import Estimate, Interval
from seasoned.stats.permutation import permute_clusters
from seasoned.stats.proportion import Detectable, detectable, fisher, pool, proportion_difference

TestName = Literal["Fisher's exact test", "permutation of lineages", "Welch's t over lineages"]
MOST_PERMUTED = 2000  # lineages; with more, a permutation test is slow and agrees with Welch's t
ALPHA = 0.05


class ComparedSide(msgspec.Struct, frozen=True):
    """One side: its sessions and counted calls."""

    sessions: tuple[SessionRef, ...]
    lineages: int
    errors: int
    total: int
    # Sessions left out because none of their calls counts.
    without_calls: int = 0

    @property
    def error_rate(self) -> float:
        return self.errors / self.total


class MeasureDifference(msgspec.Struct, frozen=True):
    """One measure of two sets: the means over lineages, and warm minus cold."""

    measure: str
    warm: float | None
    cold: float | None
    difference: Estimate


class Comparison(msgspec.Struct, frozen=True):
    """The result. `improvement` is cold minus warm: positive if the warm side fails less."""

    test_name: TestName
    warm: ComparedSide
    cold: ComparedSide
    improvement: float
    interval: Interval | None
    p_value: float | None
    warm_better: bool | None  # None if the difference could be chance
    sentence: str
    notes: tuple[str, ...] = ()
    in_both: tuple[SessionRef, ...] = ()  # sessions that were in both sets and left out of both
    # Changes from the cold rate that would be found with a power of 0.8; for sets.
    smallest_detectable: Detectable | None = None
    measures: tuple[MeasureDifference, ...] = ()  # for sets


def compare_sessions(warm: Track, cold: Track) -> Comparison:
    """Compare two sessions, treating their calls as independent (Newcombe's interval, Fisher's exact test)."""
    if warm.ref == cold.ref:
        raise UsageError(f"{str(warm.ref)!r} cannot be compared with itself: give two different sessions.")
    for track in (warm, cold):
        if not track.counts.counted:
            raise CannotDo(
                f"No call of {str(track.ref)!r} counts, so it has no error rate: give a session with calls that "
                "worked or failed."
            )
    sides = [ComparedSide((track.ref,), 1, track.counts.failed, track.counts.counted) for track in (warm, cold)]
    of_warm, of_cold = sides
    figures = (of_cold.errors, of_cold.total, of_warm.errors, of_warm.total)
    estimate, test = proportion_difference(*figures), fisher(*figures)
    assert estimate.value is not None and estimate.interval is not None  # both sides have calls
    # Interval and test use different methods: claim a difference only if they agree.
    better = _sign(estimate.interval) if test.value is not None and test.value <= ALPHA else None
    sentence = (
        f"{_rates('The warm session fails', 'the cold one', of_warm, of_cold)}: "
        f"{_difference(estimate.value, estimate.interval, test.value)}. "
        + ("" if better is not None else "No difference can be seen. ")
        + "One session on each side describes these two sessions only; it cannot show that warm starts help."
    )
    return Comparison(
        "Fisher's exact test", of_warm, of_cold, estimate.value, estimate.interval, test.value, better, sentence
    )


def compare_sets(warm: Iterable[Track], cold: Iterable[Track]) -> Comparison:
    """Compare two sets of sessions. Sessions of one lineage resemble each other and count as one unit."""
    sets = [{track.ref: _member(track) for track in tracks} for tracks in (warm, cold)]
    both = tuple(sorted(sets[0].keys() & sets[1].keys()))
    for name, tracks in zip(("warm", "cold"), sets, strict=True):
        if not tracks:
            raise NotFound(f"The {name} set has no sessions: give a path or ids of sessions.")
    if sets[0].keys() == sets[1].keys():
        raise UsageError("Both sets contain the same sessions: give two different sets.")
    kept = [[track for ref, track in tracks.items() if ref not in both] for tracks in sets]
    columns = [_by_lineage(tracks) for tracks in kept]
    of_warm, of_cold = sides = [_side(tracks, column) for tracks, column in zip(kept, columns, strict=True)]
    for name, side in zip(("warm", "cold"), sides, strict=True):
        _check_size(name, side, len(both))
    figures = (*columns[1], *columns[0])
    estimate = difference(*figures)
    assert estimate.value is not None  # both sides have at least two lineages with calls
    test_name: TestName = "permutation of lineages"
    p_value = estimate.p_value
    if of_warm.lineages + of_cold.lineages <= MOST_PERMUTED:
        p_value = permute_clusters(*figures).value
    else:
        test_name = "Welch's t over lineages"
    # With few lineages an interval may be narrow by accident: interval and test must agree.
    better = _sign(estimate.interval) if p_value is not None and p_value <= ALPHA else None
    found = detectable(of_cold.error_rate, of_cold.total, of_warm.total, design_effect=_effect(columns))
    return Comparison(
        test_name,
        of_warm,
        of_cold,
        estimate.value,
        estimate.interval,
        p_value,
        better,
        _sentence(of_warm, of_cold, estimate.value, estimate.interval, p_value, better, found),
        _notes(kept, sides, both),
        both,
        found,
        _compare_measures(kept),
    )


class _ComparedSession(msgspec.Struct, frozen=True):
    """What a comparison needs of one session, so that large sets need not be in memory."""

    ref: SessionRef
    parent: SessionRef | None
    root: str
    failed: int
    calls: int  # those that count
    measures: SessionMeasures


def _member(track: Track) -> _ComparedSession:
    return _ComparedSession(
        track.ref, track.parent, track.root, track.counts.failed, track.counts.counted, measures_of_track(track)
    )


Columns = tuple[list[int], list[int]]


def _by_lineage(members: Iterable[_ComparedSession]) -> Columns:
    """Failures and counted calls of each lineage in which anything counts."""
    lineages: dict[str, list[int]] = {}
    for member in members:
        if member.calls:
            sums = lineages.setdefault(member.root, [0, 0])
            sums[0] += member.failed
            sums[1] += member.calls
    return [failed for failed, _ in lineages.values()], [calls for _, calls in lineages.values()]


def _compare_measures(kept: Sequence[Sequence[_ComparedSession]]) -> tuple[MeasureDifference, ...]:
    # Where no call worked, the first success would have come after the calls of the longest session, on both sides.
    never = 1 + max(member.calls for members in kept for member in members)
    found = []
    for measure in LABELS:
        sides = []
        for members in kept:
            lineages: dict[str, list[float]] = {}
            for member in members:
                value = getattr(member.measures, measure) if member.calls else None
                if value is None and measure == "calls_to_success" and member.calls:
                    value = never
                if value is not None:
                    lineages.setdefault(member.root, []).append(value)
            sides.append([fmean(values) for values in lineages.values()])
        warm, cold = [fmean(values) if values else None for values in sides]
        found.append(MeasureDifference(measure, warm, cold, mean_difference(*sides)))
    return tuple(found)


def _side(members: Sequence[_ComparedSession], lineages: Columns) -> ComparedSide:
    refs = tuple(sorted(member.ref for member in members if member.calls))
    failures, totals = lineages
    return ComparedSide(refs, len(totals), sum(failures), sum(totals), len(members) - len(refs))


def _check_size(name: str, side: ComparedSide, in_both: int) -> None:
    """Refuse a set with fewer than two lineages: it shows no spread."""
    if side.lineages >= 2:
        return
    without = f" {side.without_calls} of its sessions have no call that counts." if side.without_calls else ""
    shared = f" Left out because they are in both sets: {in_both}." if in_both else ""
    if not side.lineages:
        raise CannotDo(
            f"No session of the {name} set has a call that counts.{without}{shared} "
            "Give sessions with calls that worked or failed."
        )
    raise CannotDo(
        f"The {name} set has one session, or sessions of one lineage only; at least two lineages are needed."
        f"{without}{shared} Give more sessions, or compare two single sessions."
    )


def _effect(columns: Sequence[Columns]) -> float:
    """The design effect of both sides by their calls; never below that of independent calls."""
    sides = [pool(*column) for column in columns]
    known = [(side.design_effect, side.n) for side in sides if side.design_effect is not None]
    total = sum(n for _, n in known)
    return max(1.0, sum(effect * n for effect, n in known) / total) if total else 1.0


def _sign(interval: Interval | None) -> bool | None:
    """True above zero, False below, None when zero is inside."""
    if interval is None or interval.low <= 0 <= interval.high:
        return None
    return interval.low > 0


def _notes(
    kept: Sequence[Sequence[_ComparedSession]], sides: Sequence[ComparedSide], both: Sequence[SessionRef]
) -> tuple[str, ...]:
    notes = []
    if both:
        notes.append(f"Left out of both sets because they are in both: {_some(both)}.")
    for name, side in zip(("warm", "cold"), sides, strict=True):
        if side.without_calls:
            notes.append(f"Left out of the {name} set because none of their calls counts: {side.without_calls}.")
    families = [{ref for track in tracks for ref in (track.ref, track.parent) if ref} for tracks in kept]
    if shared := families[0] & families[1]:
        notes.append(
            f"The sets are not independent: sessions on both sides belong to one lineage ({_some(sorted(shared))})."
        )
    return tuple(notes)


def _some(refs: Sequence[SessionRef], shown: int = 5) -> str:
    more = f" and {len(refs) - shown} more" if len(refs) > shown else ""
    return ", ".join(map(str, refs[:shown])) + more


def _sentence(
    warm: ComparedSide,
    cold: ComparedSide,
    value: float,
    interval: Interval | None,
    p_value: float | None,
    better: bool | None,
    found: Detectable,
) -> str:
    """The result in a sentence; without a difference, what could have been detected."""
    rates = _rates("Warm sessions fail", "cold ones", warm, cold)
    how_many = f"{len(warm.sessions)} and {len(cold.sessions)} sessions"
    summary = f"{rates}: {_difference(value, interval, p_value, how_many)}."
    if better is not None:
        return summary
    if found.fall is None:
        blind = "with so few calls even a warm side without any failure could be chance"
    else:
        blind = f"with so many sessions a difference of about {points(found.fall)} would have been found 4 times in 5"
    if _sign(interval) is not None:
        return f"{summary} Not called a difference: the interval excludes zero, but the test does not agree; {blind}."
    return f"{summary} No difference can be seen; {blind}."


def _rates(warm_fails: str, cold_ones: str, warm: ComparedSide, cold: ComparedSide) -> str:
    return f"{warm_fails} on {share(warm.error_rate)} of calls, {cold_ones} on {share(cold.error_rate)}"


def _difference(value: float, interval: Interval | None, p_value: float | None, more: str = "") -> str:
    """`4.9 points less (95 % interval 2.1 to 7.7, p = 0.001; 31 and 40 sessions)`."""
    sign = -1 if value < 0 else 1
    facts = []
    if interval is not None:
        low, high = sorted((sign * interval.low, sign * interval.high))
        facts.append(f"{100 * interval.level:g} % interval {_plain(low)} to {_plain(high)}")
    if p_value is not None:
        facts.append("p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}")
    summary = ", ".join(facts)
    inside = "; ".join(part for part in (summary, more) if part)
    how = "the same" if not value else f"{points(abs(value))} {'less' if value > 0 else 'more'}"
    return f"{how} ({inside})"


def _plain(value: float) -> str:
    """A share in points with a real minus sign and without a negative zero."""
    return f"{100 * value:.1f}".replace("-0.0", "0.0").replace("-", "−")
