"""Which sessions are learned from, and which of their calls count as worked."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.example.mine.selection import (
    MinableSession,
    MiningOptions,
    choose,
    is_escalated,
    is_minable,
    minable,
    why_nothing,
    worked_calls,
)
from seasoned.outcome.track import JudgedCall, tracks
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store
from tests.example.sessions import NOW, bash, call, failed, session

GET = call("get", parcel_id="#P-00417")
BAD = failed("get", "no", parcel_id="#P-1")
PLAN = call("TodoWrite", todos=[])


@pytest.mark.parametrize(
    ("calls", "counted"),
    [
        ([call("get", "failed", _fault="user_declined"), call("get", "unclear", parcel_id="#P-1"), GET], (2,)),
        ([call("get", parcel_id="#P-1", _is_corrected=True), GET], (1,)),
        ([PLAN, call("think", thought="x"), call("Task", prompt="x"), call("Read", file_path="/a"), GET], (4,)),
        ([BAD, bash("pytest tests"), bash("pytest tests -x")], (1, 2)),
    ],
)
def test_only_calls_of_minable_tools_that_worked_count(calls: list[JudgedCall], counted: tuple[int, ...]) -> None:
    assert worked_calls(session("s", *calls)) == counted


def test_calls_with_rights_that_a_person_granted_are_known() -> None:
    assert is_escalated({"command": "x", "with_escalated_permissions": True})
    assert is_escalated({"command": "x", "sandbox_permissions": "require_escalated"})
    assert not is_escalated({"command": "x", "with_escalated_permissions": False})


def learned(store: Store, options: MiningOptions) -> list[MinableSession]:
    return choose(store, minable(store, options, NOW), options.max_sessions)


def scanned(samples: Path) -> Store:
    target = ScanTarget(None)
    scan(target, [samples], Secrecy(b"k" * 32), workers=1)
    return target.open()


def test_a_store_gives_the_sessions_that_qualify_and_no_others(samples: Path) -> None:
    with scanned(samples) as store:
        options = MiningOptions(min_messages=4, max_sessions=1000)
        found = {one.key for one in learned(store, options)}
        by_key = {str(track.ref): track for track in tracks(store)}
        assert len(found) > 30
        for key, track in by_key.items():
            counted = list(track.counted())
            is_good = bool(track.counts.ok) and track.counts.failed <= len(counted) / 2 and not counted[-1].has_failed
            is_finished = track.has_ended or track.ended is None or track.ended <= NOW - options.quiet_seconds
            is_fit = track.messages >= 4 and track.relation != "review" and is_finished
            assert (key in found) == (is_good and is_fit), key


def test_few_sessions_are_the_newest_that_know_a_tool_that_the_others_do_not(samples: Path) -> None:
    with scanned(samples) as store:
        few = learned(store, MiningOptions(min_messages=4, max_sessions=5, source="hermes"))
        assert len(few) == 5 and all(one.key.startswith("hermes:") for one in few)
        assert few[0] == minable(store, MiningOptions(min_messages=4, source="hermes"), NOW)[0]
        some = {one.row for one in learned(store, MiningOptions(min_messages=4, max_sessions=40))}
        every = {one.row for one in minable(store, MiningOptions(min_messages=4), NOW)}

        def tools(rows: set[int]) -> set[str]:
            found = (one for row in rows for one in store.rows("mining.tools_of", {"session_id": row}))
            return {one["tool"] for one in found if one["ok"] and is_minable(one["tool"])}

        assert tools(some) == tools(every)


def test_a_session_whose_source_says_that_the_task_was_not_done_is_left_out(samples: Path) -> None:
    with scanned(samples) as store:
        options = MiningOptions(min_messages=4, max_sessions=1000)
        some = learned(store, options)
        store.connection.execute("UPDATE session SET succeeded = 0 WHERE id = ?", [some[0].row])
        store.connection.execute("UPDATE session SET end_reason = 'api_error' WHERE id = ?", [some[1].row])
        assert {one.row for one in learned(store, options)} == {one.row for one in some[2:]}


def test_why_nothing_is_learned_names_the_place_that_was_asked_for(samples: Path) -> None:
    with scanned(samples) as store:
        said = why_nothing(store, MiningOptions(source="discord"), NOW)
        assert "did not come from 'discord'" in said and "lower minimum" not in said
