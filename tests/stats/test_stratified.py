"""Differences within strata."""

from __future__ import annotations

import numpy as np
import pytest

from seasoned.stats.trend import stratified_difference


def _draw(seed: int, effect: float, clusters: int = 60) -> tuple[np.ndarray, ...]:
    """Strata with very different rates, spread unequally over the groups."""
    generator = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), 30)
    stratum = generator.integers(0, 3, len(cluster))
    first = generator.random(len(cluster)) < np.array([0.1, 0.5, 0.9])[stratum]
    level = generator.normal(0, 0.03, clusters)[cluster]
    failed = generator.random(len(cluster)) < np.array([0.1, 0.3, 0.6])[stratum] + effect * first + level
    return failed, first, stratum, cluster


def test_unequal_strata_are_no_difference() -> None:
    failed, first, stratum, cluster = _draw(1, 0.0, clusters=300)
    crude = failed[first].mean() - failed[~first].mean()
    held = stratified_difference(failed, first, stratum, cluster)
    assert crude > 0.25
    assert held.value == pytest.approx(0.0, abs=0.04)


def test_the_value_is_the_weighted_mean_of_the_differences_of_the_strata() -> None:
    failed, first, stratum, cluster = _draw(2, 0.1)
    parts, weights = 0.0, 0.0
    for code in range(3):
        a, b = failed[(stratum == code) & first], failed[(stratum == code) & ~first]
        weight = len(a) * len(b) / (len(a) + len(b))
        parts += weight * (a.mean() - b.mean())
        weights += weight
    assert stratified_difference(failed, first, stratum, cluster).value == pytest.approx(parts / weights)


def test_the_error_is_that_of_leaving_each_cluster_out() -> None:
    failed, first, stratum, cluster = _draw(3, 0.1, clusters=12)
    whole = stratified_difference(failed, first, stratum, cluster)
    without = []
    for one in range(12):
        kept = cluster != one
        value = stratified_difference(failed[kept], first[kept], stratum[kept], cluster[kept]).value
        assert value is not None
        without.append(value)
    error = np.sqrt(11 * np.var(without))
    assert whole.interval is not None and whole.value is not None
    from scipy.special import stdtrit

    sizes = [np.bincount(cluster[group]) for group in (first, ~first)]
    freedom = min(side.sum() ** 2 / (side**2).sum() for side in sizes) - 1
    assert whole.interval.high - whole.value == pytest.approx(stdtrit(freedom, 0.975) * error)


def test_it_covers_what_it_says() -> None:
    covered = 0
    for seed in range(300):
        interval = stratified_difference(*_draw(seed, 0.1)).interval
        assert interval is not None
        covered += interval.low <= 0.1 <= interval.high
    assert 0.92 <= covered / 300 <= 0.98


def test_groups_that_share_no_stratum_cannot_be_compared() -> None:
    yes = np.array([True, False])
    code = np.array([0, 1])
    found = stratified_difference(yes, yes, code, code)
    assert (found.value, found.interval) == (None, None)
    assert found.reason == "no stratum has trials of both groups"
    none = np.zeros(0, dtype=np.intp)
    assert stratified_difference(none.astype(bool), none.astype(bool), none, none).value is None
