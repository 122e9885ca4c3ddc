"""Two arms on the same tasks: the difference of a measure, its interval by task, and its test."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from seasoned.experiment.analysis.task_run import KINDS, Measure, TrialTally
from seasoned.stats.difference import NO_PAIRS, difference, paired_difference
from seasoned.stats.interval import (
    NOTHING_VARIES,
    Estimate,
    Interval,
    PValue,
    normal_quantile,
    two_sided_t,
)
from seasoned.stats.permutation import PERMUTATIONS, permute_pairs
from seasoned.stats.proportion import binomial, effective_clusters, sign_test

# Of every interval and finding, and of the smallest effect that would be found.
LEVEL, POWER = 0.95, 0.8
_HALVINGS = 60


def smallest_found(error: float, freedom: float, *, level: float, wanted: float) -> float:
    """The smallest effect that a test at this level finds with the wanted power, given the error of the difference."""
    return (two_sided_t(level, freedom) + normal_quantile(wanted)) * error


def smallest_share(
    rate: float, error: float, freedom: float, *, trials: int, level: float, wanted: float
) -> float | None:
    """The smallest detectable effect for shares of `trials` on each side; None where no effect is large enough.

    A share nearer to one half varies more than what was seen, and a test of counts moves in steps of one trial.
    """
    seen = rate * (1 - rate)
    found = smallest_found(error, freedom, level=level, wanted=wanted)
    effect = found + 1 / trials
    for _ in range(_HALVINGS):
        other = min(rate + effect, 0.5) if rate < 0.5 else max(rate - effect, 0.5)
        wider = math.sqrt((seen + other * (1 - other)) / (2 * seen)) if seen else 1.0
        effect = found * wider + 1 / trials
    return effect if effect <= max(rate, 1 - rate) else None


def smallest_by_sign(tasks: int, *, level: float, wanted: float) -> float | None:
    """The smallest share of tasks that must turn, all one way, for a sign test to find it; None with too few tasks."""
    needed = math.ceil(1 - math.log2(1 - level) - 1e-9)
    if tasks < needed:
        return None
    unseen, seen = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (unseen + seen) / 2
        # The middle may round to 1, at which all tasks turn for certain.
        is_seen = middle >= 1 or binomial(needed, tasks, middle, is_above=True) >= wanted
        unseen, seen = (unseen, middle) if is_seen else (middle, seen)
    return seen


Test = Literal["permutation", "t"]
MadeTest = Literal["permutation", "sign", "mcnemar", "t"]
# If fewer tasks differ between the arms, a sign test replaces the permutation test.
FEW_DIFFER = 10
_PARTS = 1_000_000
ByTask = Mapping[str, TrialTally]


class Contrast(msgspec.Struct, frozen=True):
    """Two arms to compare. Differences are the first minus the second."""

    arm: str
    against: str


class TestRule(msgspec.Struct, frozen=True, kw_only=True):
    """How a difference is tested; fixed in advance."""

    test: Test = "permutation"
    # Tests that share the error level; the detectable effect is that of the strictest.
    contrasts: int = 1
    permutations: int = PERMUTATIONS

    @property
    def shared_level(self) -> float:
        return 1 - (1 - LEVEL) / max(1, self.contrasts)


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """One measure of one contrast."""

    arm: str
    against: str
    measure: Measure
    value: float | None  # of the arm, over the tasks that both ran
    value_against: float | None
    # The difference; `clusters` are tasks, `n` trials, its p value that of the test.
    estimate: Estimate
    test: MadeTest | None
    is_exact: bool
    differing: int  # tasks on which the arms differ
    # Whether the interval is paired; if no pair varies, it comes from the two sides.
    is_paired: bool
    # The smallest difference that would have been found with the power asked for.
    detectable: float | None
    unpaired: int  # tasks that only one of the arms ran
    adjusted_p: float | None = None  # by Holm, over the contrasts named beforehand


def effect(contrast: Contrast, measure: Measure, a: ByTask, b: ByTask, rule: TestRule) -> Effect:
    """The difference of two arms over the tasks that both ran."""
    tasks = sorted(task for task in a.keys() & b.keys() if a[task].trials and b[task].trials)
    left, right = [a[task] for task in tasks], [b[task] for task in tasks]
    differing = sum(_value(x) != _value(y) for x, y in zip(left, right, strict=True))
    estimate, is_paired = _estimate(left, right, measure)
    tested, made = _test(left, right, measure, differing, rule)
    if made == "t":
        tested = PValue(estimate.p_value, len(tasks), exact=False)
    return Effect(
        arm=contrast.arm,
        against=contrast.against,
        measure=measure,
        value=_pooled(left),
        value_against=_pooled(right),
        estimate=msgspec.structs.replace(estimate, p_value=tested.value),
        test=made,
        is_exact=tested.exact,
        differing=differing,
        is_paired=is_paired,
        detectable=_detectable(left, right, measure, differing, rule),
        unpaired=len({task for one in (a, b) for task in one if one[task].trials}) - len(tasks),
    )


def _estimate(left: Sequence[TrialTally], right: Sequence[TrialTally], measure: Measure) -> tuple[Estimate, bool]:
    """The difference, paired by task; where no pair varies, from the wider Wilson intervals of both sides."""
    n = sum(one.trials for one in (*left, *right))
    if not left:
        return Estimate(None, None, 0, 0, NO_PAIRS), True
    scale, counts = _as_counts(left, right, measure)
    found = paired_difference(*counts, level=LEVEL)
    is_paired = found.reason != NOTHING_VARIES
    if not is_paired and KINDS[measure].unit == "share":
        found = difference(*counts)
    interval = found.interval
    if interval is not None:
        interval = Interval(scale * interval.low, scale * interval.high, interval.level, len(left))
    value = None if found.value is None else scale * found.value
    return Estimate(value, interval, n, len(left), found.reason, found.p_value), is_paired


def _test(
    left: Sequence[TrialTally], right: Sequence[TrialTally], measure: Measure, differing: int, rule: TestRule
) -> tuple[PValue, MadeTest | None]:
    """The chosen test, or a sign test where tasks ran once or few of them differ; p of `t` is in the estimate."""
    if len(left) < 2:
        return PValue(None, len(left), reason="a test of pairs needs at least two"), None
    is_once = KINDS[measure].unit == "share" and all(one.trials == 1 for one in (*left, *right))
    if is_once or differing < FEW_DIFFER:
        found = sign_test([_value(x) - _value(y) for x, y in zip(left, right, strict=True)])
        return found, "mcnemar" if is_once else "sign"
    if rule.test == "t":
        return PValue(None, len(left), exact=False), "t"
    _, counts = _as_counts(left, right, measure)
    return permute_pairs(*counts, permutations=rule.permutations, seed=0), "permutation"


def _detectable(
    left: Sequence[TrialTally], right: Sequence[TrialTally], measure: Measure, differing: int, rule: TestRule
) -> float | None:
    if len(left) < 2:
        return None
    is_share = KINDS[measure].unit == "share"
    found = jackknife(
        [sums_of(pair) for pair in zip(left, right, strict=True)], lambda sums: ratio(sums, 0) - ratio(sums, 1)
    )
    asked = {"level": rule.shared_level, "wanted": POWER}
    if not is_share:
        # A sign test says nothing about the size of an effect in seconds or tokens.
        return None if differing < FEW_DIFFER else smallest_found(found.error, found.freedom, **asked)
    trials = min(sum(one.trials for one in side) for side in (left, right))
    rate = ((_pooled(left) or 0.0) + (_pooled(right) or 0.0)) / 2
    smallest = smallest_share(rate, found.error, found.freedom, trials=trials, **asked)
    if differing < FEW_DIFFER:
        by_sign = smallest_by_sign(len(left), **asked)
        return None if smallest is None or by_sign is None else max(by_sign, smallest)
    return smallest


class Spread(msgspec.Struct, frozen=True):
    """A figure over tasks and its standard error, each task left out in turn."""

    value: float
    error: float
    freedom: float
    without: tuple[float, ...]  # the figure with one task left out each


Sums = Sequence[tuple[float, float]]  # total and weight of each side


def jackknife(rows: Sequence[Sums], figure: Callable[[Sums], float]) -> Spread:
    """A figure of totals, with its error by leaving out one task at a time (Tukey 1958). Needs two tasks or more."""
    import numpy as np

    table = np.array(rows, dtype=float)
    sums = table.sum(axis=0)
    without = [figure(left) for left in (sums - table).tolist()]
    mean = math.fsum(without) / len(rows)
    error = math.sqrt((len(rows) - 1) / len(rows) * math.fsum([(value - mean) ** 2 for value in without]))
    freedom = effective_clusters(table[:, :, 1].sum(axis=1)) - 1
    return Spread(figure(sums.tolist()), error if error > 1e-12 else 0.0, freedom, tuple(without))


def sums_of(tallies: Sequence[TrialTally]) -> Sums:
    """Tallies as a row of the jackknife."""
    return [(one.total, float(one.trials)) for one in tallies]


def ratio(sums: Sums, side: int) -> float:
    """A side's total over its trials."""
    total, trials = sums[side]
    return total / trials


def _as_counts(
    left: Sequence[TrialTally], right: Sequence[TrialTally], measure: Measure
) -> tuple[float, tuple[list[int], list[int], list[int], list[int]]]:
    """Counts as the statistics take them. A number is a share of the largest one, in millionths."""
    if KINDS[measure].unit == "share":
        sides = [[[round(one.total) for one in side], [one.trials for one in side]] for side in (left, right)]
        return 1.0, (sides[0][0], sides[0][1], sides[1][0], sides[1][1])
    largest = max(_value(one) for one in (*left, *right)) or 1.0
    sides = [
        [[round(_PARTS * one.total / largest) for one in side], [_PARTS * one.trials for one in side]]
        for side in (left, right)
    ]
    return largest, (sides[0][0], sides[0][1], sides[1][0], sides[1][1])


def _pooled(side: Sequence[TrialTally]) -> float | None:
    trials = sum(one.trials for one in side)
    return sum(one.total for one in side) / trials if trials else None


def _value(one: TrialTally) -> float:
    """Of a tally that has trials."""
    return one.total / one.trials
