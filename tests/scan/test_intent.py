"""The words around calls."""

from __future__ import annotations

from seasoned.outcome.error_rate import corrects
from seasoned.redact import Redactor
from seasoned.scan.file_reader import FileReader
from seasoned.scan.intent import asks_leave, intents
from seasoned.session import Message, Session, SessionRef, ToolCall
from tests.each_case import each_case


def _session(*messages: Message) -> Session:
    return Session(SessionRef("test", "s"), "test", "f", messages)


def _call(name: str) -> Message:
    return Message("assistant", "", (ToolCall(name, "Bash", {}),))


def _found(*messages: Message) -> dict[str, str | None]:
    return {call.id: words for call, words, _ in intents(_session(*messages))}


def test_the_first_call_of_a_turn_follows_from_what_the_user_asked() -> None:
    found = _found(
        Message("user", "Fix the failing parser test"),
        Message("assistant", "I'll look at the test first.", (ToolCall("a", "Read", {}), ToolCall("b", "Read", {}))),
        Message("tool", "text", answers="a"),
        _call("c"),
        Message("assistant", "Now I run the tests again.", (ToolCall("d", "Bash", {}),)),
    )
    assert found == {
        "a": "Fix the failing parser test",
        "b": "Fix the failing parser test",
        "c": "I'll look at the test first.",
        "d": "Now I run the tests again.",
    }


def test_words_are_found_above_results_and_notes_of_programs() -> None:
    found = _found(
        Message("user", "Rename the module\n<system-reminder>be nice</system-reminder>"),
        Message("user", "<command-name>/clear</command-name>"),
        Message("user", "[Request interrupted by user]"),
        Message("user", "This session is being continued from a previous conversation", summary=True),
        _call("a"),
        Message("tool", "done", answers="a"),
        _call("b"),
    )
    assert found == {"a": "Rename the module", "b": "Rename the module"}


@each_case("assent", ["yes", "Yes, please go on.", "ok", "continue", "y", "Sounds good!", "Yes, that's correct."])
def test_assent_means_what_was_proposed(assent: str) -> None:
    found = _found(
        Message("user", "Where is order 12?"),
        Message("assistant", "I will look it up by your e-mail address."),
        Message("user", assent),
        _call("a"),
    )
    assert found == {"a": "I will look it up by your e-mail address."}


def test_a_call_that_leave_was_given_for_follows_from_no_words_until_some_are_said() -> None:
    long = "Here is what would change, line by line. " * 9
    found = _found(
        Message("user", "Cancel order 12"),
        Message("assistant", f"{long}Do you confirm this change? (yes/no)"),
        Message("user", "Yes, please."),
        _call("a"),
        _call("b"),
        Message("assistant", "Now I look at the other order.", (ToolCall("c", "Bash", {}),)),
    )
    assert found == {"a": None, "b": None, "c": "Now I look at the other order."}


def test_a_call_that_is_spelled_out_in_the_text_is_not_said() -> None:
    found = _found(
        Message("user", "Cancel my order"),
        _call("a"),
        Message("assistant", 'Action: {"name": "cancel_order"}', (ToolCall("b", "cancel_order", {}),)),
    )
    assert found == {"a": "Cancel my order", "b": "Cancel my order"}


@each_case(
    "words",
    [
        "I would move it to week 14. Do you confirm this change?",
        "Shall I go on?",
        "Would you like me to cancel it?",
        "That costs $12. Is that okay?",
        "Please confirm with yes so I can proceed.",
        "I'd then delete the old one. Ok to proceed?",
        "Proceed? (y/n)",
        "Do you want me to run it now? (yes/no)",
    ],
)
def test_a_question_for_leave_is_known(words: str) -> None:
    assert asks_leave(words)


@each_case(
    "words",
    [
        "Where is my parcel?",
        "Could you cancel my order?",
        "Can you fix the failing build?",
        "Can I return the shoes?",
        "What should I wear? Just kidding. Cancel the order.",
        "Add a test that asks whether to proceed.",
    ],
)
def test_other_questions_ask_for_no_leave(words: str) -> None:
    assert not asks_leave(words)


def test_what_a_warm_start_put_there_is_nobodys_intent() -> None:
    found = _found(Message("user", "shown", synthetic=True), _call("a"))
    assert found == {"a": None}


CORRECTIONS = [
    "No, that's not it. Use the other file.",
    "no, i meant the second one",
    "That's wrong, revert it",
    "Wait, that's not right.",
    "still not quite right",
    "I think you broke something: Traceback",
    "why did you delete the test?",
    "don't use sed for that",
    "it doesn't work",
    "undo that please",
    "I said tabs, not spaces",
    "The build still fails",
]
NO_CORRECTIONS = [
    "No.",
    "No, that's all. Thanks!",
    "no problem, go on",
    "###STOP###",
    "Yes, that's right",
    "Now add a test for it",
    "not sure what to do next, can you check?",
    "Stopwatch support would be nice",
    "normalise the paths",
    "Can you fix the failing build?",
    "There is no other way, so do it",
]


@each_case("text", CORRECTIONS)
def test_a_correction_is_recognised(text: str) -> None:
    assert corrects(text)


@each_case("text", NO_CORRECTIONS)
def test_other_words_are_no_correction(text: str) -> None:
    assert not corrects(text)


def test_corrections_are_named_by_their_message_and_not_by_programs() -> None:
    session = _session(
        Message("user", "Do it"),
        _call("a"),
        Message("user", "No, use the other one instead"),
        _call("b"),
        Message("user", "<note>wrong</note>"),
    )
    assert FileReader(Redactor(b"k" * 32)).rows(session).corrections == [2]
