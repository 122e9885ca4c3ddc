"""An experiment's runs → what was found: known effects are found, chance is not, and nulls say what they could see."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.experiment.analysis.analyse import Analysis, AnalysisPlan, amount, analyse, change, is_found, sentences
from seasoned.experiment.analysis.contrast import Contrast, Effect, TestRule, effect, smallest_by_sign
from seasoned.experiment.analysis.task_run import MEASURES, TaskRun, TrialTally
from seasoned.stats.interval import Estimate, Interval
from tests.experiment.simulated import WARM_COLD, print_figures, run, simulate
from tests.torture import TORTURE

NULLS = 1000 if TORTURE else 40
WORLDS = 400 if TORTURE else 40
THREE = AnalysisPlan(
    contrasts=(Contrast("warm", "cold"), Contrast("warm", "placebo"), Contrast("failed", "cold")),
    primary="success",
    permutations=999,
)


def _above_chance(share: float, draws: int) -> float:
    """A share and three of its simulation errors."""
    return share + 3 * math.sqrt(share * (1 - share) / draws)


def _nulls(plan: AnalysisPlan, rate: float, *, tasks: int, repeats: int, seed: int) -> int:
    arms = sorted({name for one in plan.contrasts for name in (one.arm, one.against)})
    generator = np.random.default_rng(seed)
    false = 0
    for _ in range(NULLS):
        found = analyse(simulate(generator, dict.fromkeys(arms, rate), tasks=tasks, repeats=repeats), plan)
        false += any(is_found(one) for one in found.effects)
    return false


@pytest.mark.parametrize(
    ("plan", "rate", "tasks", "repeats"),
    [
        (WARM_COLD, 0.5, 12, 1),
        (THREE, 0.05, 20, 1),
        *([(WARM_COLD, 0.3, 30, 2), (THREE, 0.2, 30, 2)] if TORTURE else []),
    ],
)
def test_of_null_experiments_at_most_one_in_twenty_finds_something(
    plan: AnalysisPlan, rate: float, tasks: int, repeats: int
) -> None:
    false = _nulls(plan, rate, tasks=tasks, repeats=repeats, seed=11)
    print_figures(
        f"{false} of {NULLS} null experiments found something ({len(plan.contrasts)} contrasts, {tasks} × {repeats})"
    )
    assert false <= _above_chance(0.05, NULLS) * NULLS


def test_the_smallest_effect_that_would_show_is_found_as_often_as_it_says() -> None:
    generator = np.random.default_rng(9)

    def one(lift: float) -> Effect:
        return analyse(simulate(generator, {"cold": 0.3, "warm": 0.3 + lift}, tasks=50), WARM_COLD).effects[0]

    smallest = median([one(0.0).detectable or 1.0 for _ in range(WORLDS // 2)])
    seen = sum(is_found(one(smallest)) for _ in range(WORLDS))
    print_figures(f"an effect of {smallest:.3f} is found in {seen} of {WORLDS}")
    # It is worked out from an estimated error, and a task's own effect varies too: a few points are lost.
    assert abs(seen / WORLDS - 0.8) <= (0.07 if TORTURE else 0.15)


def _ones(arm: str, passed: int, of: int) -> Iterator[TaskRun]:
    for number in range(of):
        yield run(arm, f"t{number}", outcomes="o" if number < passed else "x")


def _analysis(*arms: tuple[str, int], of: int = 20, plan: AnalysisPlan = WARM_COLD) -> Analysis:
    return analyse([one for arm, passed in arms for one in _ones(arm, passed, of)], plan)


def test_tasks_that_ran_once_are_tested_by_counting_every_arrangement() -> None:
    (one,) = _analysis(("cold", 4), ("warm", 12)).effects
    assert (one.test, one.is_exact, one.differing) == ("mcnemar", True, 8)
    assert one.estimate.p_value == pytest.approx(2 / 2**8)
    assert one.estimate.value == pytest.approx(0.4)


def test_arms_that_never_differ_are_a_null_that_says_what_it_could_see() -> None:
    (one,) = _analysis(("cold", 9), ("warm", 9)).effects
    assert one.estimate.value == 0 and one.adjusted_p is None and not is_found(one)
    assert one.detectable == pytest.approx(smallest_by_sign(20, level=0.95, wanted=0.8))
    assert one.detectable is not None and 0.3 < one.detectable < 0.5


def test_too_few_tasks_can_find_nothing_and_say_so() -> None:
    (one,) = _analysis(("cold", 0), ("warm", 5), of=5).effects
    assert not is_found(one)
    assert one.detectable is None
    assert smallest_by_sign(5, level=0.95, wanted=0.8) is None


def test_the_smallest_share_by_sign_has_the_power_asked_for() -> None:
    share = smallest_by_sign(30, level=0.95, wanted=0.8)
    assert share is not None
    generator = np.random.default_rng(3)
    assert (generator.binomial(30, share, 20_000) >= 6).mean() == pytest.approx(0.8, abs=0.015)


def test_the_order_of_the_records_does_not_matter() -> None:
    records = [*_ones("cold", 5, 20), *_ones("warm", 9, 20)]
    assert analyse(reversed(records), WARM_COLD).effects == analyse(records, WARM_COLD).effects


def test_tasks_that_only_one_arm_ran_are_left_out_of_the_contrast_and_counted() -> None:
    (one,) = analyse([*_ones("cold", 5, 20), *_ones("warm", 9, 16)], WARM_COLD).effects
    assert (one.estimate.clusters, one.unpaired) == (16, 4)


def test_holm_counts_contrasts_that_could_not_be_tested() -> None:
    found = _analysis(("cold", 4), ("warm", 12), plan=THREE)
    assert found.missing == ("failed", "placebo")
    assert found.effects[0].adjusted_p == pytest.approx(3 * 2 / 2**8)
    assert found.effects[1].estimate.value is None and found.effects[1].estimate.reason


def test_all_measures_are_there_for_every_arm_and_contrast() -> None:
    found = _analysis(("cold", 4), ("warm", 12))
    assert all(tuple(one.measures) == MEASURES for one in found.arms)
    assert {one.measure for one in found.secondary} == set(MEASURES) - {"success"}
    assert found.arms[0].measures["cost_usd"].value is None and found.arms[0].measures["cost_usd"].reason
    assert all(one.adjusted_p is None for one in found.secondary)


def test_records_of_two_models_are_refused() -> None:
    with pytest.raises(UsageError, match="other"):
        analyse([run(), run(model="other")], WARM_COLD)
    with pytest.raises(UsageError, match="no runs"):
        analyse([], WARM_COLD)


def _tallies(values: list[int], of: int = 10) -> dict[str, TrialTally]:
    return {f"t{number}": TrialTally(value, of) for number, value in enumerate(values)}


def test_a_number_is_compared_in_its_own_unit() -> None:
    generator = np.random.default_rng(1)
    a = {f"t{n}": TrialTally(float(value), 1) for n, value in enumerate(generator.normal(130, 10, 30))}
    b = {f"t{n}": TrialTally(float(value), 1) for n, value in enumerate(generator.normal(100, 10, 30))}
    one = effect(Contrast("warm", "cold"), "tokens", a, b, TestRule())
    assert one.estimate.value == pytest.approx(
        sum(x.total for x in a.values()) / 30 - sum(x.total for x in b.values()) / 30, abs=1e-3
    )
    assert one.estimate.interval is not None and 20 < one.estimate.interval.low < 30 < one.estimate.interval.high < 40
    assert one.test == "permutation" and one.estimate.p_value == pytest.approx(1e-4)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
def test_exchanging_the_arms_turns_the_sign_and_nothing_else(pairs: list[tuple[int, int]]) -> None:
    a, b = _tallies([x for x, _ in pairs], 3), _tallies([y for _, y in pairs], 3)
    one = effect(Contrast("a", "b"), "success", a, b, TestRule())
    other = effect(Contrast("b", "a"), "success", b, a, TestRule())
    assert one.estimate.value == pytest.approx(-(other.estimate.value or 0.0))
    assert one.estimate.p_value == pytest.approx(other.estimate.p_value)
    assert one.detectable == pytest.approx(other.detectable)
    if one.estimate.interval is not None and other.estimate.interval is not None:
        assert one.estimate.interval.low == pytest.approx(-other.estimate.interval.high)


PLAN = AnalysisPlan(contrasts=(Contrast("warm", "cold"), Contrast("warm", "placebo")), primary="success")


def _runs(arm: str, passed: int, **other: str) -> list[TaskRun]:
    return [
        run(arm, f"t{n}", outcomes="o" if n < passed else "x", task_set="conventions", part="confirmation", **other)
        for n in range(40)
    ]


def _found(cold: int, placebo: int, warm: int) -> Analysis:
    return analyse([*_runs("cold", cold), *_runs("placebo", placebo), *_runs("warm", warm)], PLAN)


def test_an_effect_is_said_of_these_tasks_and_this_model() -> None:
    said = sentences(_found(5, 6, 30))
    assert said.may[0].startswith("On 40 tasks of conventions (confirmation) with tiny, warm is better than cold")
    assert "75.0 % against 12.5 %" in said.may[0]
    assert "+62.5 points (95 % interval" in said.may[0]
    assert "p < 0.001 by exact McNemar test, Holm over the contrasts" in said.may[0]
    assert any("other models" in one and "stronger models" in one for one in said.may_not)
    assert any("other tasks" in one for one in said.may_not)


def test_a_null_is_said_as_a_null_with_what_could_have_been_seen() -> None:
    said = sentences(_found(20, 20, 21))
    assert "no effect of warm against cold" in said.may[0]
    assert "would have been found in 80 of 100 such experiments" in said.may[0]
    assert any(one.startswith("That there is no effect (warm against cold") for one in said.may_not)


def test_better_than_nothing_but_not_than_a_placebo_is_not_credited_to_what_was_said() -> None:
    said = sentences(_found(5, 30, 31))
    assert any("not shown to be better than a placebo" in one for one in said.may_not)
    assert not any("placebo of equal length" in one for one in sentences(_found(5, 6, 30)).may_not)


def test_an_arm_without_runs_is_said_to_be_unknown() -> None:
    said = sentences(analyse([*_runs("cold", 5), *_runs("warm", 9)], PLAN))
    assert "nothing can be said of warm against placebo: no cluster was tried" in said.may[1]


def test_one_order_is_no_ground_for_more() -> None:
    warm = [run("warm", f"t{n}", example_ids=("a",)) for n in range(8)]
    said = sentences(analyse([*warm, *[run("cold", f"t{n}") for n in range(8)]], PLAN))
    assert any("another choice or order" in one for one in said.may_not)


def test_figures_have_the_unit_of_their_measure() -> None:
    assert amount(0.125, "success") == "12.5 %"
    assert [amount(value, "tokens") for value in (1234.4, 12.345, 0.00012345, 0)] == ["1,234", "12.3", "0.000123", "0"]
    assert amount(None, "tokens") == "–"
    found = Estimate(-0.1, Interval(-0.2, 0.0, 0.95, 9), 9, 9)
    assert change(found, "success") == "−10.0 points (95 % interval −20.0 to 0.0)"
    assert change(Estimate(None, None, 0, 0, "why"), "success") == "unknown (why)"
