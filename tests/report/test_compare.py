"""Two sessions and two sets: figures against plain formulas, sentences, and everything that cannot be compared."""

from __future__ import annotations

import math

import pytest

from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.outcome.track import Track
from seasoned.report.compare import Comparison, compare_sessions, compare_sets
from seasoned.session import SessionRef
from tests.report.tracks import track

Z95 = 1.959963984540054


def made(name: str, failed: int, total: int, **facts: object) -> Track:
    return track("x" * failed + "." * (total - failed), name, **facts)


def wilson(failed: int, total: int) -> tuple[float, float, float]:
    p, z2 = failed / total, Z95**2
    middle, half = p + z2 / (2 * total), Z95 * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2))
    return p, (middle - half) / (1 + z2 / total), (middle + half) / (1 + z2 / total)


def test_two_sessions_have_newcombes_interval_and_fishers_p_value() -> None:
    found = compare_sessions(made("w", 3, 60), made("c", 14, 70))
    (w, wl, wh), (c, cl, ch) = wilson(3, 60), wilson(14, 70)
    low = c - w - math.sqrt((c - cl) ** 2 + (wh - w) ** 2)
    high = c - w + math.sqrt((ch - c) ** 2 + (w - wl) ** 2)
    assert found.improvement == pytest.approx(14 / 70 - 3 / 60)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    masses = [math.comb(60, k) * math.comb(70, 17 - k) / math.comb(130, 17) for k in range(18)]
    assert found.p_value == pytest.approx(sum(m for m in masses if m <= masses[3] * (1 + 1e-9)))
    assert (found.warm.errors, found.warm.total, found.cold.errors, found.cold.total) == (3, 60, 14, 70)
    assert found.warm_better is True
    assert "5.0 % of calls, the cold one on 20.0 %: 15.0 points less" in found.sentence
    assert "cannot show that warm starts help" in found.sentence


def test_a_warm_session_can_be_worse_or_not_to_be_told_apart() -> None:
    worse = compare_sessions(made("w", 14, 70), made("c", 3, 60))
    assert worse.warm_better is False
    assert "15.0 points more (95 % interval 3." in worse.sentence
    same = compare_sessions(made("w", 4, 60), made("c", 4, 60))
    assert (same.warm_better, same.improvement) == (None, 0.0)
    assert "the same (95 % interval" in same.sentence and "No difference can be seen" in same.sentence


def test_a_session_is_not_compared_with_itself_nor_with_one_that_has_no_calls() -> None:
    with pytest.raises(UsageError, match="cannot be compared with itself"):
        compare_sessions(made("w", 1, 5), made("w", 1, 5))
    for pair in ((track("dd?", "w"), made("c", 1, 5)), (made("w", 1, 5), track("", "c"))):
        with pytest.raises(CannotDo, match="counts, so it has no error rate"):
            compare_sessions(*pair)


def sets(warm: list[tuple[int, int]], cold: list[tuple[int, int]]) -> Comparison:
    return compare_sets(
        [made(f"w{at}", *one) for at, one in enumerate(warm)], [made(f"c{at}", *one) for at, one in enumerate(cold)]
    )


def test_two_sets_that_differ() -> None:
    found = sets([(n % 3, 40) for n in range(20)], [(3 + n % 4, 40) for n in range(25)])
    warm, cold = sum(n % 3 for n in range(20)) / 800, sum(3 + n % 4 for n in range(25)) / 1000
    assert found.improvement == pytest.approx(cold - warm)
    assert found.interval.low < found.improvement < found.interval.high
    assert found.warm_better is True and found.p_value == pytest.approx(1 / 10_000)
    assert found.test_name == "permutation of lineages"
    assert found.sentence.startswith(
        "Warm sessions fail on 2.4 % of calls, cold ones on 11.1 %: 8.7 points less (95 % int"
    )
    assert found.sentence.endswith("p < 0.001; 20 and 25 sessions).")


def test_two_sets_that_do_not_differ_say_what_would_have_been_seen() -> None:
    found = sets([(2 + n % 2, 50) for n in range(30)], [(2 + (n + 1) % 2, 50) for n in range(30)])
    assert found.warm_better is None
    fall = found.smallest_detectable.fall
    assert 0.01 < fall < 0.05
    assert f"a difference of about {100 * fall:.1f} points would have been found 4 times in 5" in found.sentence


def test_sessions_of_one_lineage_are_one_unit() -> None:
    warm = [made(f"w{n}", n % 3, 20, root=f"#{n // 2}") for n in range(8)]
    found = compare_sets(warm, [made(f"c{n}", 2, 20) for n in range(5)])
    assert (len(found.warm.sessions), found.warm.lineages, found.cold.lineages) == (8, 4, 5)


def test_sessions_in_both_sets_are_left_out_of_both_and_duplicates_count_once() -> None:
    shared, first = made("s", 5, 10), made("w1", 1, 10)
    found = compare_sets(
        [shared, first, first, made("w2", 0, 10)], [made("c1", 2, 10), shared, made("c2", 3, 10), track("?", "c3")]
    )
    assert found.in_both == (SessionRef("test", "s"),)
    assert (found.warm.errors, found.warm.total, found.cold.errors, found.cold.total) == (1, 20, 5, 20)
    assert found.notes == (
        "Left out of both sets because they are in both: test:s.",
        "Left out of the cold set because none of their calls counts: 1.",
    )


def test_sets_that_cannot_be_compared_say_why() -> None:
    some = [made("a", 1, 9), made("b", 1, 9)]
    with pytest.raises(UsageError, match="Both sets contain the same sessions"):
        compare_sets(some, some[::-1])
    with pytest.raises(NotFound, match="The cold set has no sessions"):
        compare_sets(some, [])
    with pytest.raises(CannotDo, match="The warm set has one session"):
        compare_sets([made("w", 1, 9)], some)
    with pytest.raises(CannotDo, match="No session of the cold set has a call that counts"):
        compare_sets(some, [track("?", "c1"), track("d", "c2")])
    with pytest.raises(CannotDo, match="Left out because they are in both sets: 1"):
        compare_sets(some, [some[0], made("c", 1, 9), made("d", 1, 9)])


def test_sets_are_compared_in_the_four_measures_with_welchs_interval() -> None:
    warm = [track("." + "x" * errors + "....", f"w{errors}") for errors in (0, 1, 2, 3)]
    cold = [track("x" * errors + "....", f"c{errors}") for errors in (3, 4, 5)]
    found = {one.measure: one for one in compare_sets(warm, cold).measures}
    errors = found["errors"]
    assert (errors.warm, errors.cold, errors.difference.value) == (1.5, 4.0, -2.5)
    # Variances 5/3 and 1; Student's t of 97.5 % with 4.959 degrees of freedom is 2.577.
    assert errors.difference.interval is not None
    assert errors.difference.interval.high == pytest.approx(-2.5 + 2.577 * math.sqrt(5 / 3 / 4 + 1 / 3), abs=1e-4)
    assert (found["calls_to_success"].warm, found["calls_to_success"].cold) == (1.0, 5.0)
    assert found["diversity"].difference.reason, "all used one tool: there is no spread"
    assert found["seconds_to_success"].warm is None, "the calls have no times"


def test_a_success_that_never_came_counts_as_later_than_any() -> None:
    never = [track("xxx", f"w{number}") for number in range(2)]
    found = compare_sets(never, [track("x.....", f"c{number}") for number in range(2)])
    assert [one.warm for one in found.measures if one.measure == "calls_to_success"] == [7.0]
