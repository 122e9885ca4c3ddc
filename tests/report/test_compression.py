"""The compression check: chains, segments, every branch of the rule, and its intervals against plain formulas."""

from __future__ import annotations

import math

import pytest

from seasoned.outcome.error_rate import Counts
from seasoned.outcome.track import JudgedCall, Track
from seasoned.redact.key import Secrecy, new_key
from seasoned.report.compression import (
    chains,
    check,
    check_many,
    fill,
    is_compressed,
    judge,
    outlines,
    segments,
    sentence,
)
from seasoned.scan.scan import ScanTarget, scan
from seasoned.session import SessionRef
from tests.each_case import each_case

Z90 = 1.6448536269514722


def calls(*outcomes: str, first_message: int = 0) -> tuple[JudgedCall, ...]:
    """One call in each message: `o` worked, `x` failed, `?` is unclear."""
    names = {"o": "ok", "x": "failed", "?": "unclear"}
    return tuple(
        JudgedCall(at, first_message + at, "Bash", "terminal", names[one], names[one], "none")
        for at, one in enumerate("".join(outcomes))
    )


def track(
    name: str, outcomes: str, *, compactions=(), parent: str | None = None, relation=None, root=None, started=None
):
    return Track(
        ref=SessionRef("a", name),
        messages=len(outcomes),
        calls=calls(outcomes),
        root=root or f"a:{name}",
        parent=None if parent is None else SessionRef("a", parent),
        relation=relation or (None if parent is None else "compression"),
        compactions=tuple(compactions),
        started=started,
    )


def counts(failed: int, total: int) -> Counts:
    return Counts(ok=total - failed, failed=failed)


def wilson_ends(failed: int, total: int) -> tuple[float, float]:
    """Wilson 1927, written out once more."""
    p, z2 = failed / total, Z90**2
    middle, half = p + z2 / (2 * total), Z90 * math.sqrt(p * (1 - p) / total + z2 / (4 * total**2))
    return (middle - half) / (1 + z2 / total), (middle + half) / (1 + z2 / total)


def test_a_session_without_compression_has_nothing_to_check() -> None:
    found = check([track("s", "oxo" * 30)])
    assert (found.has_compression, found.before, found.after, found.compressions) == (False, None, None, 0)
    assert found.judgement.preserved is None and found.judgement.ratio is None
    assert sentence(found) == "No context was compressed here, so there is nothing to compare."


def test_a_call_at_the_compaction_lies_after_it() -> None:
    first, second = segments([track("s", "ooxox", compactions=[3])])
    assert [call.message for call in first.calls] == [0, 1, 2]
    assert [call.message for call in second.calls] == [3, 4]
    assert (first.kind, second.kind, second.message) == (None, "compaction", 3)


def test_sessions_that_continue_each_other_are_put_in_order() -> None:
    third, first, second = track("3", "x", parent="2"), track("1", "oo"), track("2", "ox", parent="1")
    other = track("9", "o")
    found = chains([third, first, other, second])
    assert [[one.ref.native_id for one in chain] for chain in found] == [["1", "2", "3"], ["9"]]
    whole = check(found[0])
    assert whole.compressions == 2
    assert (whole.before.counted, whole.after.counted, whole.after.failed) == (2, 3, 2)


def test_the_summary_inside_a_continuation_is_the_same_compression() -> None:
    parent = track("1", "oooo")
    child = Track(
        SessionRef("a", "2"),
        9,
        calls("ox", first_message=5),
        "a:1",
        parent=parent.ref,
        relation="compression",
        compactions=(3,),
    )
    found = check([parent, child])
    assert found.compressions == 1
    assert (found.before.counted, found.after.counted) == (4, 2)


def test_two_continuations_of_one_session_count_what_lies_before_once() -> None:
    parts = [track("1", "oooo"), track("3", "xo", parent="1", started=9.0), track("2", "oox", parent="1", started=5.0)]
    (chain,) = chains(parts)
    assert [one.ref.native_id for one in chain] == ["1", "2", "3"]
    found = check(chain)
    assert found.before.counted == 4 and found.after.counted == 5


def test_forks_and_subagents_are_chains_of_their_own_and_circles_end() -> None:
    fork = track("2", "o", parent="1", relation="fork")
    assert len(chains([track("1", "o"), fork])) == 2
    circle = chains([track("1", "o", parent="2"), track("2", "o", parent="1"), track("3", "o", parent="3")])
    assert sorted(len(chain) for chain in circle) == [1, 2]


def test_a_continuation_without_its_parent_says_so() -> None:
    found = check([track("2", "o" * 60, parent="gone")])
    assert found.has_compression and found.is_cut
    assert found.judgement.preserved is None
    assert found.judgement.reason == "cannot tell: the session before it is missing"
    assert found.before.counted == 0 and found.after.counted == 60


@each_case(
    ("before", "after", "preserved"),
    [
        ((300, 1000), (290, 1000), True),  # the upper end is within the tolerance
        ((3, 40), (0, 20), True),  # hardly anything fails after
        ((0, 500), (4, 500), True),  # the same, although the ratio is infinite
        ((0, 20), (0, 20), True),
        ((100, 1000), (200, 1000), False),  # the lower end is above the tolerance
        ((0, 106), (6, 109), False),  # infinite, but its lower end is known
        ((5, 100), (6, 100), None),
        ((0, 50), (3, 86), None),  # infinite, and its lower end is too low
        ((40, 40), (40, 40), True),  # as bad as before
    ],
)
def test_the_rule(before: tuple[int, int], after: tuple[int, int], preserved: bool | None) -> None:
    found = judge(counts(*before), counts(*after))
    assert found.preserved is preserved
    assert (found.reason is None) == (preserved is not None)


@each_case(("before", "after"), [(19, 500), (500, 19), (0, 30), (30, 0), (0, 0)])
def test_fewer_than_twenty_calls_on_a_side_are_never_judged(before: int, after: int) -> None:
    found = judge(counts(0, before), counts(0, after))
    assert found.preserved is None
    assert f"{before} calls count before and {after} after" in found.reason


def test_what_is_missing_is_told_in_calls() -> None:
    found = judge(counts(5, 100), counts(6, 100))
    each = 2 * (1 - 0.055) / 0.055 * ((Z90 + 0.8416212335729143) / math.log(1.2)) ** 2
    assert found.more_calls == 2 * (math.ceil(each) - 100)
    assert found.reason == "cannot tell: about 13 000 more calls needed"


def test_nothing_failed_before_leaves_the_lower_end() -> None:
    found = judge(counts(0, 106), counts(6, 109))
    a, (low, _), (_, high) = 6 / 109, wilson_ends(6, 109), wilson_ends(0, 106)
    assert found.ratio is None and found.interval.high is None
    assert found.interval.low == pytest.approx(math.sqrt(low * (2 * a - low)) / high, rel=1e-9)
    one = check([track("s", "o" * 106 + "x" * 6 + "o" * 103, compactions=[106])])
    assert "at least 1.9 times" in sentence(one)


def test_many_sessions_are_judged_as_pairs() -> None:
    many = [
        [track(str(n), "o" * 95 + "x" * 5 + "o" * (90 - n % 3) + "x" * (10 + n % 3), compactions=[100])]
        for n in range(12)
    ]
    found = check_many([*many, [track("none", "o" * 50)]])
    assert (len(found.checks), found.without, found.pairs) == (12, 1, 12)
    assert found.judgement.preserved is False
    # Every session fails 5 before, so that the ratio varies by what is after alone: a plain jackknife of twelve means.
    after = [(10 + n % 3) / 100 for n in range(12)]
    mean = sum(after) / 12
    error = math.sqrt(sum((one - mean) ** 2 for one in after) / 11 / 12) / mean
    half = 1.7958848187036691 * error
    assert found.judgement.ratio == pytest.approx(mean / 0.05)
    ends = (mean / 0.05 * math.exp(-half), mean / 0.05 * math.exp(half))
    assert (found.judgement.interval.low, found.judgement.interval.high) == pytest.approx(ends, rel=1e-6)
    assert "over 12 lineages" in sentence(found)


def test_pairs_that_cannot_tell_fall_back_with_an_answer_and_never_divide_by_zero() -> None:
    clean = [[track(str(n), "o" * 200, compactions=[100])] for n in range(4)]
    assert check_many(clean).judgement.preserved is True
    worse = [[track(str(n), "o" * 100 + "x" * 30 + "o" * 70, compactions=[100])] for n in range(4)]
    found = check_many(worse).judgement
    assert found.ratio is None
    assert found.interval.high is None and found.interval.low > 0
    alike = [[track(str(n), "o" * 90 + "x" * 10 + "o" * 80 + "x" * 20, compactions=[100])] for n in range(4)]
    found = check_many(alike).judgement
    assert (found.ratio, found.interval, found.preserved) == (pytest.approx(2.0), None, None)
    assert check_many([]).judgement.reason == "no context was compressed"
    assert check_many([[track("s", "xo", compactions=[1])]]).judgement.preserved is None


def test_what_a_store_holds_is_checked_one_chain_at_a_time(samples) -> None:
    target = ScanTarget(None)
    scan(target, [samples], Secrecy(new_key(), ()), workers=1)
    with target.open() as store:
        outline = [chain for chain in outlines(store) if is_compressed(chain)]
        assert all(not one.calls for chain in outline for one in chain)
        filled = [fill(store, chain) for chain in outline]
    assert [[one.ref for one in chain] for chain in filled] == [[one.ref for one in chain] for chain in outline]
    found = check_many(filled)
    assert len(found.checks) == 2 and found.before.counted == 44
