"""What may be said after an experiment, and what may not."""

from __future__ import annotations

from seasoned.experiment.analysis.analyse import Analysis, AnalysisPlan, amount, analyse, change, sentences
from seasoned.experiment.analysis.contrast import Contrast
from seasoned.experiment.analysis.task_run import TaskRun
from seasoned.stats.interval import Estimate, Interval
from tests.experiment.simulated import run

PLAN = AnalysisPlan(contrasts=(Contrast("warm", "cold"), Contrast("warm", "placebo")), primary="success")


def _runs(arm: str, passed: int, **other: str) -> list[TaskRun]:
    return [
        run(arm, f"t{n}", outcomes="o" if n < passed else "x", task_set="conventions", part="confirmation", **other)
        for n in range(40)
    ]


def _found(cold: int, placebo: int, warm: int, rule: int | None = None) -> Analysis:
    records = [*_runs("cold", cold), *_runs("placebo", placebo), *_runs("warm", warm)]
    return analyse([*records, *([] if rule is None else _runs("rule", rule))], PLAN)


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
