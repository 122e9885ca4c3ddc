"""The error rate, by the contract that every part shares."""

from __future__ import annotations

import pytest

from seasoned.outcome.error_rate import Counts, Include, count
from seasoned.outcome.verdict import Fault, Outcome, Verdict
from seasoned.session import ToolCall
from tests.outcome.calls import call


def pair(
    verdict: Outcome, fault: Fault = "none", tool: str = "Bash", *, synthetic: bool = False
) -> tuple[ToolCall, Verdict]:
    return call(tool, "x", synthetic=synthetic), Verdict(verdict, "flag", fault, "x")


PAIRS = [
    *[pair("ok")] * 6,
    *[pair("failed", "call")] * 2,
    pair("unclear"),
    pair("failed", "user_declined"),
    pair("failed", "sibling_cancelled"),
    pair("unclear", "interrupted"),
    pair("ok", tool="TodoWrite"),
    pair("failed", tool="memory"),
    pair("ok", synthetic=True),
]


def test_what_is_left_out_is_counted_beside_the_rate() -> None:
    counts = count(PAIRS)
    assert counts == Counts(6, 2, 1, declined=1, cancelled=1, interrupted=1, trivial=2, synthetic=1)
    assert counts.error_rate == pytest.approx(2 / 8)
    assert counts.total == len(PAIRS)


def test_switches_count_what_is_left_out() -> None:
    include = Include(trivial=True, synthetic=True, declined=True, cancelled=True, interrupted=True)
    assert count(PAIRS, include=include) == Counts(8, 5, 2)
    assert include.names() == ("trivial", "synthetic", "declined", "cancelled", "interrupted")
    assert Include().names() == ()


def test_nothing_to_count_has_no_rate() -> None:
    assert count([]).error_rate is None
    assert count([pair("unclear")]).error_rate is None


def test_counts_add_up() -> None:
    assert count(PAIRS) + count(PAIRS) == count(PAIRS * 2)
