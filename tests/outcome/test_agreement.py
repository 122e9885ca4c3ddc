"""The arithmetic of agreement, against values computed by hand."""

from __future__ import annotations

import msgspec
import pytest

from seasoned.outcome.agreement import FlagAgreement, LabeledCall, agreement, complete, foreign_status, score
from seasoned.outcome.verdict import Outcome


def pairs(verdict: Outcome, failed: bool, times: int, *, agent: str = "codex", session: str = "s") -> list[LabeledCall]:
    return [LabeledCall(agent, session, "shell", failed, verdict, verdict, "unclear")] * times


TABLE = [
    *pairs("failed", True, 8),
    *pairs("failed", False, 2),
    *pairs("ok", True, 3),
    *pairs("unclear", True, 1),
    *pairs("ok", False, 84),
    *pairs("unclear", False, 2),
]


def test_the_figures_of_one_table() -> None:
    found = score("x", TABLE, "blind")
    assert (found.n, found.failed, found.said_failed, found.unclear) == (100, 12, 10, 3)
    assert found.precision == pytest.approx(8 / 10)
    assert found.recall == pytest.approx(8 / 12)
    assert found.f1 == pytest.approx(16 / 22)
    chance = 0.10 * 0.12 + 0.90 * 0.88
    assert found.kappa == pytest.approx((0.94 - chance) / (1 - chance))
    assert found.poison == pytest.approx(3 / 87)
    assert score("x", TABLE, "strict").unclear == 100, "each sight has its own verdicts"
    assert found.f1_interval is None, "one session cannot tell how sessions differ"


def test_too_little_gives_none_and_never_zero() -> None:
    empty = score("x", [], "blind")
    assert (empty.precision, empty.recall, empty.f1, empty.kappa, empty.f1_interval, empty.poison) == (None,) * 6
    fine = score("x", pairs("ok", False, 5), "blind")
    assert (fine.precision, fine.recall, fine.f1, fine.kappa) == (None,) * 4
    assert fine.poison == 0
    silent = score("x", pairs("unclear", True, 2), "blind")
    assert (silent.precision, silent.recall, silent.f1, silent.poison) == (None, 0, 0, None)


def test_the_interval_goes_by_sessions_and_is_the_same_every_time() -> None:
    many = [pair for number in range(20) for pair in pairs("failed", number % 4 > 0, 5, session=str(number))]
    found = score("x", many, "blind")
    assert found.f1_interval == score("x", many, "blind").f1_interval
    interval = found.f1_interval
    assert interval is not None and found.f1 is not None
    assert interval.low < found.f1 < interval.high
    assert (interval.level, interval.n) == (0.95, 20)
    alone = [msgspec.structs.replace(one, session=str(number)) for number, one in enumerate(many)]
    narrow = score("x", alone, "blind").f1_interval
    assert narrow is not None
    assert narrow.high - narrow.low < interval.high - interval.low


def test_a_circular_source_is_shown_and_left_out_of_the_pool() -> None:
    found = agreement([*TABLE, *pairs("failed", True, 50, agent="tau-bench")], "blind")
    assert [(one.name, one.circular) for one in found.sources] == [("codex", False), ("tau-bench", True)]
    assert found.pooled.n == 100
    with_claude = agreement([*TABLE, *pairs("failed", True, 5, agent="claude-code")], "blind")
    assert (with_claude.pooled.n, with_claude.others.n) == (105, 100)
    assert [one.name for one in found.tools] == ["codex shell", "tau-bench shell"]


def test_how_far_verdicts_that_saw_the_flags_agree() -> None:
    assert complete([*TABLE, *pairs("ok", True, 9, agent="tau-bench")]) == FlagAgreement(100, 94)
    assert complete([]) == FlagAgreement(0, 0)


def test_the_status_of_another_program_is_scored_apart() -> None:
    foreign = [
        LabeledCall("codex", "s", "shell", False, verdict, verdict, "ok", True, f"c{at}", "Tests failed.")
        for at, verdict in enumerate(("failed", "ok", "ok", "unclear"))
    ]
    found = agreement([*TABLE, *foreign], "blind")
    assert (found.pooled.n, found.others.n) == (100, 100)
    assert found.sources[0].precision == pytest.approx(8 / 10)
    apart = foreign_status([*TABLE, *foreign])
    assert (apart.n, apart.ok, apart.failed, apart.unclear) == (4, 2, 1, 1)
    assert [one.call for one in apart.disagreeing] == ["c0"]
    assert complete([*TABLE, *foreign]) == complete(TABLE)
