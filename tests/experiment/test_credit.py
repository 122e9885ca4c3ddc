"""Credit of examples: what helps or hurts is told, what cannot be told is not, and luck gets no credit."""

from __future__ import annotations

import numpy as np
import pytest

from seasoned.experiment.analysis.analyse import FEWEST_TASKS, Credit, ShownRun, credits
from seasoned.experiment.analysis.task_run import TrialTally
from tests.torture import TORTURE

DRAWS = 500 if TORTURE else 40


def _world(effects: dict[str, float], *, tasks: int = 30, repeats: int = 6, seed: int = 0) -> list[ShownRun]:
    """Each run is shown a random half of the examples; what they do adds up."""
    generator = np.random.default_rng(seed)
    chances = generator.beta(4, 4, tasks)
    runs = []
    for task, chance in enumerate(chances):
        for _ in range(repeats):
            shown = tuple(name for name in effects if generator.random() < 0.5)
            lifted = min(1.0, max(0.0, chance + sum(effects[name] for name in shown)))
            runs.append(ShownRun("warm", f"t{task}", shown, TrialTally(int(generator.random() < lifted), 1)))
    return runs


def _by_id(found: tuple[Credit, ...]) -> dict[str, Credit]:
    return {one.example_id: one for one in found}


def test_an_example_that_helps_and_one_that_hurts_are_told_apart() -> None:
    found = _by_id(credits(_world({"good": 0.35, "bad": -0.35, "idle": 0.0}, tasks=60), "success"))
    assert {name: one.answer for name, one in found.items()} == {"good": "helps", "bad": "hurts", "idle": "cannot tell"}
    assert found["good"].shrunk.interval is not None and found["good"].shrunk.interval.low > 0


def test_what_is_better_low_turns_the_answer() -> None:
    runs = _world({"good": 0.4}, tasks=60)
    assert [one.answer for one in credits(runs, "errors")] == ["hurts"]


def test_estimates_are_drawn_towards_zero_and_the_less_is_known_the_more() -> None:
    for tasks in (8, 60):
        for one in credits(_world({"a": 0.2, "b": 0.0, "c": -0.1}, tasks=tasks), "success"):
            assert one.raw.value is not None and one.shrunk.value is not None
            assert abs(one.shrunk.value) < abs(one.raw.value)
            assert one.raw.value * one.shrunk.value > 0
    few, many = (
        np.mean([_kept(one) for seed in range(20) for one in credits(_world(idle, tasks=tasks, seed=seed), "success")])
        for idle in [dict.fromkeys("abc", 0.0)]
        for tasks in (8, 60)
    )
    assert few < many < 1


def _kept(one: Credit) -> float:
    return (one.shrunk.value or 0.0) / (one.raw.value or 1.0)


def test_luck_among_many_examples_gets_no_credit() -> None:
    effects = dict.fromkeys([f"e{number}" for number in range(8)], 0.0)
    false = sum(
        any(one.answer != "cannot tell" for one in credits(_world(effects, seed=seed), "success"))
        for seed in range(DRAWS)
    )
    print(f"\n{false} of {DRAWS} worlds of idle examples gave credit")  # noqa: T201
    assert false <= 0.05 * DRAWS + 3 * (0.05 * 0.95 * DRAWS) ** 0.5


def test_intervals_of_shrunk_credit_hold_effects_of_the_assumed_spread() -> None:
    generator = np.random.default_rng(2)
    held = given = 0
    for seed in range(DRAWS):
        effects = {f"e{number}": float(value) for number, value in enumerate(generator.normal(0, 0.08, 5))}
        for one in credits(_world(effects, seed=seed), "success"):
            assert one.shrunk.interval is not None
            given += 1
            held += one.shrunk.interval.low <= effects[one.example_id] <= one.shrunk.interval.high
    print(f"\n{held} of {given} intervals hold the effect")  # noqa: T201
    assert held >= 0.93 * given


def test_an_example_that_its_task_always_had_cannot_be_told_from_the_task() -> None:
    runs = [
        ShownRun("warm", f"t{task}", (f"e{task % 2}",), TrialTally(int(task % 2 == 0), 1))
        for task in range(20)
        for _ in "abc"
    ]
    found = credits(runs, "success")
    assert [one.answer for one in found] == ["cannot tell", "cannot tell"]
    assert all("cannot be separated from that of the task" in one.reason for one in found)
    assert all(one.raw.value is None and one.shrunk.value is None for one in found)


def test_an_example_shown_more_often_on_easy_tasks_gets_no_credit_for_them() -> None:
    generator = np.random.default_rng(4)
    runs = [
        ShownRun(
            "warm",
            f"t{task}",
            ("a",) if generator.random() < often else (),
            TrialTally(int(generator.random() < ease), 1),
        )
        for task in range(80)
        for ease, often in [((0.9, 0.8) if task % 2 else (0.1, 0.2))]
        for _ in range(6)
    ]
    (one,) = credits(runs, "success")
    assert one.answer == "cannot tell" and abs(one.raw.value or 1.0) < 0.1
    shown = [run.tally.total for run in runs if run.example_ids]
    others = [run.tally.total for run in runs if not run.example_ids]
    assert sum(shown) / len(shown) - sum(others) / len(others) > 0.3


def test_too_few_tasks_say_how_many_are_needed() -> None:
    (one,) = credits(_world({"a": 0.4}, tasks=FEWEST_TASKS - 1, repeats=20), "success")
    assert one.answer == "cannot tell" and str(FEWEST_TASKS) in one.reason


def test_examples_that_always_come_together_share_one_credit_and_one_test() -> None:
    runs = [
        ShownRun(one.arm, one.task, (*one.example_ids, "twin") if "a" in one.example_ids else (), one.tally)
        for one in _world({"a": 0.4}, tasks=60)
    ]
    found = _by_id(credits(runs, "success"))
    assert found["a"].together_with == ("twin",) and found["twin"].together_with == ("a",)
    assert found["a"].raw == found["twin"].raw
    assert found["a"].adjusted_p == found["a"].raw.p_value
    assert "always shown with twin" in found["a"].reason


def test_arms_are_credited_apart_and_an_arm_without_examples_not_at_all() -> None:
    warm = _world({"a": 0.3}, tasks=40)
    cold = [ShownRun("cold", one.task, (), TrialTally(1, 1)) for one in warm]
    other = [ShownRun("text", one.task, one.example_ids, one.tally) for one in warm]
    found = credits([*warm, *cold, *other], "success")
    assert [one.arm for one in found] == ["text", "warm"]
    assert found[0].raw == found[1].raw


@pytest.mark.parametrize("total", [0, 1])
def test_outcomes_that_never_vary_give_no_credit(total: int) -> None:
    runs = [ShownRun("warm", f"t{task}", shown, TrialTally(total, 1)) for task in range(10) for shown in (("a",), ())]
    (one,) = credits(runs, "success")
    assert one.answer == "cannot tell" and one.shrunk.value is None and one.raw.interval is None
