"""What an experiment can see: the smallest effect it would find, and the power it has before it is run."""

from __future__ import annotations

import math

from seasoned.errors import UsageError
from seasoned.stats.distribution import normal_quantile, two_sided_t
from seasoned.stats.interval import check_level
from seasoned.stats.power import power

_HALVINGS = 60


def smallest_found(error: float, freedom: float, *, level: float, wanted: float) -> float:
    """The smallest effect that a test at this level finds with the wanted power, given the error of the difference."""
    check_level(level)
    return (two_sided_t(level, freedom) + normal_quantile(wanted)) * error


def smallest_share(
    rate: float, error: float, freedom: float, *, trials: int, level: float, wanted: float
) -> float | None:
    """The same for shares of `trials` on each side; None where no effect is large enough.

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
    check_level(level)
    needed = math.ceil(1 - math.log2(1 - level) - 1e-9)
    if tasks < needed:
        return None
    unseen, seen = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (unseen + seen) / 2
        unseen, seen = (unseen, middle) if _at_least(needed, tasks, middle) >= wanted else (middle, seen)
    return seen


def planned_power(
    rate_a: float,
    rate_b: float,
    *,
    tasks: int,
    repeats: int = 1,
    alike: float = 0.0,
    shared: float = 1.0,
    level: float = 0.95,
) -> float | None:
    """The chance to find a difference of two shares, before anything is run.

    The difference counts less one trial, since an exact test of counts moves in such steps. `alike`: how far runs of
    one task resemble each other (intraclass correlation). `shared`: the correlation of a task's difficulty under both
    arms; what is shared cancels out. Ask at 1 − (1 − level) / contrasts for several.
    """
    if tasks < 1 or repeats < 1:
        raise UsageError(f"an experiment has at least one task and one repeat, not {tasks!r} and {repeats!r}")
    if not (0 <= alike < 1 and 0 <= shared <= 1):
        raise UsageError(f"resemblance lies between 0 and 1, not {alike!r} and {shared!r}")
    a, b = rate_a * (1 - rate_a), rate_b * (1 - rate_b)
    cancelled = 2 * repeats * shared * alike * math.sqrt(a * b) / (a + b) if a + b else 0.0
    effect = max(1 + (repeats - 1) * alike - cancelled, 1 - alike)
    trials = tasks * repeats
    step = math.copysign(min(1 / trials, abs(rate_a - rate_b)), rate_b - rate_a)
    return power(rate_a, rate_b - step, trials, trials, design_effect=effect, level=level)


def _at_least(successes: int, trials: int, rate: float) -> float:
    """The chance of so many successes or more."""
    if rate >= 1:
        return 1.0
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(rate)
        + (trials - k) * math.log1p(-rate)
        for k in range(successes, trials + 1)
    ]
    return min(1.0, math.fsum(map(math.exp, logs)))
