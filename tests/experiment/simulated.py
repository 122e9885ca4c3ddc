"""Experiments whose truth is known: runs drawn from tasks of unequal difficulty, with an effect that was put there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from seasoned.experiment.analysis.analyse import AnalysisPlan
from seasoned.experiment.analysis.contrast import Contrast
from seasoned.experiment.analysis.task_run import Check, RunCall, TaskRun
from seasoned.session import Usage

WARM_COLD = AnalysisPlan(contrasts=(Contrast("warm", "cold"),), primary="success", permutations=999)


def print_figures(text: str) -> None:
    """The figures of the design page, for whoever runs this with `-s`."""
    print(f"\n{text}")  # noqa: T201


def run(arm: str = "cold", task: str = "t1", repeat: int = 0, *, outcomes: str = "o", **other: Any) -> TaskRun:
    """One run; each letter of `outcomes` is a call in a turn of its own: o ok, x failed, u unclear, t trivial."""
    names = {"o": "ok", "x": "failed", "u": "unclear", "t": "trivial"}
    calls = tuple(RunCall(f"tool{turn % 2}", names[one], turn, True) for turn, one in enumerate(outcomes, start=1))
    check: Check = other.pop("check", "passed" if outcomes.endswith("o") else "failed")
    values: dict[str, Any] = {"experiment": "e", "model": "tiny", "usage": Usage(100, 10), "latency_seconds": 1.5}
    return TaskRun(arm=arm, task=task, repeat=repeat, check=check, calls=calls, **(values | other))


def draw_shares(
    generator: Generator, rates: Sequence[float], *, tasks: int, alike: float, shared: bool = True
) -> list[np.ndarray]:
    """A chance for each task and arm: beta around the arm's rate, of one difficulty under all arms where shared."""
    if not alike:
        return [np.full(tasks, rate) for rate in rates]
    strength = (1 - alike) / alike
    if not shared:
        return [generator.beta(rate * strength, (1 - rate) * strength, tasks) for rate in rates]
    from scipy.special import betaincinv

    difficulty = generator.random(tasks)
    return [betaincinv(rate * strength, (1 - rate) * strength, difficulty) for rate in rates]


def simulate(
    generator: Generator, rates: Mapping[str, float], *, tasks: int = 40, repeats: int = 2, alike: float = 0.3
) -> list[TaskRun]:
    """Runs of every arm on every task; a run passes with the chance of its task and arm."""
    chances = draw_shares(generator, list(rates.values()), tasks=tasks, alike=alike)
    passed = [generator.random((repeats, tasks)) < chance for chance in chances]
    return [
        run(arm, f"t{task:03d}", repeat, outcomes="o" if passed[place][repeat, task] else "x")
        for place, arm in enumerate(rates)
        for task in range(tasks)
        for repeat in range(repeats)
    ]
