"""Live sessions by intention to treat: looking often does no harm, a wrong ratio is seen, and waiting is waited for."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from scipy.special import chdtrc

from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import ArmShare, Split, assign, new_split, sample_ratio
from seasoned.experiment.live.live_report import LiveReport, report_of
from seasoned.experiment.live.live_session import LiveSession
from tests.each_case import each_case
from tests.torture import TORTURE

SPLIT = new_split("e", [ArmShare("cold"), ArmShare("warm")], salt="s1")
SHARES = {"cold": 0.5, "warm": 0.5}


def _print(text: str) -> None:
    """The figures, for whoever runs this with `-s`."""
    print(f"\n{text}")  # noqa: T201


def _sessions(seed: int, count: int, *, cold: float, warm: float, calls: int = 12) -> list[LiveSession]:
    """Sessions as they come, each assigned by the hash; calls of a session resemble each other."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        assigned = assign(SPLIT, f"hermes:{seed}-{number}")
        assert assigned is not None
        rate = {"cold": cold, "warm": warm}[assigned.arm]
        total = int(generator.integers(1, calls + 1))
        failed = int(generator.binomial(total, generator.beta(2 * rate, 2 * (1 - rate))))
        tools = {"Bash": (total - failed, failed)}
        found.append(LiveSession(session=assigned.session, arm=assigned.arm, at=number, tools=tools))
    return found


def _report(sessions: list[LiveSession], split: Split = SPLIT) -> LiveReport:
    return report_of(split, sessions, began_at=0.0, now=1e6)


def _is_found(found: LiveReport) -> bool:
    return any(one.is_found for one in found.effects)


@pytest.mark.parametrize(("cold", "warm"), [(0.3, 0.3), (0.5, 0.2)])
def test_a_finding_stays_found_at_every_later_look(cold: float, warm: float) -> None:
    for seed in range(20 if TORTURE else 2):
        sessions = _sessions(seed, 160, cold=cold, warm=warm)
        looks = [_is_found(_report(sessions[:count])) for count in range(2, 161, 1 if TORTURE else 6)]
        assert looks == sorted(looks)


@pytest.mark.parametrize("arms", [2, 3])
def test_a_wrong_sample_ratio_is_seen_and_a_right_one_is_no_alarm(arms: int) -> None:
    names = [f"a{number}" for number in range(arms)]
    shares = dict.fromkeys(names, 1 / arms)
    wrong = np.array([0.45, 0.55] if arms == 2 else [0.28, 0.36, 0.36])
    generator = np.random.default_rng(2)
    draws = 4000 if TORTURE else 120

    def alarms(truth: np.ndarray) -> float:
        drawn = generator.multinomial(2000, truth, draws)
        return sum(sample_ratio(dict(zip(names, row.tolist(), strict=True)), shares).is_alarm for row in drawn) / draws

    seen, false = alarms(wrong), alarms(np.full(arms, 1 / arms))
    _print(f"{arms} arms, 2,000 sessions: mismatch seen in {seen:.1%}, false alarms {false:.2%}")
    assert seen > 0.8
    assert false <= 0.001 + 3 * (0.001 / draws) ** 0.5


@each_case("counts", [[10, 20, 30], [10, 20, 30, 40], [25] * 5, [5, 9, 4, 7, 5], [1, 0, 900], [7] * 3])
def test_the_tail_of_chi_square_is_that_of_scipy(counts: list[int]) -> None:
    named = {f"a{number}": count for number, count in enumerate(counts)}
    found = sample_ratio(named, dict.fromkeys(named, 1 / len(counts)))
    expected = sum(counts) / len(counts)
    assert found.p_value == pytest.approx(chdtrc(len(counts) - 1, sum((n - expected) ** 2 / expected for n in counts)))


def test_an_alarm_forbids_every_finding() -> None:
    sessions = _sessions(0, 600, cold=0.6, warm=0.1)
    lost = [one for number, one in enumerate(sessions) if one.arm == "cold" or number % 3]
    found = _report(lost)
    assert found.assigned_ratio.is_alarm and not _is_found(found)
    assert found.sentences[0].startswith("The arms did not get the sessions they should")


def test_an_arm_that_loses_its_outcomes_is_an_alarm_too() -> None:
    sessions = [
        msgspec.structs.replace(one, tools={}) if one.arm == "warm" and number % 3 == 0 else one
        for number, one in enumerate(_sessions(0, 900, cold=0.3, warm=0.3))
    ]
    found = _report(sessions)
    assert not found.assigned_ratio.is_alarm and found.measured_ratio.is_alarm
    assert found.sentences[0].startswith("The arms lost sessions unequally")


def test_sessions_count_for_the_arm_they_were_assigned_to_whatever_they_were_shown() -> None:
    sessions = _sessions(3, 300, cold=0.6, warm=0.1)
    shown = [
        msgspec.structs.replace(one, exposed_arm="warm" if number % 2 else None) for number, one in enumerate(sessions)
    ]
    found, plain = _report(shown), _report(sessions)
    assert found.effects == plain.effects
    warm = found.arms[1]
    assert 0 < warm.exposed < warm.assigned and found.arms[0].contaminated > 0
    assert any("offer's effect" in one for one in found.may_not)
    assert any("the block of another arm" in one for one in found.may_not)


def test_sessions_after_one_that_is_not_settled_wait() -> None:
    sessions = _sessions(1, 100, cold=0.3, warm=0.3)
    sessions[60] = msgspec.structs.replace(sessions[60], is_settled=False)
    found = _report(sessions[::-1])
    assert (found.sessions, found.waiting) == (100, 40)
    assert sum(one.settled for one in found.arms) == 60
    assert found.effects == _report(sessions[:60]).effects


def test_nothing_yet_says_so_and_an_unknown_arm_is_refused() -> None:
    found = _report([])
    assert found.effects[0].estimate.value is None and found.effects[0].estimate.reason
    assert not _is_found(found) and not found.assigned_ratio.is_alarm
    with pytest.raises(UsageError, match="text"):
        _report([LiveSession(session="x", arm="text", at=0.0)])


def test_three_arms_share_the_error() -> None:
    split = new_split("e", [ArmShare("cold"), ArmShare("warm"), ArmShare("text")], salt="s1")
    sessions = [
        msgspec.structs.replace(one, arm=("cold", "warm", "text")[n % 3])
        for n, one in enumerate(_sessions(1, 240, cold=0.3, warm=0.3))
    ]
    found = _report(sessions, split)
    assert [one.arm for one in found.effects if one.measure == "error"] == ["warm", "text"]
    assert {one.estimate.interval.level for one in found.effects if one.estimate.interval} == {0.975}
