"""Assignment: by chance, always the same, in the shares asked for, and logged apart from what was shown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.errors import NotFound, UsageError
from seasoned.experiment.live import live_session
from seasoned.experiment.live.assignment import (
    ArmShare,
    Split,
    assign,
    assign_logged,
    enrol,
    keep_split,
    load_split,
    log_exposure,
    new_split,
    sample_ratio,
    shown_by,
)
from seasoned.experiment.live.live_report import list_live, live_report
from seasoned.experiment.live.live_session import load_live
from seasoned.store import Database, Store, open_database, open_store
from tests.each_case import each_case
from tests.experiment.stored import add_call, add_session

SESSIONS = [f"hermes:{number:05d}" for number in range(6000)]
HALVES = new_split("e", [ArmShare("cold"), ArmShare("warm")], salt="s1")


def _arms(split: Split, sessions: list[str] = SESSIONS) -> dict[str, str]:
    found = [assign(split, session) for session in sessions]
    return {one.session: one.arm for one in found if one is not None}


def _count(arms: dict[str, str]) -> dict[str, int]:
    return {arm: list(arms.values()).count(arm) for arm in dict.fromkeys(arms.values())}


def test_the_arm_is_the_same_in_every_process_and_version() -> None:
    # Written down: a change of the hash would move every running conversation into another arm.
    assert "".join([arm[0] for arm in list(_arms(HALVES).values())[:40]]) == "wcwcwcccccwwwwcccccccccwwcwwwwcwcwwwwwcw"


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


def test_the_newest_split_is_in_force_and_an_unknown_one_is_named(any_database: Database) -> None:
    changed = new_split("e", [ArmShare("cold"), ArmShare("warm", 3)], salt="s1")
    for split, now in ((HALVES, 1.0), (changed, 2.0), (HALVES, 3.0)):
        keep_split(any_database, split, now=now)
        assert load_split(any_database, "e") == split
    with pytest.raises(NotFound, match="'e'"):
        load_split(any_database, "other")


def test_a_logged_session_keeps_its_arm_when_weights_change(any_database: Database) -> None:
    first = [assign_logged(any_database, HALVES, session, now=1.0) for session in SESSIONS[:60]]
    changed = new_split("e", [ArmShare("cold"), ArmShare("warm", 50)], salt="s1")
    assert [assign_logged(any_database, changed, session, now=2.0) for session in SESSIONS[:60]] == first
    rows = any_database.rows("experiment.assignments", {"experiment": "e"})
    assert len(rows) == 60 and {row["at"] for row in rows} == {1.0}


def test_exposure_is_logged_apart_and_once(any_database: Database) -> None:
    for session in ("a:1", "a:2"):
        assign_logged(any_database, HALVES, session, now=1.0)
    log_exposure(any_database, "e", "a:1", arm="warm", example_ids=["x", "y"], now=2.0)
    log_exposure(any_database, "e", "a:1", arm="cold", example_ids=[], now=3.0)
    one, other = any_database.rows("experiment.assignments", {"experiment": "e"})
    assert (one["exposed_arm"], one["exposed_at"], one["example_ids"]) == ("warm", 2.0, '["x","y"]')
    assert other["exposed_at"] is None


def test_many_writers_at_once_log_each_session_once(database_config: Config) -> None:
    def work(seed: int) -> list[str]:
        # Everyone would divide in another way: only the first to come is heard.
        split = new_split("e", HALVES.arms, salt=f"salt {seed}")
        database = open_database(database_config)
        found = [assign_logged(database, split, session, now=float(seed)) for session in SESSIONS[:20]]
        database.close()
        return [f"{one.arm} {one.split}" for one in found if one is not None]

    open_database(database_config).close()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(work, range(4)))
    assert len(answers[0]) == 20
    assert all(one == answers[0] for one in answers)


def _history(path: Path, counts: dict[str, tuple[int, int]]) -> Store:
    """A store whose sessions made these calls: so many that went well, so many that failed, one of each too late."""
    store = open_store(path)
    for session, (ok, failed) in counts.items():
        row = add_session(store, session)
        kinds = [("ok", 2.0)] * ok + [("failed", 3.0)] * failed + [("ok", 900.0), ("failed", 900.0)]
        for number, (kind, time) in enumerate(kinds):
            add_call(store, row, number, kind, time)
    return store


def test_outcomes_come_from_the_histories_of_this_machine(
    any_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_session, "WINDOW_SECONDS", 500.0)
    counts = {session: (2, number % 3) for number, session in enumerate(SESSIONS[:30])}
    for session in counts:
        assign_logged(any_database, HALVES, session, now=1.0)
    assign_logged(any_database, HALVES, "hermes:never-recorded", now=1.0)
    with _history(tmp_path / "history.db", counts) as history:
        keep_split(any_database, HALVES, now=1.0)
        found = load_live(any_database, HALVES, now=1000.0, history=history)
        report = live_report(any_database, "e", now=1000.0, history=history)
    assert {one.session: (one.ok, one.failed) for one in found} == {**counts, "hermes:never-recorded": (0, 0)}
    assert sum(arm.measured for arm in report.arms) == 30
    assert (report.sessions, report.verdict) == (31, "nothing shown")
    (line,) = list_live(any_database)
    assert (line.name, line.sessions, line.began_at) == ("e", 31, 1.0)


def test_a_database_without_histories_is_not_taken_for_one_where_nothing_happened(postgres_url: str) -> None:
    database = open_database(Config(home=Path(), database_url=postgres_url))
    with pytest.raises(UsageError, match="Give the store"):
        load_live(database, HALVES, now=1000.0)
    database.close()


ARMS = ("plain", "cold", "cold-again", "warm", "template:parcels")
AUTUMN = new_split("autumn", [ArmShare(arm) for arm in ARMS], salt="s")
SHOWN = {"warm": "", "template:parcels": "parcels"}


@each_case("arm", ARMS)
def test_the_control_and_cold_arms_show_nothing(arm: str) -> None:
    assert shown_by(AUTUMN, arm) == SHOWN.get(arm)


def test_each_conversation_is_told_its_arm_what_that_shows_and_the_control_what_it_forgoes(
    any_database: Database,
) -> None:
    keep_split(any_database, AUTUMN, now=1.0)
    found = [enrol(any_database, "autumn", session, now=2.0) for session in SESSIONS[:80]]
    assert {one.arm for one in found if one is not None} == {*ARMS}
    for one in found:
        assert one is not None
        assert (one.is_warm, one.template) == (one.arm in SHOWN, SHOWN.get(one.arm))
        assert one.foregone == (SHOWN if one.arm == "plain" else {})
    again = [enrol(any_database, "autumn", session, now=3.0, begins=False) for session in SESSIONS[:80]]
    assert [(one.arm, one.template) for one in again if one] == [(one.arm, one.template) for one in found if one]


def test_who_is_under_way_is_not_drawn_into_an_experiment(any_database: Database) -> None:
    keep_split(any_database, AUTUMN, now=1.0)
    assert enrol(any_database, "autumn", "hermes:late", now=2.0, begins=False) is None
    assert any_database.rows("experiment.assignments", {"experiment": "autumn"}) == []


def test_an_experiment_that_was_never_begun_enrols_nobody(any_database: Database) -> None:
    with pytest.raises(NotFound, match="'winter'"):
        enrol(any_database, "winter", "hermes:1", now=1.0)
