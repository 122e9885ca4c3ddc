"""A rate at a fixed mix of strata."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.stats.difference import standardised_difference
from seasoned.stats.proportion import rate
from tests.stats.data import CLUSTER, check_sound, standardise

EARLY = [{"read": (1, 10), "shell": (4, 20)}, {"read": (0, 10), "shell": (4, 20)}, {"read": (1, 10), "shell": (4, 20)}]
LATE = [{"read": (2, 30), "shell": (1, 5)}, {"read": (2, 30), "shell": (1, 5)}, {"read": (2, 30), "shell": (1, 5)}]


def test_by_hand() -> None:
    """Half of 2/30 and half of 12/60."""
    found = standardise(EARLY, {"read": 1, "shell": 1})
    assert found.estimate.value == pytest.approx(0.5 * 2 / 30 + 0.5 * 12 / 60)
    assert (found.covered, found.missing, found.estimate.clusters) == (1.0, (), 3)


def test_a_changed_mix_alone_is_no_change() -> None:
    """Both tools fail as before; only less shell is used. The plain rates differ, the standardised do not."""
    found = standardised_difference(EARLY, LATE)
    assert found.estimate.value == pytest.approx(0, abs=1e-12)
    assert found.estimate.interval.low < 0 < found.estimate.interval.high
    plain = [
        rate([sum(c[s][0] for s in c) for c in side], [sum(c[s][1] for s in c) for c in side]) for side in (EARLY, LATE)
    ]
    assert plain[0].value - plain[1].value > 0.05


def test_one_stratum_is_the_plain_rate() -> None:
    found = standardise([{"x": (f, 10)} for f in (1, 2, 3, 4)], {"x": 3.0}).estimate
    plain = rate([1, 2, 3, 4], [10] * 4)
    assert found.value == pytest.approx(plain.value)
    assert (found.interval.low, found.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))


def test_strata_missing_on_one_side_are_reported_and_not_guessed() -> None:
    other = [{"read": (1, 10), "web": (2, 4)}, {"read": (1, 10)}]
    found = standardised_difference(EARLY, other)
    assert found.missing == ("shell", "web")
    assert found.covered == pytest.approx(50 / 114)
    assert found.estimate.value == pytest.approx(2 / 30 - 2 / 20)
    alone = standardise(other, {"read": 0.6, "web": 0.3, "never": 0.1})
    assert (alone.missing, alone.covered) == (("1", "2"), pytest.approx(0.6))  # the columns of web and never


def test_nothing_in_common_is_none_with_a_reason() -> None:
    for found in (
        standardise([], {"read": 1}),
        standardise(EARLY, {}),
        standardised_difference(EARLY, []),
        standardised_difference([], []),
    ):
        assert found.estimate.value is None
        assert "no stratum" in found.estimate.reason
        assert found.covered == 0


SIDE = st.lists(st.dictionaries(st.sampled_from("abc"), CLUSTER), max_size=8)


@given(SIDE, SIDE, st.dictionaries(st.sampled_from("abcd"), st.floats(0, 10)))
def test_any_strata_give_sound_answers(a, b, mix) -> None:
    for found in (standardise(a, mix), standardised_difference(a, b)):
        check_sound(found.estimate)
        assert 0 <= found.covered <= 1 + 1e-12
