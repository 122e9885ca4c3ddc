"""The report on a running experiment: arms, outcomes, effects, examples, and the claims they support.

report = live_report(database, "autumn", now=time.time())      # history=store where assignments are elsewhere
report.sentences          # the verdict in words: what may be said
report.arms[0].measures   # by name: Estimate(value, interval(low, high, level, n), n, clusters, reason, p_value)
report.effects            # each arm against the control, for each measure; the first measure decides
report.examples           # each example that was shown: what it does to the calls of its tool, and its state

Sessions count by the arm they were assigned to, not by what they were shown (intention to treat).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from seasoned.errors import UsageError
from seasoned.example.library.storage import State, cached_library
from seasoned.experiment.live.assignment import SampleRatio, Split, load_split, sample_ratio
from seasoned.experiment.live.live_session import LiveSession, load_live
from seasoned.report.trials import EARLY_TURNS, points_between, share
from seasoned.stats.anytime import difference_sequence, mean_sequence
from seasoned.stats.interval import Estimate, holm
from seasoned.store import Database, Store
from seasoned.text import plural

_LEVEL = 0.95
# For one example: of those without effect, 1 in 200 is called harmful, no matter how often one looks.
_EXAMPLE_LEVEL = 0.99
Measure = Literal["error", "early_errors", "calls_to_success", "seconds_to_success", "errors", "diversity"]


class LiveMeasure(msgspec.Struct, frozen=True):
    """What a measure is called, and the most that one session counts: intervals that stay valid need a bound."""

    label: str
    most: float = 1.0

    @property
    def is_share(self) -> bool:
        return self.most == 1.0


# The first one decides; the others are shown as well. A success that never came counts as the most.
MEASURES: dict[Measure, LiveMeasure] = {
    "error": LiveMeasure("failed share of calls"),
    "early_errors": LiveMeasure(f"failed share, first {EARLY_TURNS} turns"),
    "calls_to_success": LiveMeasure("calls to the first success", 20),
    "seconds_to_success": LiveMeasure("seconds to the first success", 600),
    "errors": LiveMeasure("errors", 50),
    "diversity": LiveMeasure("different tools", 20),
}
Verdict = Literal["fewer errors", "more errors", "nothing shown", "not comparable", "no outcomes yet"]


class LiveArm(msgspec.Struct, frozen=True, kw_only=True):
    """One arm, by intention to treat: a session counts where it was assigned, not by what it was shown."""

    arm: str
    is_control: bool
    share: float  # the share of sessions that it should get
    assigned: int
    exposed: int  # shown a block of their own arm
    contaminated: int  # shown a block of another arm
    settled: int  # their outcome is final, and so is that of every session before them
    measured: int  # settled, with at least one call that counts
    calls: int
    failed: int
    measures: dict[Measure, Estimate]  # means over sessions, valid at every look


class LiveEffect(msgspec.Struct, frozen=True, kw_only=True):
    """An arm minus the control in one measure, valid at every look."""

    measure: Measure
    arm: str
    against: str
    estimate: Estimate
    adjusted_p: float | None  # by Holm over the arms; None for the measures that do not decide
    is_found: bool  # only ever true of the measure that decides


class ExampleEffect(msgspec.Struct, frozen=True, kw_only=True):
    """One example of one arm: the share of its tool's calls that worked, with it minus without it."""

    example_id: str
    tool: str
    arm: str
    shown: int  # settled sessions of the arm that were shown it
    foregone: int  # settled sessions of the control that would have been
    measured: int  # of the shown ones those that called its tool
    measured_without: int
    estimate: Estimate  # below zero it hurts. One value for each session, valid at every look.
    answer: Literal["helps", "hurts", "cannot tell"]
    reason: str


class LiveExample(msgspec.Struct, frozen=True):
    """One example that was shown: what it does to the calls of its tool, and whether it may still be shown."""

    effect: ExampleEffect
    state: State
    state_reason: str | None = None
    changed_at: float | None = None


class LiveReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a running experiment shows now. Times are seconds since 1970."""

    name: str
    # The digest of the current split; sessions of earlier splits are not compared.
    split: str
    began_at: float  # when that split was stored
    looked_at: float
    sessions: int  # assigned to an arm by this split
    waiting: int  # not analysed yet: they, or one before them, can still change
    earlier: int  # assigned by an earlier split of the same name, and left out
    verdict: Verdict  # of the first arm against the control; `sentences` cover all arms
    arms: tuple[LiveArm, ...]
    effects: tuple[LiveEffect, ...]  # the deciding measure first, then the others
    assigned_ratio: SampleRatio
    measured_ratio: SampleRatio  # `is_alarm` of either forbids every finding
    examples: tuple[LiveExample, ...]
    sentences: tuple[str, ...]  # what may be said
    may_not: tuple[str, ...]  # what may not be said


class LiveListing(msgspec.Struct, frozen=True):
    """One line of the list of running experiments."""

    name: str
    arms: tuple[str, ...]
    sessions: int
    exposed: int
    began_at: float
    last_at: float | None


def live_report(database: Database, name: str, *, now: float, history: Store | None = None) -> LiveReport:
    """The current results of a running experiment.

    `history` is the store with sessions and templates, where assignments are kept in another database.
    """
    split = load_split(database, name)
    store = history if history is not None else database
    sessions = load_live(database, split, now=now, history=history)
    assert isinstance(store, Store)  # load_live refuses any other
    began_at = max(row["created_at"] for row in database.rows("experiment.splits", {"experiment": name}))
    all_sessions = len(database.rows("experiment.assignments", {"experiment": name}))
    report = report_of(split, sessions, began_at=began_at, now=now)
    return msgspec.structs.replace(
        report, earlier=all_sessions - len(sessions), examples=_examples(store, split, sessions, now)
    )


def hurting(database: Database, store: Store, split: Split, *, now: float) -> list[ExampleEffect]:
    """The examples that may still be shown although their effect is negative."""
    sessions = load_live(database, split, now=now, history=store)
    found = _examples(store, split, sessions, now)
    return [one.effect for one in found if one.state == "active" and one.effect.answer == "hurts"]


def list_live(database: Database) -> list[LiveListing]:
    """Every experiment that assigns sessions, by name."""
    found = []
    for row in database.rows("experiment.live"):
        split = load_split(database, row["experiment"])
        arms = tuple(one.arm for one in split.arms)
        found.append(
            LiveListing(row["experiment"], arms, row["sessions"], row["exposed"], row["began_at"], row["last_at"])
        )
    return found


def report_of(split: Split, sessions: Sequence[LiveSession], *, began_at: float, now: float) -> LiveReport:
    """The report computed from sessions only, without the examples."""
    names = [one.arm for one in split.arms]
    unknown = sorted({one.arm for one in sessions} - {*names})
    if unknown:
        raise UsageError(f"Sessions were assigned to {unknown!r}, but {split.experiment!r} has the arms {names!r}")
    inside = in_order(sessions)
    settled = settled_of(inside)
    assigned = sample_ratio({arm: sum(one.arm == arm for one in inside) for arm in names}, split.shares)
    values = {arm: _values([one for one in settled if one.arm == arm]) for arm in names}
    measured = sample_ratio({arm: len(values[arm]["error"]) for arm in names}, split.shares)
    effects = _effects(names, values, is_sound=not (assigned.is_alarm or measured.is_alarm))
    arms = tuple(_arm(split, arm, inside, settled, values[arm]) for arm in names)
    waiting = len(inside) - len(settled)
    return LiveReport(
        name=split.experiment,
        split=split.digest,
        began_at=began_at,
        looked_at=now,
        sessions=len(inside),
        waiting=waiting,
        earlier=0,
        verdict=_verdict(effects[0], assigned, measured),
        arms=arms,
        effects=effects,
        assigned_ratio=assigned,
        measured_ratio=measured,
        examples=(),
        sentences=(*_may(_deciding(effects), assigned, measured), *_waiting(waiting, len(inside))),
        may_not=tuple(_may_not(_deciding(effects), arms)),
    )


def in_order(sessions: Iterable[LiveSession]) -> list[LiveSession]:
    """The sessions as they came."""
    return sorted(sessions, key=lambda one: (one.at, one.session))


def settled_of(inside: Sequence[LiveSession]) -> Sequence[LiveSession]:
    """The sessions up to the first one that is not settled.

    Later ones wait for earlier ones, so that the order of looks does not depend on how sessions went.
    """
    return inside[: next((number for number, one in enumerate(inside) if not one.is_settled), len(inside))]


def _values(sessions: Sequence[LiveSession]) -> dict[Measure, list[float]]:
    """The values of sessions with a call that counts, each divided by the most that counts."""
    found: dict[Measure, list[float]] = {measure: [] for measure in MEASURES}
    for one in sessions:
        if not one.ok + one.failed:
            continue
        values: dict[Measure, float | None] = {"error": one.failed / (one.ok + one.failed)}
        if one.measures is not None:
            never = one.measures.calls_to_success is None
            values |= {
                "early_errors": one.measures.early_error_rate,
                "calls_to_success": math.inf if never else one.measures.calls_to_success,
                "seconds_to_success": math.inf if never else one.seconds_to_success,
                "errors": one.measures.errors,
                "diversity": one.measures.diversity,
            }
        for measure, value in values.items():
            if value is not None:
                found[measure].append(min(1.0, value / MEASURES[measure].most))
    return found


def _in_units(estimate: Estimate, measure: Measure) -> Estimate:
    """An estimate of divided values, as the measure counts."""
    most = MEASURES[measure].most
    if estimate.value is None:
        return estimate
    span = estimate.interval
    if span is not None:
        span = msgspec.structs.replace(span, low=most * span.low, high=most * span.high)
    return msgspec.structs.replace(estimate, value=most * estimate.value, interval=span)


def _arm(
    split: Split,
    arm: str,
    inside: Sequence[LiveSession],
    settled: Sequence[LiveSession],
    values: Mapping[Measure, Sequence[float]],
) -> LiveArm:
    own = [one for one in inside if one.arm == arm]
    ended = [one for one in settled if one.arm == arm]
    return LiveArm(
        arm=arm,
        is_control=arm == split.control,
        share=split.shares[arm],
        assigned=len(own),
        exposed=sum(one.exposed_arm == arm for one in own),
        contaminated=sum(one.exposed_arm not in (None, arm) for one in own),
        settled=len(ended),
        measured=len(values["error"]),
        calls=sum(one.ok + one.failed for one in ended),
        failed=sum(one.failed for one in ended),
        measures={name: _in_units(mean_sequence(some, level=_LEVEL), name) for name, some in values.items()},
    )


def _effects(
    names: Sequence[str], values: Mapping[str, Mapping[Measure, Sequence[float]]], *, is_sound: bool
) -> tuple[LiveEffect, ...]:
    """Each arm against the control in each measure; the first measure is corrected for the number of arms."""
    control, others = names[0], names[1:]
    found = []
    for measure in MEASURES:
        estimates = [
            difference_sequence(values[arm][measure], values[control][measure], level=_shared_level(names))
            for arm in others
        ]
        adjusted = holm([1.0 if one.p_value is None else one.p_value for one in estimates])
        for arm, estimate, p_value in zip(others, estimates, adjusted, strict=True):
            corrected = p_value if measure == "error" and estimate.p_value is not None else None
            found.append(
                LiveEffect(
                    measure=measure,
                    arm=arm,
                    against=control,
                    estimate=_in_units(estimate, measure),
                    adjusted_p=corrected,
                    is_found=is_sound and corrected is not None and corrected <= 1 - _LEVEL,
                )
            )
    return tuple(found)


def _shared_level(arms: Sequence[object]) -> float:
    return 1 - (1 - _LEVEL) / (len(arms) - 1)


def _deciding(effects: Iterable[LiveEffect]) -> list[LiveEffect]:
    return [one for one in effects if one.measure == "error"]


def _verdict(first: LiveEffect, assigned: SampleRatio, measured: SampleRatio) -> Verdict:
    if assigned.is_alarm or measured.is_alarm:
        return "not comparable"
    if first.estimate.value is None:
        return "no outcomes yet"
    if not first.is_found:
        return "nothing shown"
    return "fewer errors" if first.estimate.value < 0 else "more errors"


def _waiting(waiting: int, sessions: int) -> list[str]:
    if not waiting:
        return []
    which = f"{waiting} of {sessions} sessions are not counted yet"
    return [f"{which}: they, or one that began before them, may still go on."]


def _may(effects: Sequence[LiveEffect], assigned: SampleRatio, measured: SampleRatio) -> list[str]:
    broken = "less than 1 in 1,000 by chance, so nothing may be concluded until the cause is known"
    if assigned.is_alarm:
        return [f"The arms did not get the sessions they should ({_ratio(assigned)}): {broken}."]
    if measured.is_alarm:
        return [f"The arms lost sessions unequally ({_ratio(measured)} had an outcome): {broken}."]
    claims = []
    for one in effects:
        figures = points_between(one.estimate)
        against = f"{one.arm} against {one.against}, by intention to treat"
        if one.estimate.value is None:
            claims.append(f"{against}: there is nothing to compare yet ({one.estimate.reason}).")
        elif one.is_found:
            value = one.estimate.value
            claims.append(f"{against}: {'fewer' if value < 0 else 'more'} errors, {figures}, however often one looked.")
        else:
            claims.append(f"{against}: no effect is shown so far, {figures}; go on, or stop and say so.")
    return claims


def _may_not(effects: Sequence[LiveEffect], arms: Sequence[LiveArm]) -> list[str]:
    claims = ["That it does the same for other agents, models or users than those that were assigned."]
    if any(not one.is_found for one in effects):
        claims.append("That there is no effect: what lies inside an interval is not refuted.")
    missed = [one for one in arms[1:] if one.assigned and one.exposed < one.assigned]
    if missed:
        names = ", ".join(f"{one.arm} {share(one.exposed / one.assigned)}" for one in missed)
        claims.append(
            f"What the block does to a session that sees it: only a part did ({names}); this is the offer's effect."
        )
    if any(one.contaminated for one in arms):
        count = sum(one.contaminated for one in arms)
        claims.append(f"That the arms were kept apart: {plural(count, 'session')} got the block of another arm.")
    return claims


def _ratio(one: SampleRatio) -> str:
    return ", ".join(f"{arm} {one.counts[arm]} of {one.expected[arm]:.0f} expected" for arm in one.counts)


def _examples(store: Store, split: Split, sessions: Sequence[LiveSession], now: float) -> tuple[LiveExample, ...]:
    library = cached_library(store, now=now)
    tools = {example.id: example.tool for template in library.templates for example in template.examples}
    since = {row["example_id"]: row["changed_at"] for row in store.rows("guard.restored")}
    ordered = in_order(sessions)
    effects = example_effects(split, settled_of(ordered), tools, since=since, waiting=ordered)
    found = []
    for effect in effects:
        state = library.states.get(effect.example_id)
        if state is None:
            found.append(LiveExample(effect, "active"))
        else:
            found.append(LiveExample(effect, state.state, state.reason, state.changed_at))
    return tuple(found)


# Examples are chosen by task, so sessions that were shown one differ from others from the start. Therefore the log also
# holds what each session of the control would have been shown: between these two groups only chance decided.


def example_effects(
    split: Split,
    settled: Sequence[LiveSession],
    tools: Mapping[str, str],
    *,
    since: Mapping[str, float] = {},
    waiting: Sequence[LiveSession] = (),
) -> tuple[ExampleEffect, ...]:
    """Every example that was shown, by arm and id, also to sessions that are not settled.

    `tools` says which tool an example is for; `since` from when on it is judged again, after it was restored.
    """
    arms = [one.arm for one in split.arms[1:]]
    with_it: dict[tuple[str, str], list[LiveSession]] = {}
    without: dict[tuple[str, str], list[LiveSession]] = {}
    for one in settled:
        if one.arm == split.control:
            for arm, ids in one.foregone.items():
                _add(without, arm, ids, one, since)
        elif one.exposed_arm == one.arm:
            _add(with_it, one.arm, one.shown, one, since)
    named = {(one.arm, example_id) for one in waiting for example_id in one.shown}
    keys = sorted(key for key in {*with_it, *without, *named} if key[0] in arms and key[1] in tools)
    return tuple(_example_effect(split, key, with_it.get(key, []), without.get(key, []), tools[key[1]]) for key in keys)


def _add(
    into: dict[tuple[str, str], list[LiveSession]],
    arm: str,
    ids: Iterable[str],
    one: LiveSession,
    since: Mapping[str, float],
) -> None:
    for example_id in ids:
        if one.at >= since.get(example_id, 0.0):
            into.setdefault((arm, example_id), []).append(one)


def _example_effect(
    split: Split, key: tuple[str, str], shown: Sequence[LiveSession], foregone: Sequence[LiveSession], tool: str
) -> ExampleEffect:
    arm, example_id = key
    a, b = _values_of(shown, tool), _values_of(foregone, tool)
    estimate = difference_sequence(a, b, level=_EXAMPLE_LEVEL)
    shares = {name: part for name, part in split.shares.items() if name in (arm, split.control)}
    whole = sum(shares.values())
    counts = {arm: len(a), split.control: len(b)}
    ratio = sample_ratio(counts, {name: shares[name] / whole for name in counts})
    answer: Literal["helps", "hurts", "cannot tell"] = "cannot tell"
    if ratio.is_alarm:
        reason = f"sessions with it call {tool} more or less often than those without: they are not comparable"
    elif estimate.interval is None:
        reason = estimate.reason or "nothing was compared"
    elif estimate.interval.low <= 0 <= estimate.interval.high:
        reason = "the difference could be chance"
    else:
        answer = "hurts" if estimate.interval.high < 0 else "helps"
        seen = f"{len(a)} sessions with it and {len(b)} without"
        reason = f"calls of {tool} that work, {seen}: {points_between(estimate)}"
    return ExampleEffect(
        example_id=example_id,
        tool=tool,
        arm=arm,
        shown=len(shown),
        foregone=len(foregone),
        measured=len(a),
        measured_without=len(b),
        estimate=estimate,
        answer=answer,
        reason=reason,
    )


def _values_of(sessions: Iterable[LiveSession], tool: str) -> list[float]:
    counts = [one.tools[tool] for one in sessions if tool in one.tools]
    return [ok / (ok + failed) for ok, failed in counts]
