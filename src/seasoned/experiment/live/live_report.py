"""The report on a running experiment: arms, outcomes, effects, examples, and the claims they support.

report = live_report(database, "autumn", clock=time.time)      # history=store where assignments are elsewhere
report.sentences          # the verdict in words: what may be said
report.arms[0].error      # Estimate(value, interval(low, high, level, n), n, clusters, reason, p_value)
report.effects            # each arm against the control, for each measure; the first measure decides
report.examples           # each example that was shown: what it does to the calls of its tool, and its state
report.looks              # the deciding effect as it stood after each twentieth of the sessions, for a plot

Examples are chosen by task, so sessions that were shown one differ from others from the start. Therefore the log also
holds what each session of the control would have been shown: between these two groups only chance decided. They are
compared in order of arrival, with an interval that stays valid no matter how often one looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Literal

import msgspec

from seasoned.experiment.live.assignment import HOLDOUT, Split, load_split
from seasoned.experiment.live.live_session import PAUSE_SECONDS, WINDOW_SECONDS, LiveSession, load_live
from seasoned.experiment.live.online_analysis import (
    Online,
    SampleRatio,
    analyse_online,
    sample_ratio,
    settled_of,
)
from seasoned.insight.trials import points_between
from seasoned.stats.anytime import difference_sequence, mean_sequence
from seasoned.stats.interval import Estimate
from seasoned.stats.proportion import rate
from seasoned.store import Database, Store
from seasoned.template.library.storage import State, cached_library

# For one example: of those without effect, 1 in 200 is called harmful, no matter how often one looks.
LEVEL = 0.99


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
    return tuple(_effect(split, key, with_it.get(key, []), without.get(key, []), tools[key[1]]) for key in keys)


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


def _effect(
    split: Split, key: tuple[str, str], shown: Sequence[LiveSession], foregone: Sequence[LiveSession], tool: str
) -> ExampleEffect:
    arm, example_id = key
    a, b = _values_of(shown, tool), _values_of(foregone, tool)
    estimate = difference_sequence(a, b, level=LEVEL)
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


Measure = Literal["error", "first_call", "flawless"]
Verdict = Literal["fewer errors", "more errors", "nothing shown", "not comparable", "no outcomes yet"]
# The first one decides; the others are shown as well.
MEASURES: dict[Measure, str] = {
    "error": "failed calls of a session",
    "first_call": "sessions whose first call works",
    "flawless": "sessions without a failed call",
}
_LOOKS = 20


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
    error: Estimate  # the mean over sessions of failed / (ok + failed), valid at every look
    first_call: Estimate  # the share of sessions whose first call worked, valid at every look
    flawless: Estimate  # the share of sessions without a failed call, valid at every look
    # Failed calls of all calls, with an interval clustered by session; valid for one look only.
    pooled_error: Estimate


class LiveEffect(msgspec.Struct, frozen=True, kw_only=True):
    """An arm minus the control in one measure, valid at every look."""

    measure: Measure
    arm: str
    against: str
    estimate: Estimate
    adjusted_p: float | None  # by Holm over the arms; None for the measures that do not decide
    is_found: bool  # only ever true of the measure that decides


class LiveLook(msgspec.Struct, frozen=True):
    """What the deciding effect of an arm was after so many settled sessions."""

    arm: str
    sessions: int
    at: float  # when the last of them was assigned
    value: float | None
    low: float | None
    high: float | None


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
    first_at: float | None
    last_at: float | None  # when the first and the last session were assigned
    window_seconds: float
    pause_seconds: float
    sessions: int  # assigned to an arm by this split
    held_out: int
    waiting: int  # not analysed yet: they, or one before them, can still change
    earlier: int  # assigned by an earlier split of the same name, and left out
    verdict: Verdict  # of the first arm against the control; `sentences` cover all arms
    arms: tuple[LiveArm, ...]
    effects: tuple[LiveEffect, ...]  # the deciding measure first, then the others
    assigned_ratio: SampleRatio
    measured_ratio: SampleRatio  # `is_alarm` of either forbids every finding
    examples: tuple[LiveExample, ...]
    looks: tuple[LiveLook, ...]
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


def live_report(
    database: Database,
    name: str,
    *,
    clock: Callable[[], float],
    history: Store | None = None,
    window_seconds: float = WINDOW_SECONDS,
) -> LiveReport:
    """The current results of a running experiment.

    `history` is the store with sessions and templates, where assignments are kept in another database.
    """
    now = clock()
    split = load_split(database, name)
    store = history if history is not None else database
    sessions = load_live(database, split, now=now, window_seconds=window_seconds, history=history)
    assert isinstance(store, Store)  # load_live refuses any other
    began_at = max(row["created_at"] for row in database.rows("experiment.splits", {"experiment": name}))
    all_sessions = len(database.rows("experiment.assignments", {"experiment": name}))
    report = report_of(split, sessions, began_at=began_at, now=now, window_seconds=window_seconds)
    return msgspec.structs.replace(
        report, earlier=all_sessions - len(sessions), examples=_examples(store, split, sessions, now)
    )


def hurting(
    database: Database, store: Store, split: Split, *, now: float, settled: MutableMapping[str, LiveSession]
) -> list[ExampleEffect]:
    """The examples that may still be shown although their effect is negative."""
    sessions = load_live(database, split, now=now, history=store, settled=settled)
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


def report_of(
    split: Split, sessions: Sequence[LiveSession], *, began_at: float, now: float, window_seconds: float
) -> LiveReport:
    """The report computed from sessions only, without the examples."""
    ordered = in_order(sessions)
    settled = settled_of(ordered)
    found = analyse_online(split, sessions)
    values = {one.arm: _values([session for session in settled if session.arm == one.arm]) for one in split.arms}
    level = 1 - 0.05 / (len(split.arms) - 1)
    return LiveReport(
        name=split.experiment,
        split=split.digest,
        began_at=began_at,
        looked_at=now,
        first_at=ordered[0].at if ordered else None,
        last_at=ordered[-1].at if ordered else None,
        window_seconds=window_seconds,
        pause_seconds=PAUSE_SECONDS,
        sessions=found.sessions,
        held_out=found.held_out,
        waiting=found.waiting,
        earlier=0,
        verdict=_verdict(found),
        arms=tuple(_arm(split, found, settled, values, number) for number in range(len(split.arms))),
        effects=(*_deciding(found), *_other_measures(split, values, level)),
        assigned_ratio=found.assigned_ratio,
        measured_ratio=found.measured_ratio,
        examples=(),
        looks=_looks(split, settled, level),
        sentences=(*found.may, *_waiting(found)),
        may_not=found.may_not,
    )


def in_order(sessions: Sequence[LiveSession]) -> list[LiveSession]:
    """The sessions of the arms as they came."""
    return sorted([one for one in sessions if one.arm != HOLDOUT], key=lambda one: (one.at, one.session))


def _values(sessions: Sequence[LiveSession]) -> dict[Measure, list[float]]:
    """One value for each session with a call that counts."""
    measured = [one for one in sessions if one.has_begun_well is not None]
    return {
        "error": [one.failed / (one.ok + one.failed) for one in measured],
        "first_call": [float(bool(one.has_begun_well)) for one in measured],
        "flawless": [float(not one.failed) for one in measured],
    }


def _arm(
    split: Split,
    found: Online,
    settled: Sequence[LiveSession],
    values: Mapping[str, Mapping[Measure, Sequence[float]]],
    number: int,
) -> LiveArm:
    one = found.arms[number]
    counts = [(session.failed, session.ok + session.failed) for session in settled if session.arm == one.arm]
    counted = [pair for pair in counts if pair[1]]
    return LiveArm(
        **msgspec.structs.asdict(one),
        is_control=not number,
        share=split.shares[one.arm],
        calls=sum(total for _, total in counted),
        failed=sum(failed for failed, _ in counted),
        first_call=mean_sequence(values[one.arm]["first_call"]),
        flawless=mean_sequence(values[one.arm]["flawless"]),
        pooled_error=rate([failed for failed, _ in counted], [total for _, total in counted]),
    )


def _deciding(found: Online) -> list[LiveEffect]:
    return [LiveEffect(measure="error", **msgspec.structs.asdict(one)) for one in found.effects]


def _other_measures(
    split: Split, values: Mapping[str, Mapping[Measure, Sequence[float]]], level: float
) -> list[LiveEffect]:
    others: tuple[Measure, ...] = ("first_call", "flawless")
    return [
        LiveEffect(
            measure=measure,
            arm=one.arm,
            against=split.control,
            estimate=difference_sequence(values[one.arm][measure], values[split.control][measure], level=level),
            adjusted_p=None,
            is_found=False,
        )
        for measure in others
        for one in split.arms[1:]
    ]


def _looks(split: Split, settled: Sequence[LiveSession], level: float) -> tuple[LiveLook, ...]:
    ends = {-(-len(settled) * part // _LOOKS) for part in range(1, _LOOKS + 1)}
    errors: dict[str, list[float]] = {one.arm: [] for one in split.arms}
    found = []
    for count, session in enumerate(settled, start=1):
        errors[session.arm] += _values([session])["error"]
        for one in split.arms[1:] if count in ends else ():
            effect = difference_sequence(errors[one.arm], errors[split.control], level=level)
            low, high = (None, None) if effect.interval is None else (effect.interval.low, effect.interval.high)
            found.append(LiveLook(one.arm, count, session.at, effect.value, low, high))
    return tuple(found)


def _verdict(found: Online) -> Verdict:
    first = found.effects[0]
    if found.assigned_ratio.is_alarm or found.measured_ratio.is_alarm:
        return "not comparable"
    if first.estimate.value is None:
        return "no outcomes yet"
    if not first.is_found:
        return "nothing shown"
    return "fewer errors" if first.estimate.value < 0 else "more errors"


def _waiting(found: Online) -> list[str]:
    if not found.waiting:
        return []
    which = f"{found.waiting} of {found.sessions} sessions are not counted yet"
    return [f"{which}: they, or one that began before them, may still go on."]


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
