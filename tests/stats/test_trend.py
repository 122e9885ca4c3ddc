"""Change along clusters, each its own control."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.each_case import each_case
from tests.stats.data import check_sound, slope


def test_clusters_of_different_levels_do_not_pass_for_a_trend() -> None:
    """Short clusters fail often and long ones seldom, none changes: pooled positions would show a fall."""
    generator = np.random.default_rng(7)
    failed = [(generator.random(n) < p).tolist() for n, p in [(10, 0.5)] * 40 + [(100, 0.05)] * 40]
    places = [list(range(len(trials))) for trials in failed]
    pooled = np.polyfit(np.concatenate(places), np.concatenate(failed), 1)[0]
    found = slope(failed, places)
    assert pooled < -0.001
    assert found.interval.low < 0 < found.interval.high
    assert found.p_value > 0.05


def test_a_slope_is_that_of_least_squares_with_a_column_for_each_cluster_and_stratum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(1)
    sizes = [5, 9, 14, 7]
    failed = [(generator.random(n) < 0.4).tolist() for n in sizes]
    places = [generator.normal(size=n).tolist() for n in sizes]
    strata = [generator.choice(["a", "b", "c"], n).tolist() for n in sizes]
    cluster, stratum = np.repeat(np.arange(4), sizes), np.concatenate(strata)
    columns = [np.concatenate(places)] + [cluster == k for k in range(4)]
    y = np.concatenate(failed).astype(float)
    plain = np.linalg.lstsq(np.column_stack(columns).astype(float), y, rcond=None)[0][0]
    full = [*columns, *[stratum == s for s in ("a", "b")]]
    assert slope(failed, places).value == pytest.approx(plain)
    expected = np.linalg.lstsq(np.column_stack(full).astype(float), y, rcond=None)[0][0]
    assert slope(failed, places, strata).value == pytest.approx(expected)
    # Many clusters are counted a part at a time.
    monkeypatch.setattr("seasoned.stats.trend._CLUSTERS_AT_ONCE", 3)
    assert slope(failed, places, strata).value == pytest.approx(expected)


def test_a_change_of_tools_is_not_a_change_of_skill() -> None:
    """The worse tool is used ever more; each tool fails as before."""
    generator = np.random.default_rng(2)
    failed, strata = [], []
    for _ in range(80):
        worse = generator.random(40) < np.linspace(0, 1, 40)
        failed.append((generator.random(40) < np.where(worse, 0.3, 0.05)).tolist())
        strata.append(np.where(worse, "worse", "better").tolist())
    assert slope(failed).interval.low > 0.1
    held = slope(failed, strata=strata).interval
    assert held.low < 0 < held.high


def test_without_positions_a_slope_is_the_change_from_first_to_last() -> None:
    found = slope([[False, True], [False, True], [True, True]])
    assert found.value == pytest.approx(2 / 3)


@each_case(
    ("failed", "strata", "reason"),
    [
        ([], None, "more than one position"),
        ([[True], [False]], None, "more than one position"),
        ([[], []], None, "more than one position"),
        ([[True, False]], None, "two clusters"),
        ([[True, False], [True, False]], None, "same rate"),
        ([[True, False], [True, True]], [["a", "b"], ["a", "b"]], "cannot be told from strata"),
    ],
)
def test_too_little_data_gives_none_with_a_reason(failed, strata, reason) -> None:
    found = slope(failed, strata=strata)
    assert found.interval is None
    assert reason in found.reason


TRIAL = st.tuples(st.booleans(), st.integers(0, 50), st.sampled_from("ab"))


@given(st.lists(st.lists(TRIAL, max_size=8), max_size=8), st.booleans(), st.booleans())
def test_any_trials_give_a_sound_slope(clusters, with_places, with_strata) -> None:
    failed = [[trial[0] for trial in trials] for trials in clusters]
    places = [[float(trial[1]) for trial in trials] for trials in clusters] if with_places else None
    strata = [[trial[2] for trial in trials] for trials in clusters] if with_strata else None
    found = slope(failed, places, strata)
    check_sound(found)
    mirrored = slope([[not one for one in trials] for trials in failed], places, strata)
    if found.value is not None:
        assert mirrored.value == pytest.approx(-found.value, abs=1e-9)
