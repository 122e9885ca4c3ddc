"""Analyses finished runs by the measure, contrasts and test that the design fixed in advance; and says what holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from seasoned.errors import UsageError
from seasoned.experiment.analysis.contrast import (
    LEVEL,
    POWER,
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
from seasoned.report.trials import share
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
from seasoned.text import plural

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


_TESTS = {
    "permutation": "permutation within tasks",
    "sign": "exact sign test over tasks",
    "mcnemar": "exact McNemar test",
    "t": "paired t test",
    None: "no test",
}


class Sentences(msgspec.Struct, frozen=True):
    """Claims that the runs support, and similar ones that they do not support."""

    may: tuple[str, ...]
    may_not: tuple[str, ...]


def sentences(found: Analysis) -> Sentences:
    """One sentence for each contrast, and the claims that go too far."""
    return Sentences(tuple(say_effect(one, found) for one in found.effects), tuple(_too_far(found)))


def say_effect(one: Effect, found: Analysis) -> str:
    """One effect as a sentence with tasks and model; a null result is called one."""
    label, estimate = KINDS[one.measure].label, one.estimate
    where = f"On {_tasks(found, estimate.clusters)} with {found.model}"
    if estimate.value is None:
        return f"{where}, nothing can be said of {one.arm} against {one.against}: {estimate.reason}."
    values = f"{amount(one.value, one.measure)} against {amount(one.value_against, one.measure)}"
    figures = f"{values}; difference {change(estimate, one.measure)}, {_tested(one)}"
    # A null is stated with what could have been found: without it, it would read as "no effect".
    if not is_found(one):
        return (
            f"{where}, no effect of {one.arm} against {one.against} on {label} was found ({figures}); "
            f"{_could_be_seen(one)}."
        )
    verb = "more" if estimate.value > 0 else "fewer" if KINDS[one.measure].unit == "share" else "less"
    judgement = "better" if (estimate.value > 0) == KINDS[one.measure].is_better_high else "worse"
    return f"{where}, {one.arm} is {judgement} than {one.against}: {verb} {label} ({figures})."


def amount(value: float | None, measure: Measure) -> str:
    """A value in the unit of its measure."""
    if value is None:
        return "–"
    return share(value) if KINDS[measure].unit == "share" else _plain(value)


def change(estimate: Estimate, measure: Measure) -> str:
    """`+12.0 points (95 % interval 3.1 to 20.9)`; numbers have no points."""
    if estimate.value is None:
        return f"unknown ({estimate.reason})"
    is_share = KINDS[measure].unit == "share"
    unit = " points" if is_share else ""
    value = f"{_signed(estimate.value, is_share)}{unit}"
    if estimate.interval is None:
        return f"{value} (no interval: {estimate.reason})"
    low, high = (_signed(end, is_share) for end in (estimate.interval.low, estimate.interval.high))
    return f"{value} ({100 * estimate.interval.level:g} % interval {low} to {high})"


def _signed(value: float, is_share: bool) -> str:
    shown = f"{100 * abs(value):.1f}" if is_share else _plain(abs(value))
    sign = "" if not shown.strip("0.") else "+" if value > 0 else "\N{MINUS SIGN}"
    return f"{sign}{shown}"


def _plain(value: float) -> str:
    """A number with three significant digits, and never in scientific notation."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{float(f'{value:.3g}'):f}".rstrip("0").rstrip(".")


def _tested(one: Effect) -> str:
    if one.adjusted_p is None:
        return f"{_TESTS[one.test]}: no task differs" if one.test else "no test could be made"
    shown = "p < 0.001" if one.adjusted_p < 0.001 else f"p = {one.adjusted_p:.3f}"
    return f"{shown} by {_TESTS[one.test]}, Holm over the contrasts"


def _could_be_seen(one: Effect) -> str:
    if one.detectable is None:
        return "so few tasks differ or were run that no effect at all could have been relied on to show"
    size = amount(one.detectable, one.measure).replace(" %", " points")
    return f"one of {size} or more would have been found in {100 * POWER:g} of 100 such experiments"


def _tasks(found: Analysis, count: int) -> str:
    named = f" of {found.task_set}" if found.task_set else ""
    part = f" ({found.part})" if found.part else ""
    return f"{plural(count, 'task')}{named}{part}"


def _too_far(found: Analysis) -> list[str]:
    """Claims that these figures seem to support but do not, each with the reason."""
    claims = [
        f"That it helps, or does not, with other models: only {found.model} was run, and stronger models may differ.",
        "That it does the same on other tasks: only these were run, and they were made and not drawn from real work.",
    ]
    nulls = [one for one in found.effects if not is_found(one)]
    if nulls:
        names = ", ".join(f"{one.arm} against {one.against}" for one in nulls)
        claims.append(f"That there is no effect ({names}): none was found, and small ones could not have been.")
    claims += _without_placebo(found)
    if any(one.shows_examples for one in found.arms):
        claims.append("That another choice or order of examples does the same: each arm showed one alone.")
    if found.secondary:
        claims.append("That a measure other than the one named beforehand shows it: the others only describe.")
    return claims


def _without_placebo(found: Analysis) -> list[str]:
    """Warnings about arms that beat the control but not the placebo: their length alone may have helped."""
    better = {
        one.arm
        for one in found.effects
        if one.against == CONTROL and is_found(one) and one.arm != PLACEBO and _is_good(one)
    }
    shown = {one.arm for one in found.effects if one.against == PLACEBO and is_found(one) and _is_good(one)}
    return [
        f"That what {arm} says is what helps: it is not shown to be better than a placebo of equal length."
        for arm in sorted(better - shown)
    ]


def _is_good(one: Effect) -> bool:
    return one.estimate.value is not None and (one.estimate.value > 0) == KINDS[one.measure].is_better_high
