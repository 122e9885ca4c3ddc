"""Enrolling: what the arm of a conversation means for its beginning, the same for every door and database."""

from __future__ import annotations

import pytest

from seasoned.errors import NotFound
from seasoned.experiment.live.assignment import ArmShare, enrol, keep_split, new_split, shown_by
from seasoned.store import Database
from tests.each_case import each_case

ARMS = ("plain", "cold", "cold-again", "warm", "template:parcels")
SPLIT = new_split("autumn", [ArmShare(arm) for arm in ARMS], salt="s")
SHOWN = {"warm": "", "template:parcels": "parcels"}
SESSIONS = [f"hermes:{number}" for number in range(80)]


@each_case("arm", ARMS)
def test_the_control_and_cold_arms_show_nothing(arm: str) -> None:
    assert shown_by(SPLIT, arm) == SHOWN.get(arm)


def test_each_conversation_is_told_its_arm_what_that_shows_and_the_control_what_it_forgoes(
    any_database: Database,
) -> None:
    keep_split(any_database, SPLIT, now=1.0)
    found = [enrol(any_database, "autumn", session, now=2.0) for session in SESSIONS]
    assert {one.arm for one in found if one is not None} == {*ARMS}
    for one in found:
        assert one is not None
        assert (one.is_warm, one.template) == (one.arm in SHOWN, SHOWN.get(one.arm))
        assert one.foregone == (SHOWN if one.arm == "plain" else {})
    again = [enrol(any_database, "autumn", session, now=3.0, begins=False) for session in SESSIONS]
    assert [(one.arm, one.template) for one in again if one] == [(one.arm, one.template) for one in found if one]


def test_who_is_under_way_is_not_drawn_into_an_experiment(any_database: Database) -> None:
    keep_split(any_database, SPLIT, now=1.0)
    assert enrol(any_database, "autumn", "hermes:late", now=2.0, begins=False) is None
    assert any_database.rows("experiment.assignments", {"experiment": "autumn"}) == []


def test_an_experiment_that_was_never_begun_enrols_nobody(any_database: Database) -> None:
    with pytest.raises(NotFound, match="'winter'"):
        enrol(any_database, "winter", "hermes:1", now=1.0)
