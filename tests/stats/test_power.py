"""What a comparison can see."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.stats.proportion import detectable, needed_for_ratio, power


def test_published_values() -> None:
    """The example of R's power.prop.test: 50 trials give 0.740."""
    assert power(0.50, 0.75, 50, 50) == pytest.approx(0.740, abs=5e-4)


def test_a_design_effect_is_paid_in_trials() -> None:
    assert power(0.06, 0.09, 4000, 4000, design_effect=4) == pytest.approx(power(0.06, 0.09, 1000, 1000))


def test_the_power_is_what_simulated_comparisons_have() -> None:
    generator = np.random.default_rng(2)
    n, a, b = 800, 0.06, 0.10
    drawn_a, drawn_b = generator.binomial(n, a, 20_000) / n, generator.binomial(n, b, 20_000) / n
    pooled = (drawn_a + drawn_b) / 2
    found = np.abs(drawn_a - drawn_b) > 1.96 * np.sqrt(2 * pooled * (1 - pooled) / n)
    assert found.mean() == pytest.approx(power(a, b, n, n), abs=0.01)


def test_the_smallest_change_found_has_just_the_power_asked_for() -> None:
    found = detectable(0.06, 1000, 1500)
    assert power(0.06, 0.06 + found.rise, 1000, 1500) == pytest.approx(0.8)
    assert power(0.06, 0.06 - found.fall, 1000, 1500) == pytest.approx(0.8)


def test_what_cannot_be_seen_is_none_with_a_reason() -> None:
    few = detectable(0.06, 30, 30)
    assert few.rise is not None
    assert few.fall is None
    assert few.reason == "too few trials to find any fall"
    assert detectable(0.06, 0, 30).reason == "there are no trials on one side"
    assert power(0.1, 0.2, 0, 5) is None
    assert needed_for_ratio(0.0, 1.2) is None


def test_trials_for_a_tolerance() -> None:
    """2 × 0.94/0.06 × ((1.645 + 0.842) / log 1.2)² = 5,828."""
    assert needed_for_ratio(0.06, 1.2) == pytest.approx(5828, abs=5)


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 5000), st.integers(1, 5000))
def test_power_is_a_probability_and_grows_with_trials(a, b, n_a, n_b) -> None:
    found = power(a, b, n_a, n_b)
    assert 0 <= found <= 1
    assert found == pytest.approx(power(b, a, n_b, n_a), abs=1e-9)
    if found > 0.5:
        assert power(a, b, 2 * n_a, 2 * n_b) >= found - 1e-9
