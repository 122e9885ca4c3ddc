"""Assignment on every database: one arm a session for good, whoever asks and wherever it is kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.errors import NotFound, UsageError
from seasoned.experiment.live import live_session
from seasoned.experiment.live.assignment import (
    ArmShare,
    assign_logged,
    keep_split,
    load_split,
    log_exposure,
    new_split,
)
from seasoned.experiment.live.live_report import list_live, live_report
from seasoned.experiment.live.live_session import load_live
from seasoned.store import Database, Store, open_database, open_store
from tests.experiment.stored import add_call, add_session

SESSIONS = [f"hermes:{number:03d}" for number in range(60)]
HALVES = new_split("e", [ArmShare("cold"), ArmShare("warm")], salt="s1")


def test_the_newest_split_is_in_force_and_an_unknown_one_is_named(any_database: Database) -> None:
    changed = new_split("e", [ArmShare("cold"), ArmShare("warm", 3)], salt="s1")
    for split, now in ((HALVES, 1.0), (changed, 2.0), (HALVES, 3.0)):
        keep_split(any_database, split, now=now)
        assert load_split(any_database, "e") == split
    with pytest.raises(NotFound, match="'e'"):
        load_split(any_database, "other")


def test_a_logged_session_keeps_its_arm_when_weights_change(any_database: Database) -> None:
    first = [assign_logged(any_database, HALVES, session, now=1.0) for session in SESSIONS]
    changed = new_split("e", [ArmShare("cold"), ArmShare("warm", 50)], salt="s1")
    assert [assign_logged(any_database, changed, session, now=2.0) for session in SESSIONS] == first
    rows = any_database.rows("experiment.assignments", {"experiment": "e"})
    assert len(rows) == len(SESSIONS) and {row["at"] for row in rows} == {1.0}


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
