"""A rate over clusters: by hand, in its limits, and for any clusters at all."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.stats import proportion
from seasoned.stats.proportion import pool, rate, wilson
from tests.each_case import each_case
from tests.stats.data import CLUSTERS, check_sound


def test_the_error_of_equal_clusters_is_that_of_their_mean() -> None:
    """Rates 0.1, 0.2, 0.3, 0.4 of ten trials each: standard deviation 0.1291, over √4 is 0.0645."""
    pooled = pool([1, 2, 3, 4], [10] * 4)
    assert pooled.rate == 0.25
    assert pooled.error == pytest.approx(0.129099 / 2, abs=1e-6)
    assert pooled.freedom == pytest.approx(3)
    assert pooled.design_effect == pytest.approx(0.129099**2 / 4 / (0.25 * 0.75 / 40), rel=1e-5)
    assert pooled.effective_n == 40  # never more than there are


def test_clusters_that_all_fail_or_never_fail_count_as_one_trial_each() -> None:
    """Six clusters of one kind: as much is known as from six trials, whatever their length."""
    found = pool([40, 0, 40, 0, 40, 0], [40] * 6)
    assert found.design_effect == pytest.approx(40 * 6 / 5)
    assert found.effective_n == pytest.approx(5)


def test_independent_trials_are_nearly_wilson() -> None:
    """A cluster of one trial each: only Student's t is left of the clusters."""
    failures = [1] * 30 + [0] * 470
    found, plain = rate(failures, [1] * 500).interval, wilson(30, 500).interval
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=3e-4)


def test_one_long_cluster_weighs_as_few() -> None:
    even, odd = pool([5] * 10, [50] * 10), pool([5] * 9 + [100], [50] * 9 + [1000])
    assert even.freedom == pytest.approx(9)
    assert odd.freedom == pytest.approx(1450**2 / (9 * 50**2 + 1000**2) - 1)


@each_case(
    ("failures", "totals", "value", "reason"),
    [
        ([], [], None, "no trials"),
        ([0, 0], [0, 0], None, "no trials"),
        ([3], [10], 0.3, "two clusters"),
        ([3, 0], [10, 0], 0.3, "two clusters"),
    ],
)
def test_too_little_data_gives_none_with_a_reason(failures, totals, value, reason) -> None:
    found = rate(failures, totals)
    assert (found.value, found.interval) == (value, None)
    assert reason in found.reason


def test_nothing_failed_is_bounded_by_clusters_not_by_trials() -> None:
    found = rate([0] * 20, [100] * 20)
    assert found.value == 0.0
    assert found.interval.low == 0.0
    assert 0.15 < found.interval.high < 0.2  # twenty trials, not two thousand


@pytest.mark.parametrize(("failures", "totals"), [([1], [1, 2]), ([3], [2]), ([-1], [2]), ([1], [math.inf])])
def test_impossible_counts_are_refused(failures, totals) -> None:
    with pytest.raises(UsageError):
        rate(failures, totals)


@given(CLUSTERS, st.floats(0.6, 0.99))
def test_any_clusters_give_a_sound_answer(data, level) -> None:
    found = rate(*data, level=level)
    check_sound(found)
    if found.interval is not None:
        assert 0 <= found.interval.low <= found.interval.high <= 1


@given(CLUSTERS, st.randoms())
def test_the_order_of_clusters_and_the_name_of_failure_do_not_matter(data, chance) -> None:
    failures, totals = data
    rows = list(zip(failures, totals, strict=True))
    chance.shuffle(rows)
    one = rate(failures, totals).interval
    shuffled = rate([f for f, _ in rows], [n for _, n in rows]).interval
    mirrored = rate([n - f for f, n in zip(failures, totals, strict=True)], totals).interval
    if one is None:
        assert shuffled is None
        assert mirrored is None
    else:
        assert (shuffled.low, shuffled.high) == pytest.approx((one.low, one.high), abs=1e-9)
        assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((one.low, one.high), abs=1e-9)


def test_importing_stats_imports_no_numpy() -> None:
    modules = [path.stem for path in Path(proportion.__file__).parent.glob("*.py") if path.stem != "__init__"]
    code = "import sys\n" + "\n".join(f"import seasoned.stats.{name}" for name in modules)
    code += "\nprint([name for name in ('numpy', 'scipy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
