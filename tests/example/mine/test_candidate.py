"""Which calls show something, the repairs that teach, the words before a call, and who stands for a group."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.example.mine.miner import CandidateGroup, ExampleCandidate, best_first, gather, group
from seasoned.example.neutral import shown_intent
from seasoned.lesson.lesson import Lesson
from seasoned.outcome.track import JudgedCall, Track
from tests.each_case import each_case
from tests.example.sessions import bash, call, failed, session

_GET = call("get", parcel_id="#P-00417")
_WRONG = failed("get", "no such parcel", parcel_id="P-00417")


def found(*calls: JudgedCall, lesson: tuple[str, str] | None = None) -> list[ExampleCandidate]:
    return gather([session("s", *calls)], {}, {"": [] if lesson is None else [Lesson("command", *lesson)]})


def groups(*tracks: Track) -> list[CandidateGroup]:
    return group(gather(tracks, {}, {}), {})


@each_case(
    "unfit",
    [
        call("WebSearch", query="#P-1 price"),
        call("web_fetch", url="docs/a.md"),
        call("Grep", pattern="#P-1"),
        call("Read", file_path="/a/b.py"),
        call("Edit", file_path="/a/b.py", old_string="a", new_string="b"),
        call("Write", file_path="/a/b.py", content="x"),
        call("execute_code", code="print(1)"),
        call("delegate_task", goal="#P-1"),
        call("collaboration__spawn_agent", task_name="a_b"),
        call("TodoWrite", todos=["#P-1"]),
        call("job", run="3f2504e0-4f89-11d3-9a0c-0305e82c3301"),
        call("status"),
        call("greet", name="Ada"),
        bash("make odd"),
        bash("git rebase --abort"),
    ],
)
def test_what_shows_no_later_session_how_a_tool_is_called_is_left_out(unfit: JudgedCall) -> None:
    assert [one.call.tool for one in found(unfit, _GET)] == ["get"]


def test_plain_arguments_are_shown_of_a_tool_that_sessions_get_wrong() -> None:
    wrong = failed("greet", "unknown: ada", name="#ada")
    assert [one.call.raw_arguments for one in found(wrong, call("greet", name="Ada"))] == ['{"name":"Ada"}']


def test_a_shell_shows_the_commands_that_are_lessons_as_the_lesson_says_them() -> None:
    run = bash("cd /a && mise run test 2>&1 | tail -3")
    (one,) = found(run, bash("ls"), lesson=("mise run test", "mise run test"))
    assert one.arguments == {"command": "mise run test"}
    assert found(run, lesson=("mise run lint", "mise run lint")) == []
    assert found(run, lesson=("mise run test", "mise run test …")) == []


def test_a_repair_with_other_arguments_teaches_and_of_several_attempts_the_last_is_what_it_repaired() -> None:
    (one,) = found(_WRONG, failed("get", "no", parcel_id="#P00417"), _GET)
    assert one.repair is not None and one.failed is not None
    assert (one.repair.changed, one.failed.arguments) == (("parcel_id",), {"parcel_id": "#P00417"})
    assert one.is_rewritten


def test_a_repair_that_names_another_thing_in_the_same_manner_is_not_rewritten() -> None:
    (one,) = found(failed("book", "no seat", flight="HAT001", seat="C-1"), call("book", flight="HAT001", seat="C-2"))
    assert one.repair is not None and not one.is_rewritten


@pytest.mark.parametrize(
    "calls",
    [
        # The same call once more: luck.
        (failed("get", "no", parcel_id="#P-00417"), _GET),
        # The machine's fault and not the call's.
        (call("get", "failed", parcel_id="P-00417", _fault="environment", _reason="timed out"), _GET),
    ],
)
def test_a_repair_that_the_call_did_not_make_teaches_nothing(calls: tuple[JudgedCall, ...]) -> None:
    assert [one.repair for one in found(*calls)] == [None]


def words(text: str | None) -> str:
    (one,) = found(call("cancel_order", id="#W1", _intent=text))
    return one.intent


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
        "I would move it to week 14. Do you confirm this change?",
        "Yes, that's perfect. Thank you!",
        "Ok, go ahead.",
        "Approved.",
        "LGTM, thanks!",
        'Action: {"name": "x", "arguments": {}}',
        "continue",
        "",
    ],
)
def test_failures_assent_and_calls_are_no_words(text: str) -> None:
    assert words(text) == ""


@each_case(
    ("text", "shown"),
    [
        ("Please cancel the order of mine.", "Please cancel the order of mine."),
        ("Fix the failing test in parser.py", "Fix the failing test in parser.py"),
        ("Add error handling to the client.", "Add error handling to the client."),
        ("I received the wrong item and want another.", "I received the wrong item and want another."),
        ("Could you please cancel my order?", "Could you please cancel my order?"),
        ("Okay, I want to exchange a keyboard.", "I want to exchange a keyboard."),
        ("Thought:\nI need to look up the order.\nAction:\n{}", "I need to look up the order."),
        ("Good question. Let me trace it.", "Good question. Let me trace it."),
        ("取消我的订单，然后退款给我，谢谢你。", "取消我的订单，然后退款给我，谢谢你。"),
    ],
)
def test_an_honest_request_is_shown_without_assent_and_calls(text: str, shown: str) -> None:
    assert shown_intent(text) == shown


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("find", {"email": "[redacted:email:12345678]"}),
        ("find", {"text": "abc … [900 characters]", "id": "#P-1"}),
        ("find", {"id": "#P-1", "rows": ["x"] * 400}),
        ("find", {"id": "#P-1", "with_escalated_permissions": True}),
    ],
)
def test_calls_that_are_incomplete_or_asked_for_more_rights_are_never_shown(
    tool: str, arguments: dict[str, Any]
) -> None:
    assert group(found(call(tool, **arguments)), {}) == []


def test_support_counts_lineages_and_not_calls() -> None:
    look = [session("a", _GET, _GET), session("b", _GET), session("c", _GET, root="b")]
    (one,) = groups(*look)
    assert (one.support, one.kind) == (2, "sequence")


def test_a_recovery_stands_for_its_group() -> None:
    plain = session("a", call("get", parcel_id="#P-00001"), day=1)
    (one,) = groups(plain, session("b", _WRONG, _GET, day=9))
    assert (one.kind, one.support) == ("recovery", 2)
    assert best_first(one, {})[0].track.ref.native_id == "b"


def test_of_equal_calls_the_newest_comes_first_then_the_lineage_that_supplied_less_and_one_with_words_always() -> None:
    (one,) = groups(session("a", _GET, day=1), session("b", _GET, day=9))
    assert [each.track.root for each in best_first(one, {})] == ["a", "b"]
    assert [each.track.root for each in best_first(one, {"a": 1})] == ["b", "a"]
    silent = session("a", call("get", parcel_id="#P-2", _intent="Go."), day=1)
    (one,) = groups(silent, session("b", _GET, day=9))
    assert [each.track.root for each in best_first(one, {"b": 1})] == ["b", "a"]


def test_every_tool_gets_one_example_before_any_gets_a_second_those_that_fail_most_first() -> None:
    calls = [call("a", id="#P-1"), call("a", path="/x"), call("b", id="#P-1"), call("b", path="/y")]
    tracks = [session(name, *calls) for name in "xy"]
    assert [one.tool for one in group(gather(tracks, {}, {}), {"b": 3})] == ["b", "a", "b", "a"]


def test_support_beyond_a_few_lineages_buys_no_better_place() -> None:
    wide = [session(f"w{at}", call("t", path="/x"), call("t", id="#P-1"), day=1) for at in range(5)]
    wider = [session(f"v{at}", call("t", path="/x"), day=9) for at in range(50)]
    assert [one.support for one in groups(*wide, *wider)] == [5, 55]


def test_each_project_has_its_own_examples() -> None:
    assert [one.support for one in groups(session("a", _GET, project="shop"), session("b", _GET, project="bank"))] == [
        1,
        1,
    ]
