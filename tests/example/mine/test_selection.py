"""Which sessions are learned from, and which of their calls count as worked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.example.mine.selection import (
    MinableSession,
    MiningOptions,
    WorkedCalls,
    choose,
    is_escalated,
    is_whole,
    minable,
    refusal,
    select,
)
from seasoned.outcome.track import JudgedCall, tracks
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store
from tests.example.sessions import NOW, SMALL, bash, call, failed, session

READ = call("Read", file_path="/p/a.py")


def qualified(store: Store, options: MiningOptions) -> list[MinableSession]:
    return choose(store, minable(store, options, NOW), options.max_sessions)


def worked(*calls: JudgedCall) -> tuple[int, ...]:
    return WorkedCalls(session("s", *calls), SMALL).positions


BAD = failed("Read", "no", file_path="/p/x")
PLAN = call("TodoWrite", todos=[])
ANY = MiningOptions(min_messages=1)


@pytest.mark.parametrize(
    ("options", "calls", "facts", "reason"),
    [
        (MiningOptions(), [READ], {"messages": 30}, None),
        (MiningOptions(), [READ], {"messages": 29}, "too short"),
        (MiningOptions(min_messages=1, agent="codex"), [READ], {}, "another agent's"),
        (MiningOptions(min_messages=1, task_type="code"), [READ], {"task_type": "file"}, "another task type"),
        (ANY, [BAD, BAD, READ], {}, "too many errors"),
        (ANY, [BAD, READ], {}, None),
        (ANY, [PLAN], {}, "nothing worked"),
        (ANY, [READ, BAD, PLAN], {}, "ended in an error"),
        (ANY, [READ], {"ended": NOW - 3599}, "not finished"),
        (ANY, [READ], {"ended": NOW - 3601}, None),
        (ANY, [READ], {"ended": None}, None),
        (ANY, [READ], {"relation": "review"}, "a review"),
        (ANY, [READ], {"relation": "subagent"}, None),
    ],
)
def test_why_a_session_is_not_learned_from(
    options: MiningOptions, calls: list[JudgedCall], facts: dict[str, Any], reason: str | None
) -> None:
    assert refusal(session("s", *calls, **facts), options, NOW) == reason


@pytest.mark.parametrize(
    ("calls", "counted"),
    [
        ([call("Edit", "failed", _fault="user_declined"), call("Read", "unclear", file_path="/p"), READ], (2,)),
        ([call("Read", file_path="/p/a.py", _is_corrected=True), READ], (1,)),
        ([PLAN, call("think", thought="x"), call("Task", prompt="x"), READ], (3,)),
        ([call("Edit", file_path="/p/a", old_string="a b c d", new_string="e f g h", _result="")], (0,)),
        ([call("Grep", pattern="handler"), call("Grep", pattern="def handler")], (1,)),
        ([call("Grep", pattern="handler"), call("Grep", pattern="carrier")], (0, 1)),
        ([call("Grep", pattern="handler"), BAD, call("Grep", pattern="def handler")], (0, 2)),
        (
            [call("book", flight="HAT001", seat="window", day=1), call("book", flight="HAT001", seat="aisle", day=1)],
            (1,),
        ),
        ([READ, call("Read", file_path="/p/a.py", offset=200)], (0, 1)),
        ([bash("pytest tests"), bash("pytest tests -x")], (0, 1)),
        ([bash("git commit -m one"), bash("git commit --amend -m two")], (1,)),
    ],
)
def test_only_calls_that_worked_and_were_not_redone_count(calls: list[JudgedCall], counted: tuple[int, ...]) -> None:
    assert worked(*calls) == counted


@pytest.mark.parametrize(
    ("tool", "result"),
    [("Grep", "No matches found"), ("Glob", "No files found"), ("get_orders", "[]"), ("Read", ""), ("lookup", "null")],
)
def test_a_call_that_brought_nothing_is_no_success_worth_showing(tool: str, result: str) -> None:
    assert worked(call(tool, pattern="x", _result=result), READ) == (1,)


@pytest.mark.parametrize(
    "result",
    [
        "ls: /x: No such file or directory",
        "error: pathspec did not match",
        "Traceback (most recent call last):\n",
        "--- FAIL: TestX (0.0s)\nok",
        "Chunk ID: 1\nProcess running with session ID 7\n",
    ],
)
def test_a_command_whose_complaint_a_pipe_let_through_has_not_worked(result: str) -> None:
    assert worked(bash("make x | head -3", _result=result), READ) == (1,)


def test_a_second_edit_of_what_the_first_one_wrote_makes_the_first_one_redone() -> None:
    first = call("Edit", file_path="/p/a", old_string="value = one()", new_string="value = two()")
    again = call("Edit", file_path="/p/a", old_string="value = two()", new_string="value = three()")
    elsewhere = call("Edit", file_path="/p/a", old_string="import os and sys", new_string="import os")
    assert worked(first, again) == (1,)
    assert worked(first, elsewhere) == (0, 1)
    assert worked(first, call("Edit", file_path="/p/b", old_string="value = two()", new_string="x = 1")) == (0, 1)


def test_what_is_done_again_much_later_is_not_redone() -> None:
    reads = [call("Read", file_path=f"/p/{number}") for number in range(8)]
    assert 0 in worked(call("Grep", pattern="handler"), *reads, call("Grep", pattern="def handler"))


def test_arguments_that_were_cut_are_not_whole() -> None:
    assert is_whole(READ)
    assert not is_whole(call("Write", file_path="/p", content="abc … [900 characters]"))
    assert not is_whole(call("x", rows=[{"a": "abc … [900 characters]"}]))
    assert is_whole(call("Write", file_path="/p", content="it said … [9 characters] and went on"))


def test_calls_with_rights_that_a_person_granted_are_known() -> None:
    assert is_escalated({"command": "x", "with_escalated_permissions": True})
    assert is_escalated({"command": "x", "sandbox_permissions": "require_escalated"})
    assert not is_escalated({"command": "x", "with_escalated_permissions": False})


def experience(key: str, *tools: tuple[str, int, int], **facts: Any) -> MinableSession:
    return MinableSession(key, facts.get("root", key), facts.get("source", "test"), tools, facts.get("ended"))


def test_a_session_with_a_tool_that_no_other_has_is_preferred() -> None:
    alike = [experience(f"s{number}", ("Read", 3, 0), ended=NOW - number) for number in range(4)]
    chosen = select([*alike, experience("rare", ("Read", 1, 0), ("deploy", 1, 0), ended=1.0)], 2)
    assert "rare" in {one.key for one in chosen}


def test_a_session_in_which_a_tool_failed_and_worked_is_preferred() -> None:
    smooth = [experience(f"s{number}", ("Read", 9, 0), ended=NOW - number) for number in range(4)]
    assert select([*smooth, experience("mended", ("Read", 1, 1), ended=1.0)], 1)[0].key == "mended"


def test_of_equally_good_sessions_the_newest_is_chosen() -> None:
    assert select([experience(f"s{day}", ("Read", 1, 0), ended=float(day)) for day in range(5)], 1)[0].key == "s4"


def test_many_sessions_of_one_folder_do_not_take_all_places() -> None:
    many = [experience(f"p{at:03}", ("Read", 9, 1), source="planted", ended=NOW - at) for at in range(600)]
    few = [experience(f"o{at}", ("Read", 9, 1), source="own", ended=1.0) for at in range(10)]
    chosen = select([*many, *few], 20)
    assert sum(one.source == "own" for one in chosen) >= 8


def test_many_sessions_of_one_lineage_do_not_take_all_places() -> None:
    many = [experience(f"f{at}", ("Read", 9, 1), root="fork", ended=NOW - at) for at in range(50)]
    chosen = select([*many, *[experience(f"o{at}", ("Read", 1, 0)) for at in range(5)]], 8)
    assert sum(one.root != "fork" for one in chosen) >= 4


@given(st.randoms(use_true_random=False))
def test_the_order_of_sessions_does_not_matter_for_the_choice(random: Any) -> None:
    some = [experience(f"s{at}", ("Read", at, at % 3), (f"t{at % 4}", 1, 0), ended=float(at % 5)) for at in range(12)]
    mixed = list(some)
    random.shuffle(mixed)
    assert select(mixed, 5) == select(some, 5)


def test_a_store_gives_the_sessions_that_qualify_and_no_others(samples) -> None:
    target = ScanTarget(None)
    scan(target, [samples], Secrecy(b"k" * 32), workers=1)
    with target.open() as store:
        options = MiningOptions(min_messages=4, max_sessions=1000)
        found = {one.key for one in qualified(store, options)}
        by_track = {str(track.ref) for track in tracks(store) if refusal(track, options, NOW) is None}
        assert found == by_track
        assert len(found) > 30
        few = qualified(store, msgspec.structs.replace(options, max_sessions=5, agent="hermes"))
        assert len(few) == 5
        assert all(one.key.startswith("hermes:") for one in few)


def test_a_session_whose_source_says_that_the_task_was_not_done_is_left_out(samples) -> None:
    target = ScanTarget(None)
    scan(target, [samples], Secrecy(b"k" * 32), workers=1)
    with target.open() as store:
        options = MiningOptions(min_messages=4, max_sessions=1000)
        some = qualified(store, options)
        store.connection.execute("UPDATE session SET succeeded = 0 WHERE id = ?", [some[0].row])
        store.connection.execute("UPDATE session SET end_reason = 'api_error' WHERE id = ?", [some[1].row])
        assert {one.row for one in qualified(store, options)} == {one.row for one in some[2:]}
        more = qualified(store, msgspec.structs.replace(options, allow_unsuccessful=True))
        assert {one.row for one in more} == {one.row for one in some} - {some[1].row}
