"""Worlds whose truth is known: the verdict must name it, and must not be fooled where a table by length is."""

from __future__ import annotations

from collections import Counter

import pytest

from seasoned.report.cohort import Cohort, CohortAnswer, cohort, verdict
from tests.report.worlds import WORLDS
from tests.torture import TORTURE

DRAWS = 400 if TORTURE else 8
EFFECTS: tuple[CohortAnswer, CohortAnswer] = ("improves with experience", "degrades")


def _answers(name: str, *, spread: bool = False) -> tuple[Counter[CohortAnswer], list[Cohort]]:
    found = [cohort(WORLDS[name](seed, is_spread=spread)) for seed in range(DRAWS)]
    return Counter(verdict(one).answer for one in found), found


def _print(name: str, answers: Counter[CohortAnswer], extra: str = "") -> None:
    """The figures, for whoever runs this with `-s`."""
    print(f"\n{name}: {DRAWS} draws: {dict(answers)}{extra}")  # noqa: T201


@pytest.mark.parametrize("spread", [False, True], ids=["lengths alike", "lengths spread"])
@pytest.mark.parametrize(("name", "truth", "wrong"), [("learning", *EFFECTS), ("fatigue", *EFFECTS[::-1])])
def test_a_true_change_within_sessions_is_named(
    name: str, truth: CohortAnswer, wrong: CohortAnswer, spread: bool
) -> None:
    answers, _ = _answers(name, spread=spread)
    _print(name, answers)
    assert answers[truth] >= 0.8 * DRAWS
    assert answers[wrong] <= 0.02 * DRAWS


@pytest.mark.parametrize("spread", [False, True], ids=["lengths alike", "lengths spread"])
@pytest.mark.parametrize("name", ["nothing", "tool mix"])
def test_no_effect_is_claimed_where_there_is_none(name: str, spread: bool) -> None:
    answers, _ = _answers(name, spread=spread)
    _print(name, answers)
    # Of few draws one may be the one in a hundred; that a claim is rare can only be shown with many.
    assert DRAWS - answers["no detectable change"] <= (0.06 * DRAWS if TORTURE else 1)


def test_selection_is_recognised_although_the_table_by_length_is_fooled() -> None:
    answers, found = _answers("selection")
    gaps = [one.length_difference for one in found]
    fooled = sum(gap.interval is not None and gap.interval.low > 0 for gap in gaps)
    seems = sum(gap.value is not None and gap.value > 0 for gap in gaps)
    _print("selection", answers, f"; short sessions seem worse in {seems}, significantly in {fooled}")
    assert answers["the difference between lengths is selection"] >= 0.8 * DRAWS
    assert sum(answers[effect] for effect in EFFECTS) <= (0.06 * DRAWS if TORTURE else 1)
    # Nobody gets better or worse here, and yet long sessions look more reliable nearly always.
    assert seems >= 0.8 * DRAWS
    assert fooled >= 0.3 * DRAWS


def test_a_changing_tool_mix_would_be_taken_for_fatigue_if_it_were_not_held_fixed() -> None:
    found = _answers("tool mix")[1]
    assert all(one.trend.any_tool.interval and one.trend.any_tool.interval.low > 0 for one in found)


def test_few_sessions_are_not_enough_and_it_says_how_many_would_be() -> None:
    for seed in range(5):
        said = verdict(cohort(WORLDS["learning"](seed, sessions=8)))
        assert said.answer == "not enough data"
        said = verdict(cohort(WORLDS["nothing"](seed, sessions=30)))
        assert said.answer == "not enough data"
        assert said.sessions_needed is not None and 60 < said.sessions_needed < 400
        assert str(said.sessions_needed) in said.sentence
