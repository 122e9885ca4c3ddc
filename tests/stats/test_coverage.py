"""Intervals hold the truth as often as they say, also when trials of one cluster resemble each other."""

from __future__ import annotations

import numpy as np
import pytest

from seasoned.stats.anytime import mean_sequence
from seasoned.stats.proportion import fisher, rate, wilson
from tests.stats.coverage import AT_LEAST, DRAWS, EQUAL, LARGE, NOMINAL, World, every_look, held, share

# With a fixed seed nothing is left to chance; the small form only has fewer draws to see the truth by.
LOW, HIGH = (0.93, 0.97) if LARGE else (0.92, 0.985)


def _cases(listed: dict) -> list:
    cases = [(name, world) for name, (_, worlds) in listed.items() for world in worlds]
    return cases if LARGE else [(name, world) for name, world in cases if world is listed[name][1][0]]


@pytest.mark.parametrize(("name", "world"), _cases(NOMINAL), ids=str)
def test_an_interval_holds_the_truth_as_often_as_it_says(name: str, world: World) -> None:
    covered, without = share(NOMINAL[name][0], world)
    assert LOW <= covered <= HIGH, f"{name}, {world}: {covered:.1%} of {DRAWS} draws, {without:.1%} without"
    assert without < 0.01, f"{name}, {world}: {without:.1%} without an interval"


@pytest.mark.parametrize(("name", "world"), _cases(AT_LEAST), ids=str)
def test_a_careful_interval_holds_the_truth_at_least_as_often(name: str, world: World) -> None:
    covered, without = share(AT_LEAST[name][0], world)
    assert covered >= 0.95, f"{name}, {world}: {covered:.1%} of {DRAWS} draws"
    assert without == 0


def test_looking_after_every_cluster_does_no_harm() -> None:
    world = World(clusters=100 if LARGE else 25, rate=0.3)
    covered, _ = share(every_look, world, draws=DRAWS // 20)
    assert covered >= 0.95, f"{covered:.1%} of sequences held the truth at every look"


def test_looking_ruins_an_ordinary_interval_but_not_a_sequence() -> None:
    """The sequence is put to a sharp test: values of 0 and 1, where it has nothing to spare."""
    generator = np.random.default_rng(5)
    fixed = sequence = 0
    for _ in range(DRAWS):
        values = (generator.random(300) < 0.5).astype(int)
        failures = np.cumsum(values)
        fixed += all(held(wilson(int(failures[k]), k + 1), 0.5) for k in range(9, 300, 3))
        sequence += bool(held(mean_sequence(values.tolist()), 0.5))
    assert fixed / DRAWS < 0.85
    assert 0.95 <= sequence / DRAWS < 0.995


def test_clusters_taken_for_independent_trials_mislead() -> None:
    """Why all this is done: the plain interval of clustered trials holds the truth far too seldom."""
    generator = np.random.default_rng(3)
    answers = []
    for _ in range(DRAWS):
        failures, totals = EQUAL.draw(generator)
        answers.append(held(wilson(sum(failures), sum(totals)), EQUAL.rate))
    assert np.mean(answers) < 0.75


def test_the_design_effect_is_found() -> None:
    from seasoned.stats.proportion import pool

    generator = np.random.default_rng(4)
    effects = [pool(*EQUAL.draw(generator)).design_effect for _ in range(DRAWS)]
    assert np.mean(effects) == pytest.approx(EQUAL.effect, rel=0.05)


def test_the_exact_test_errs_at_most_as_often_as_it_says() -> None:
    """Counted, not drawn: tables of 12 and 15 trials with one rate."""
    from math import comb

    for p in (0.1, 0.4):
        chance = [[comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)] for n in (12, 15)]
        wrong = sum(
            chance[0][a] * chance[1][b]
            for a in range(13)
            for b in range(16)
            if (fisher(a, 12, b, 15).value or 0.0) <= 0.05
        )
        assert wrong <= 0.05


def test_few_clusters_without_failures_are_bounded_not_called_perfect() -> None:
    """Clusters of which all but a few never fail: an interval is still given, and holds the truth."""
    world = World(clusters=15, size=20, rate=0.02, effect=3.0)
    generator = np.random.default_rng(8)
    answers = [held(rate(*world.draw(generator)), world.rate) for _ in range(DRAWS)]
    assert None not in answers
    assert np.mean(answers) >= 0.93
