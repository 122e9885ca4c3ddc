"""Assignment: by chance, always the same, in the shares asked for, and logged apart from what was shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seasoned.errors import UsageError
from seasoned.experiment.live.assignment import (
    ArmShare,
    Split,
    assign,
    assign_logged,
    new_split,
    sample_ratio,
)
from seasoned.store import open_store
from tests.each_case import each_case

SESSIONS = [f"hermes:{number:05d}" for number in range(6000)]
HALVES = new_split("e", [ArmShare("cold"), ArmShare("warm")], salt="s1")


def _arms(split: Split, sessions: list[str] = SESSIONS) -> dict[str, str]:
    found = [assign(split, session) for session in sessions]
    return {one.session: one.arm for one in found if one is not None}


def _count(arms: dict[str, str]) -> dict[str, int]:
    return {arm: list(arms.values()).count(arm) for arm in dict.fromkeys(arms.values())}


def test_the_arm_is_the_same_in_every_process_and_version() -> None:
    code = (
        "from seasoned.experiment.live.assignment import *\n"
        "split = new_split('e', [ArmShare('cold'), ArmShare('warm')], salt='s1')\n"
        "print(''.join(assign(split, f'hermes:{n:05d}').arm[0] for n in range(40)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = "".join([arm[0] for arm in list(_arms(HALVES).values())[:40]])
    # Written down: a change of the hash would move every running conversation into another arm.
    assert done.stdout.strip() == here == "wcwcwcccccwwwwcccccccccwwcwwwwcwcwwwwwcw"


@pytest.mark.parametrize("weights", [(1, 1), (9, 1), (1, 2, 3), (1, 1, 1, 1, 1)])
def test_arms_get_their_shares(weights: tuple[float, ...]) -> None:
    split = new_split("e", [ArmShare(f"a{n}", weight) for n, weight in enumerate(weights)], salt="s2")
    counts = dict.fromkeys(split.shares, 0) | _count(_arms(split))
    assert not sample_ratio(counts, split.shares).is_alarm, counts


def test_when_a_weight_grows_sessions_move_to_that_arm_only() -> None:
    before, after = _arms(HALVES), _arms(new_split("e", [ArmShare("cold"), ArmShare("warm", 3)], salt="s1"))
    moved = {(before[session], after[session]) for session in SESSIONS if before[session] != after[session]}
    assert moved == {("cold", "warm")}
    assert 0.2 < sum(before[s] != after[s] for s in SESSIONS) / len(SESSIONS) < 0.3


def test_a_background_review_is_in_no_arm(tmp_path: Path) -> None:
    assert assign(HALVES, "hermes:1", relation="review") is None
    with open_store(tmp_path / "s.db") as store:
        assert assign_logged(store, HALVES, "hermes:1", now=1.0, relation="review") is None
        assert store.rows("experiment.assignments", {"experiment": "e"}) == []
    assert assign(HALVES, "hermes:1", relation="compression") == assign(HALVES, "hermes:1")


@each_case(
    "arms",
    [
        [ArmShare("cold")],
        [ArmShare("cold"), ArmShare("cold")],
        [ArmShare("cold"), ArmShare("")],
        [ArmShare("cold"), ArmShare("warm", 0)],
        [ArmShare("cold"), ArmShare("warm", float("nan"))],
    ],
)
def test_a_split_that_cannot_be_is_refused(arms: list[ArmShare]) -> None:
    with pytest.raises(UsageError):
        new_split("e", arms)


def test_a_session_needs_an_id_and_a_salt_is_never_the_same() -> None:
    with pytest.raises(UsageError):
        assign(HALVES, "")
    assert new_split("e", HALVES.arms).salt != new_split("e", HALVES.arms).salt


def test_assigning_needs_nothing_heavy() -> None:
    code = "import sys, seasoned.experiment.live.assignment; print({'numpy', 'scipy', 'jinja2'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
