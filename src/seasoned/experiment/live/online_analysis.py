"""Live sessions analysed by intention to treat: by the arm they were assigned to, not by what they were shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import HOLDOUT, Split
from seasoned.experiment.live.live_session import LiveSession
from seasoned.insight.trials import points_between, share
from seasoned.stats.anytime import difference_sequence, mean_sequence
from seasoned.stats.interval import Estimate, check_level, holm
from seasoned.stats.proportion import binomial
from seasoned.text import plural

# A sample ratio less likely than this is not chance: assignment, logging or counting is broken.
ALARM = 0.001
_EXACT_SESSIONS = 20_000


class SampleRatio(msgspec.Struct, frozen=True):
    """Whether the arms got as many sessions as they should."""

    counts: dict[str, int]
    expected: dict[str, float]
    p_value: float | None
    is_exact: bool
    is_alarm: bool


class OnlineArm(msgspec.Struct, frozen=True):
    """One arm: sessions assigned, settled, with calls that count, and what they were shown."""

    arm: str
    assigned: int
    settled: int
    measured: int  # settled, with at least one call that counts
    exposed: int  # shown the block of their own arm
    contaminated: int  # shown the block of another arm
    error: Estimate  # the mean over sessions of failed / (ok + failed), valid at every look


class OnlineEffect(msgspec.Struct, frozen=True):
    """An arm against the control: the difference of mean error rates, valid at every look."""

    arm: str
    against: str
    estimate: Estimate
    adjusted_p: float | None  # by Holm over the arms; valid at every look
    is_found: bool


class Online(msgspec.Struct, frozen=True, kw_only=True):
    """The current results of a running experiment; valid at any time."""

    experiment: str
    split: str
    sessions: int
    held_out: int
    # Assigned sessions that are not analysed yet, because they or an earlier one can still change.
    waiting: int
    assigned_ratio: SampleRatio
    # The same over sessions with an outcome: an arm that loses more of them is no longer comparable.
    measured_ratio: SampleRatio
    arms: tuple[OnlineArm, ...]
    effects: tuple[OnlineEffect, ...]
    may: tuple[str, ...]
    may_not: tuple[str, ...]


def analyse_online(split: Split, sessions: Iterable[LiveSession], *, level: float = 0.95) -> Online:
    """Analyse by intention to treat, with intervals and p values that stay valid however often they are checked."""
    check_level(level)
    ordered = sorted(sessions, key=lambda one: (one.at, one.session))
    names = [one.arm for one in split.arms]
    unknown = sorted({one.arm for one in ordered} - {*names, HOLDOUT})
    if unknown:
        raise UsageError(f"Sessions were assigned to {unknown!r}, but {split.experiment!r} has the arms {names!r}")
    inside = [one for one in ordered if one.arm != HOLDOUT]
    settled = settled_of(inside)
    values = {arm: [_error(one) for one in settled if one.arm == arm and one.ok + one.failed] for arm in names}
    assigned = sample_ratio({arm: sum(one.arm == arm for one in inside) for arm in names}, split.shares)
    measured = sample_ratio({arm: len(values[arm]) for arm in names}, split.shares)
    is_sound = not (assigned.is_alarm or measured.is_alarm)
    effects = _effects(names, values, level, is_sound)
    arms = tuple(_arm(arm, inside, settled, values[arm], level) for arm in names)
    return Online(
        experiment=split.experiment,
        split=split.digest,
        sessions=len(inside),
        held_out=len(ordered) - len(inside),
        waiting=len(inside) - len(settled),
        assigned_ratio=assigned,
        measured_ratio=measured,
        arms=arms,
        effects=effects,
        may=tuple(_may(effects, assigned, measured)),
        may_not=tuple(_may_not(effects, arms)),
    )


def settled_of(inside: Sequence[LiveSession]) -> Sequence[LiveSession]:
    """The sessions up to the first one that is not settled.

    Later ones wait for earlier ones, so that the order of looks does not depend on how sessions went.
    """
    return inside[: next((number for number, one in enumerate(inside) if not one.is_settled), len(inside))]


def sample_ratio(counts: Mapping[str, int], shares: Mapping[str, float]) -> SampleRatio:
    """Do the arms have the sessions they should? Two arms are counted exactly, more by Pearson's (1900) chi-square."""
    n = sum(counts.values())
    expected = {arm: n * part for arm, part in shares.items()}
    if not n:
        return SampleRatio(dict(counts), expected, None, False, False)
    is_exact = len(counts) == 2 and n <= _EXACT_SESSIONS
    if is_exact:
        first = next(iter(counts))
        p_value = binomial(counts[first], n, shares[first])
    else:
        distance = math.fsum([(counts[arm] - expected[arm]) ** 2 / expected[arm] for arm in counts])
        p_value = _chi_square_above(distance, len(counts) - 1)
    return SampleRatio(dict(counts), expected, p_value, is_exact, p_value < ALARM)


def _error(one: LiveSession) -> float:
    return one.failed / (one.ok + one.failed)


def _effects(
    names: Sequence[str], values: Mapping[str, Sequence[float]], level: float, is_sound: bool
) -> tuple[OnlineEffect, ...]:
    control, others = names[0], names[1:]
    shared = 1 - (1 - level) / len(others)
    found = [difference_sequence(values[arm], values[control], level=shared) for arm in others]
    adjusted = holm([1.0 if one.p_value is None else one.p_value for one in found])
    return tuple(
        OnlineEffect(
            arm,
            control,
            one,
            None if one.p_value is None else p_value,
            is_sound and p_value is not None and p_value <= 1 - level,
        )
        for arm, one, p_value in zip(others, found, adjusted, strict=True)
    )


def _arm(
    arm: str,
    inside: Sequence[LiveSession],
    settled: Sequence[LiveSession],
    values: Sequence[float],
    level: float,
) -> OnlineArm:
    own = [one for one in inside if one.arm == arm]
    return OnlineArm(
        arm,
        len(own),
        sum(one.arm == arm for one in settled),
        len(values),
        sum(one.exposed_arm == arm for one in own),
        sum(one.exposed_arm not in (None, arm) for one in own),
        mean_sequence(values, level=level),
    )


def _may(effects: Sequence[OnlineEffect], assigned: SampleRatio, measured: SampleRatio) -> list[str]:
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


def _may_not(effects: Sequence[OnlineEffect], arms: Sequence[OnlineArm]) -> list[str]:
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


def _chi_square_above(distance: float, freedom: int) -> float:
    """The upper tail, as the finite sum that whole degrees of freedom have (Abramowitz & Stegun 26.4.4 and 26.4.5)."""
    half = distance / 2
    if not half:
        return 1.0
    start = 0.5 if freedom % 2 else 0.0
    terms = [start + step for step in range(freedom // 2)]
    tail = math.fsum([math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in terms])
    return min(1.0, tail + (math.erfc(math.sqrt(half)) if freedom % 2 else 0.0))
