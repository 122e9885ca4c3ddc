"""Sentences about an experiment: the claims that it supports, and those that it does not."""

from __future__ import annotations

import msgspec

from seasoned.experiment.analysis.analyse import CONTROL, PLACEBO, Analysis, is_found
from seasoned.experiment.analysis.contrast import POWER, Effect
from seasoned.experiment.analysis.task_run import KINDS, Measure
from seasoned.report.trials import share
from seasoned.stats.interval import Estimate
from seasoned.text import plural

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
