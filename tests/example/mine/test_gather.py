"""Kinds of calls, the repairs that teach something, and the words that a call follows from."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from seasoned.example.mine.candidate import ExampleCandidate, gather, spoken, stems, vagueness, words_before
from seasoned.example.mine.selection import WorkedCalls
from seasoned.outcome.track import JudgedCall
from tests.each_case import each_case
from tests.example.sessions import SMALL, bash, call, failed, session

_GET = call("get", parcel_id="#P-00417")


def found(*calls: JudgedCall) -> list[ExampleCandidate]:
    return list(gather(WorkedCalls(session("s", *calls), SMALL), SMALL, "here"))


def kinds(*calls: JudgedCall) -> list[set[str]]:
    return [set(candidate.kinds) for candidate in found(*calls)]


def test_the_first_call_of_a_tool_that_worked_is_its_first_use() -> None:
    wrong = failed("get", "not found", parcel_id="#P-9")
    assert kinds(wrong, call("find", name="x"), _GET, _GET, call("other", a="b")) == [
        {"init"},
        {"init"},
        set(),
        {"init", "final"},
    ]


def test_the_last_call_closes_the_session_unless_it_only_looked() -> None:
    assert kinds(bash("make check"), bash("git push"))[-1] == {"final"}
    assert kinds(bash("make check"), bash("git status"))[-1] == set()
    assert kinds(_GET, call("Read", file_path="/a"))[-1] == {"init"}


def test_the_last_call_before_the_users_next_request_closes_its_turn() -> None:
    track = session(
        "s",
        _GET,
        call("get", parcel_id="#P-2"),
        call("get", parcel_id="#P-3", _intent="And another one, please, now."),
        _GET,
    )
    first, second, third, fourth = track.calls
    later = [msgspec.structs.replace(one, message=one.message + 2) for one in (third, fourth)]
    track = msgspec.structs.replace(track, calls=(first, second, *later))
    assert [set(one.kinds) for one in gather(WorkedCalls(track, SMALL), SMALL, "x")] == [
        {"init"},
        {"final"},
        set(),
        {"final"},
    ]


def test_a_repair_with_other_arguments_teaches() -> None:
    (candidate,) = found(failed("get", "no such parcel", parcel_id="P-00417"), _GET)
    assert "recovery" in candidate.kinds
    assert candidate.repair is not None
    assert candidate.failed is not None
    assert (candidate.repair.changed, candidate.failed.arguments) == (("parcel_id",), {"parcel_id": "P-00417"})
    assert candidate.is_rewritten


def test_a_repair_that_names_another_thing_in_the_same_manner_is_not_rewritten() -> None:
    (candidate,) = found(
        failed("book", "no seat", flight="HAT001", seat="aisle"), call("book", flight="HAT001", seat="window")
    )
    assert "recovery" in candidate.kinds
    assert not candidate.is_rewritten


def test_the_last_of_several_attempts_is_the_one_that_was_repaired() -> None:
    (candidate,) = found(failed("get", "no", parcel_id="P-00417"), failed("get", "no", parcel_id="#P00417"), _GET)
    assert candidate.failed is not None
    assert candidate.failed.arguments == {"parcel_id": "#P00417"}


@pytest.mark.parametrize(
    "calls",
    [
        # The same call once more: luck.
        (failed("get", "no", parcel_id="#P-00417"), _GET),
        # The machine's fault and not the call's.
        (call("get", "failed", parcel_id="P-00417", _fault="environment", _reason="timed out"), _GET),
        # An edit in between did.
        (
            bash("pytest tests/a.py", "failed", _reason="1 failed"),
            call("Edit", file_path="/tests/a.py", old_string="a = b", new_string="a = c"),
            bash("pytest tests"),
        ),
        # The program that complained is not run any more.
        (bash("go test ./x | grep -E '--- F'", "failed", _reason="grep: unrecognized option"), bash("go test ./x -v")),
    ],
)
def test_a_repair_that_the_call_did_not_make_teaches_nothing(calls: tuple[JudgedCall, ...]) -> None:
    assert all("recovery" not in one for one in kinds(*calls))


def words(text: str | None) -> str:
    return words_before(call("cancel_order", id="#W1", _intent=text))


def test_the_words_before_a_call_are_its_intent() -> None:
    assert words("Please cancel the order of mine.") == "Please cancel the order of mine."


@pytest.mark.parametrize("own", ["Look at it now.", "Yes, do it.", "ok", None])
def test_words_of_another_call_are_never_its_intent(own: str | None) -> None:
    asked = [call("cancel_order", id=f"#W{at}", _intent="I want to cancel my order #W1 today.") for at in range(3)]
    candidates = found(*asked, call("get_parcel", id="#P-1"), call("cancel_order", id="#W9", _intent=own))
    assert candidates[-1].intent == (own if own == "Look at it now." else "")


@each_case(
    "text",
    [
        "That first branch command tripped on the missing remote.",
        "investigate why CI failed",
        "Sorry, I used the wrong path there.",
        "That didn't work. Now with the other flag.",
        "The command returned an error about the id.",
        "I cannot find the order by its id.",
        "Fix the failing test. Sorry, my last edit broke it.",
    ],
)
def test_words_that_tell_of_a_failure_are_not_shown(text: str) -> None:
    assert words(text) == ""


@each_case(
    "text",
    [
        "Fix the failing test in parser.py",
        "Add error handling to the client.",
        "I received the wrong item and want another.",
        "Add the missing tests for weeks.",
    ],
)
def test_an_honest_request_is_shown(text: str) -> None:
    assert words(text) == text


def test_words_that_ask_for_leave_are_not_shown() -> None:
    assert words("I would move it to week 14. Do you confirm this change?") == ""
    assert words("Could you please cancel my order?") == "Could you please cancel my order?"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Bash", {"command": "bash -c 'rm -rf /srv/logs'"}),
        ("execute_code", {"code": "import shutil; shutil.rmtree('/srv/logs')"}),
        ("wipe_database", {"confirm": True}),
        ("deploy_production", {"service": "web"}),
    ],
)
def test_calls_that_a_person_must_decide_are_never_shown(tool: str, arguments: dict[str, Any]) -> None:
    assert [candidate.can_show for candidate in found(call(tool, **arguments))] == [False]


def test_conventions_of_a_domain_can_be_shown() -> None:
    assert all(one.can_show for one in found(call("cancel_pending_order", order_id="#W1"), bash("make check")))


@each_case(
    "text",
    [
        "Yes, that's perfect. Thank you for being so understanding!",
        "Ok, go ahead.",
        "Approved.",
        "LGTM, thanks!",
        'Action: {"name": "x", "arguments": {}}',
        "continue",
        "",
    ],
)
def test_assent_and_spelled_out_calls_are_no_words(text: str) -> None:
    assert spoken(text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Okay, I want to exchange a keyboard.", "I want to exchange a keyboard."),
        ("Thought:\nI need to look up the order.\nAction:\n{}", "I need to look up the order."),
        ("Good question. Let me trace it.", "Good question. Let me trace it."),
        ("取消我的订单，然后退款给我，谢谢你。", "取消我的订单，然后退款给我，谢谢你。"),
    ],
)
def test_what_is_left_without_assent_and_calls_are_words(text: str, words: str) -> None:
    assert spoken(text) == words


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("Cancel my order.", 0),
        ("There is a thing that I would like to have done.", 1),
        ("Cancel the order 123456.", 2),
        ("Look at it.", 2),
        ("", 3),
    ],
)
def test_how_little_words_say_about_a_call(words: str, level: int) -> None:
    assert vagueness(words, stems("cancel_order"), '{"id":"#W0000001"}') == level
