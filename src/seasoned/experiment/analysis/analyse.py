"""Analyses finished runs by the measure, contrasts and test that the design fixed in advance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.analysis.contrast import (
    LEVEL,
    ByTask,
    Contrast,
    Effect,
    TestRule,
    effect,
    jackknife,
    ratio,
    sums_of,
)
from seasoned.experiment.analysis.task_run import (
    KINDS,
    MEASURES,
    NOTHING,
    Measure,
    TaskRun,
    TrialTally,
    counted,
    never_after,
    tallies,
)
from seasoned.stats.interval import (
    NO_TRIALS,
    NOTHING_VARIES,
    ONE_CLUSTER,
    Estimate,
    Interval,
    holm,
    two_sided_t,
)
from seasoned.stats.permutation import PERMUTATIONS
from seasoned.stats.proportion import rate

# The arms that others are measured against.
CONTROL, PLACEBO = "cold", "placebo"


class AnalysisPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What was fixed before the first run."""

    contrasts: tuple[Contrast, ...]
    primary: Measure = "executed"
    permutations: int = PERMUTATIONS


class ArmFigures(msgspec.Struct, frozen=True):
    """One arm in figures."""

    arm: str
    runs: int
    tasks: int
    without_call: int  # runs in which no call counts
    shows_examples: bool
    measures: dict[Measure, Estimate]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """What was found. Effects of the primary measure are corrected by Holm; the secondary ones only describe."""

    experiment: str
    model: str
    task_set: str
    part: str
    plan: AnalysisPlan
    runs: int
    tasks: int
    missing: tuple[str, ...]  # arms of a contrast that have no run
    arms: tuple[ArmFigures, ...]
    effects: tuple[Effect, ...]
    secondary: tuple[Effect, ...]


def is_found(one: Effect) -> bool:
    """Whether an effect may be called found: its p value holds after the correction for all contrasts."""
    return one.adjusted_p is not None and one.adjusted_p <= 1 - LEVEL


def analyse(records: Iterable[TaskRun], plan: AnalysisPlan) -> Analysis:
    """The complete analysis of one experiment with one model on one set of tasks."""
    if not plan.contrasts:
        raise UsageError("An experiment needs at least one contrast.")
    # Runs end in any order; the analysis must not depend on it.
    ordered = sorted(records, key=lambda one: one.key)
    if not ordered:
        raise UsageError("There are no runs to analyse. Run the experiment first.")
    about = {(one.experiment, one.model, one.task_set, one.part) for one in ordered}
    if len(about) != 1:
        raise UsageError(
            f"An analysis needs one experiment, model, task set and part, not {len(about)!r}: {sorted(about)!r}."
        )
    sums = _Sums(ordered)
    arms = _order(plan, {one.arm for one in ordered})
    experiment, model, task_set, part = about.pop()
    rule = TestRule(test="t", contrasts=len(plan.contrasts))
    return Analysis(
        experiment=experiment,
        model=model,
        task_set=task_set,
        part=part,
        plan=plan,
        runs=len(ordered),
        tasks=len({one.task for one in ordered}),
        missing=tuple(sorted({name for one in plan.contrasts for name in (one.arm, one.against)} - set(arms))),
        arms=tuple(_arm(arm, ordered, sums) for arm in arms),
        effects=_primary(sums, plan),
        secondary=tuple(
            effect(one, name, sums.of(one.arm, name), sums.of(one.against, name), rule)
            for one in plan.contrasts
            for name in MEASURES
            if name != plan.primary
        ),
    )


def _order(plan: AnalysisPlan, arms: set[str]) -> list[str]:
    """Arms in order: the control, then those that contrasts name, then the others."""
    named = [CONTROL, *[name for one in plan.contrasts for name in (one.arm, one.against)]]
    return [name for name in dict.fromkeys([*named, *sorted(arms)]) if name in arms]


class _Sums:
    """Tallies of runs by arm, measure and task, made once."""

    def __init__(self, records: Sequence[TaskRun]) -> None:
        never = never_after(records)
        self._made: dict[tuple[str, Measure], dict[str, TrialTally]] = {}
        for record in records:
            for name, one in tallies(record, never=never).items():
                by_task = self._made.setdefault((record.arm, name), {})
                by_task[record.task] = by_task.get(record.task, NOTHING) + one

    def of(self, arm: str, name: Measure) -> ByTask:
        return self._made.get((arm, name), {})


def _primary(sums: _Sums, plan: AnalysisPlan) -> tuple[Effect, ...]:
    rule = TestRule(contrasts=len(plan.contrasts), permutations=plan.permutations)
    found = [
        effect(one, plan.primary, sums.of(one.arm, plan.primary), sums.of(one.against, plan.primary), rule)
        for one in plan.contrasts
    ]
    # A test that could not be made still counts as one of the planned tests.
    adjusted = holm([1.0 if one.estimate.p_value is None else one.estimate.p_value for one in found])
    return tuple(
        msgspec.structs.replace(one, adjusted_p=None if one.estimate.p_value is None else value)
        for one, value in zip(found, adjusted, strict=True)
    )


def _arm(arm: str, records: Sequence[TaskRun], sums: _Sums) -> ArmFigures:
    own = [one for one in records if one.arm == arm]
    return ArmFigures(
        arm,
        len(own),
        len({one.task for one in own}),
        sum(not counted(one) for one in own),
        any(one.example_ids for one in own),
        {name: summarise(sums.of(arm, name), name) for name in MEASURES},
    )


def summarise(by_task: Mapping[str, TrialTally], name: Measure) -> Estimate:
    """One measure of one arm: its value, and an interval that has the task as its unit."""
    rows = [one for _, one in sorted(by_task.items()) if one.trials]
    if KINDS[name].unit == "share":
        return rate([round(one.total) for one in rows], [one.trials for one in rows], level=LEVEL)
    n = sum(one.trials for one in rows)
    if not rows:
        return Estimate(None, None, 0, 0, NO_TRIALS)
    if len(rows) < 2:
        return Estimate(rows[0].value, None, n, 1, ONE_CLUSTER)
    found = jackknife([sums_of([one]) for one in rows], lambda sums: ratio(sums, 0))
    if not found.error:
        return Estimate(found.value, None, n, len(rows), NOTHING_VARIES)
    half = two_sided_t(LEVEL, found.freedom) * found.error
    # Counts, costs and times are never negative.
    return Estimate(
        found.value, Interval(max(0.0, found.value - half), found.value + half, LEVEL, len(rows)), n, len(rows)
    )
