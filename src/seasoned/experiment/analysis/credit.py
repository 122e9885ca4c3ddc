"""The credit of each example: runs that were shown it against runs of the same arm and task that were not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from seasoned.experiment.analysis.contrast import Sums, jackknife, ratio
from seasoned.experiment.analysis.task_run import KINDS, NOTHING, Measure, TrialTally
from seasoned.stats.distribution import holm, t_tails, two_sided_t
from seasoned.stats.interval import NOTHING_VARIES, Estimate, Interval

Answer = Literal["helps", "hurts", "cannot tell"]
# With fewer tasks on which runs with and without an example can be compared, nothing is said of it.
FEWEST_TASKS = 6
# Examples are taken to differ by so much at least, in shares: else a few alike ones would be shrunk to certainty.
SMALLEST_SPREAD = 0.1


class ShownRun(msgspec.Struct, frozen=True):
    """What credit needs of a run: where it belongs, what it was shown and how it went."""

    arm: str
    task: str
    example_ids: tuple[str, ...]
    tally: TrialTally


class Credit(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one example in one arm."""

    example_id: str
    arm: str
    answer: Answer
    reason: str
    runs_with: int
    runs_without: int  # of the tasks that had both
    tasks: int  # that had runs with and runs without it
    raw: Estimate  # with it minus without it, within tasks
    # The same drawn towards zero, the more the less is known; its interval is for the one that is true here.
    shrunk: Estimate
    adjusted_p: float | None  # by Holm, over the examples of the arm
    # Examples that were always shown with it, and never without: theirs is the same credit.
    together_with: tuple[str, ...] = ()


def credits(runs: Sequence[ShownRun], measure: Measure, *, level: float = 0.95) -> tuple[Credit, ...]:
    """The credit of every example that was shown, arm by arm."""
    found: list[Credit] = []
    for arm in sorted({run.arm for run in runs if run.example_ids}):
        found += _credits_of([run for run in runs if run.arm == arm], arm, measure, level)
    return tuple(found)


def _credits_of(runs: Sequence[ShownRun], arm: str, measure: Measure, level: float) -> list[Credit]:
    shown = {
        example_id: frozenset(number for number, run in enumerate(runs) if example_id in run.example_ids)
        for example_id in sorted({example_id for run in runs for example_id in run.example_ids})
    }
    compared = {example_id: _compare(runs, numbers, level) for example_id, numbers in shown.items()}
    # Examples that always come together are one trial of one thing.
    twins = {one: tuple(other for other in shown if other != one and shown[other] == shown[one]) for one in shown}
    first = [one for one in shown if not any(other < one for other in twins[one])]
    adjusted = dict(zip(first, holm([compared[one].raw.p_value for one in first]), strict=True))
    spread = _spread([compared[one] for one in first if compared[one].error], KINDS[measure].unit == "share")
    answers = []
    for one, found in compared.items():
        p_value = adjusted[min((one, *twins[one]))]
        shrunk = _shrunk(found, spread, level)
        answer, reason = _answer(found, shrunk, p_value, level, KINDS[measure].is_better_high)
        answers.append(
            Credit(
                example_id=one,
                arm=arm,
                answer=answer,
                reason=reason + (f"; always shown with {', '.join(twins[one])}" if twins[one] else ""),
                runs_with=found.runs_with,
                runs_without=found.runs_without,
                tasks=found.raw.clusters,
                raw=found.raw,
                shrunk=shrunk,
                adjusted_p=p_value,
                together_with=twins[one],
            )
        )
    return answers


class _Compared(msgspec.Struct, frozen=True):
    raw: Estimate
    error: float
    freedom: float
    runs_with: int
    runs_without: int


def _compare(runs: Sequence[ShownRun], shown: frozenset[int], level: float) -> _Compared:
    """Compare runs within tasks: examples are chosen by task, so a comparison between tasks would credit the task."""
    sides: dict[str, list[TrialTally]] = {}
    counts: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        if not run.tally.trials:
            continue
        side = int(number not in shown)
        sides.setdefault(run.task, [NOTHING, NOTHING])[side] += run.tally
        counts.setdefault(run.task, [0, 0])[side] += 1
    rows = {task: pair for task, pair in sides.items() if pair[0].trials and pair[1].trials}
    with_it, without_it = (sum(counts[task][side] for task in rows) for side in (0, 1))
    n = sum(one.trials for pair in rows.values() for one in pair)
    if len(rows) < FEWEST_TASKS:
        reason = f"{len(rows)} tasks had runs with and without it, {FEWEST_TASKS} are needed"
        if not rows:
            reason = "no task had runs with and without it: its credit cannot be separated from that of the task"
        return _Compared(Estimate(None, None, n, len(rows), reason), 0.0, 1.0, with_it, without_it)
    found = jackknife([_within(*pair) for pair in rows.values()], lambda sums: ratio(sums, 0))
    if not found.error:
        raw = Estimate(found.value, None, n, len(rows), NOTHING_VARIES)
    else:
        half = two_sided_t(level, found.freedom) * found.error
        interval = Interval(found.value - half, found.value + half, level, len(rows))
        raw = Estimate(found.value, interval, n, len(rows), None, t_tails(found.value / found.error, found.freedom))
    return _Compared(raw, found.error, found.freedom, with_it, without_it)


def _within(with_it: TrialTally, without_it: TrialTally) -> Sums:
    """A task's difference, weighing as much as its two sides together can tell (Mantel & Haenszel 1959)."""
    a, b = with_it.trials, without_it.trials
    weight = a * b / (a + b)
    return [(weight * (with_it.total / a - without_it.total / b), weight)]


def _spread(found: Iterable[_Compared], is_share: bool) -> float:
    """How far examples truly differ (DerSimonian & Laird 1986, about zero), and never less than the smallest spread."""
    known = [(one.raw.value, one.error) for one in found if one.raw.value is not None]
    smallest = SMALLEST_SPREAD if is_share else min([error for _, error in known], default=1.0)
    if not known:
        return smallest
    weights = [1 / error**2 for _, error in known]
    excess = math.fsum([w * value**2 for w, (value, _) in zip(weights, known, strict=True)]) - len(known)
    return max(smallest, math.sqrt(max(0.0, excess) / math.fsum(weights)))


def _shrunk(found: _Compared, spread: float, level: float) -> Estimate:
    """The estimate shrunk towards zero, which means no effect (Efron & Morris 1973)."""
    raw = found.raw
    if raw.value is None or not found.error:
        return Estimate(None, None, raw.n, raw.clusters, raw.reason)
    kept = spread**2 / (spread**2 + found.error**2)
    half = two_sided_t(level, found.freedom) * math.sqrt(kept) * found.error
    interval = Interval(kept * raw.value - half, kept * raw.value + half, level, raw.clusters)
    return Estimate(kept * raw.value, interval, raw.n, raw.clusters)


def _answer(
    found: _Compared, shrunk: Estimate, p_value: float | None, level: float, is_better_high: bool
) -> tuple[Answer, str]:
    if shrunk.value is None or shrunk.interval is None or p_value is None:
        return "cannot tell", found.raw.reason or "nothing was compared"
    if p_value > 1 - level or shrunk.interval.low <= 0 <= shrunk.interval.high:
        return "cannot tell", "what was seen lies within chance"
    is_better = (shrunk.value > 0) == is_better_high
    return ("helps" if is_better else "hurts"), f"p {p_value:.2g} by Holm over the examples of the arm"
