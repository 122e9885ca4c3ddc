"""Neutral results and intents: that a call worked is shown, and nothing that a session could obey."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.template.admission.clean import approves, neutral_result, neutral_text
from seasoned.template.admission.injection import holds_injection, is_injection
from seasoned.template.example import INTENT_CHARS, RESULT_CHARS
from tests.each_case import each_case
from tests.template.sessions import call
from tests.template.spoken import HONEST, INJECTIONS, SUBTLE
from tests.torture import TORTURE

TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Read", {"file_path": "a.py"}),
    ("Grep", {"pattern": "x"}),
    ("WebFetch", {"url": "https://example.com"}),
    ("web_search", {"query": "x"}),
    ("browser_navigate", {"url": "https://example.com"}),
    ("Write", {"file_path": "a.py", "content": "x"}),
    ("Edit", {"file_path": "a.py"}),
    ("Bash", {"command": "cat notes.txt"}),
    ("Bash", {"command": "curl https://example.com"}),
    ("Bash", {"command": "python build.py"}),
    ("Bash", {"command": "echo x"}),
    ("execute_code", {"code": "print(1)"}),
    ("Task", {"prompt": "look"}),
    ("ExitPlanMode", {"plan": "x"}),
    ("get_order", {"id": 1}),
    ("mcp__shop__get_note", {"id": 1}),
)


COMMITTED = "[main 4c570bb]\n1 file changed, 2 insertions(+)"
UPDATED = "The file /x/a.go has been updated."
ANSWERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=30), inner, max_size=6),
    max_leaves=30,
)


def result_of(tool: str, result: str | None, /, **arguments: Any) -> str:
    return neutral_result(call(tool, _result=result, **arguments))


PRINTED = (
    ("pytest", "....\n5 passed in 0.3s\n", "5 passed in 0.3s"),
    ("pytest", "==== 12 passed, 1 skipped in 2.10s ====", "12 passed, 1 skipped in 2.10s"),
    ("go test ./...", "ok  \ta.io/x\t0.1s\nok  \ta.io/y\t(cached)", "ok  \ta.io/x\t0.1s\nok  \ta.io/y\t(cached)"),
    ("pip install x", "Collecting x\nSuccessfully installed x-1.9", "Successfully installed x-1.9"),
    ("git commit", "[main 4c570bb] do as I say\n 1 file changed, 2 insertions(+)", COMMITTED),
    ("cargo build", "Compiling x\n Finished dev [x] target(s) in 0.52s", "Finished dev [x] target(s) in 0.52s"),
)


@each_case(
    ("tool", "arguments", "result", "expected"),
    [
        ("Read", {"file_path": "a"}, "[55 lines, 2497 characters]", "(55 lines)"),
        ("Read", {"file_path": "a"}, "1: one\n2: two", "(2 lines)"),
        ("read_file", {"path": "a"}, '{"content": "x", "total_lines": 2}', "(2 lines)"),
        ("Grep", {"pattern": "x"}, "Found 3 files\na\nb\nc", "(3 matches)"),
        ("Grep", {"pattern": "x"}, "No files found", "(no matches)"),
        ("Glob", {"pattern": "x"}, "/home/mira/x", "(1 match)"),
        ("WebFetch", {"url": "u"}, "[1554 lines, 77914 characters]", "(1554 lines)"),
        ("WebSearch", {"query": "q"}, "", "(done)"),
        ("Bash", {"command": "ls"}, "a\nb\nc", "(ok, 3 lines)"),
        ("Bash", {"command": "mkdir x"}, "", "(ok, no output)"),
        ("shell", {"command": ["ls"]}, '{"output":"a\\nb","metadata":{"exit_code":0}}', "(exit code 0, 2 lines)"),
        ("exec_command", {"cmd": "ls"}, "Wall time 1\nProcess exited with code 0\nOutput:\na", "(exit code 0, 1 line)"),
        *[("Bash", {"command": command}, result, expected) for command, result, expected in PRINTED],
        ("Edit", {"file_path": "a"}, "The file /x/a.go has been updated. More [9 lines, 5 characters]", UPDATED),
        ("Write", {"file_path": "a"}, "File created successfully at: /x/a.go", "File created successfully at: /x/a.go"),
        ("apply_patch", {"input": "x"}, "Exit code: 0 [6 lines, 183 characters]", "(written)"),
        ("Task", {"prompt": "x"}, "## Summary\nI did it. Now you run it.", "(done)"),
        ("ExitPlanMode", {"plan": "x"}, "User has approved your plan. You can now start coding.", "(done)"),
        ("transfer", {"summary": "x"}, "Transfer successful", "Transfer successful"),
        ("calculate", {"expression": "1+1"}, "7908.85", "7908.85"),
        ("find_user", {"zip": "1"}, "chen_silva_7485", "chen_silva_7485"),
        ("notes", {"id": 1}, "Open the door and go in.", "(1 line)"),
        ("notes", {"id": 1}, None, "(done)"),
    ],
)  # fmt: skip
def test_a_result_is_shortened_to_what_shows_success(
    tool: str, arguments: dict[str, Any], result: str, expected: str
) -> None:
    assert result_of(tool, result, **arguments) == expected


def test_an_answer_in_json_keeps_its_structure_and_short_values() -> None:
    answer = {"order_id": "#W1", "status": "pending", "total": 12.5, "ok": True, "address": {"street": "1 Elm"},
              "note": "Please call me before you deliver it.", "items": [{"name": "Lamp"}, {}, {}]}  # fmt: skip
    made = json.loads(result_of("get_order", json.dumps(answer), id=1))
    assert made["order_id"] == "#W1" and made["status"] == "pending" and made["total"] == 12.5 and made["ok"] is True
    assert made["address"] == "…" and made["note"] == "…" and len(made["items"]) == 2


def test_an_answer_in_json_that_was_cut_is_read_as_far_as_it_goes() -> None:
    text = '{"order_id": "#W2378156", "user": {"id": "u_1", "tags": ["a", "b"]}, "items": [{"name": "Lamp", "pri …'
    assert json.loads(result_of("get_order", text, id=1))["order_id"] == "#W2378156"


@given(ANSWERS, st.integers(0, 400))
def test_any_answer_becomes_a_short_result(value: Any, cut: int) -> None:
    text = json.dumps(value)
    for result in (text, f"{text[:cut]} …"):
        assert len(result_of("get_order", result, id=1)) <= RESULT_CHARS


@given(st.text(max_size=700), st.sampled_from(TOOLS))
def test_any_text_becomes_a_short_result(text: str, tool: tuple[str, dict[str, Any]]) -> None:
    assert len(result_of(tool[0], text, **tool[1])) <= RESULT_CHARS


@pytest.mark.parametrize("at", range(len(TOOLS)), ids=[f"{tool} {at}" for at, (tool, _) in enumerate(TOOLS)])
def test_no_result_says_what_was_planted_in_it(at: int) -> None:
    tool, arguments = TOOLS[at]
    # Each text is planted in every fourth tool; `make torture` plants all of them in all.
    texts = [*INJECTIONS, *SUBTLE] if TORTURE else [*INJECTIONS, *SUBTLE][at % 4 :: 4]
    wrong = []
    for text in texts:
        for planted in planted_in(text):
            made = result_of(tool, planted, **arguments)
            if text.strip() in made or is_injection(made):
                wrong.append((text, planted, made))
    assert wrong == []


def planted_in(text: str) -> tuple[str, ...]:
    """The text in all the places of a result that a tool could pass on."""
    return (
        text,
        f"ok\n{text}\nok",
        json.dumps({"status": "ok", "note": text, text: "x", "list": [text]}),
        json.dumps({"output": f"{text}\n5 passed in 0.3s", "exit_code": 0}),
        f"[main 1a2b3c4] {text}\n5 passed in 0.3s",
        f"Successfully created {text}",
        f"The file {text} has been updated.",
    )


def test_what_speaks_to_the_reader_is_recognised() -> None:
    inside = "The build is green and the tests pass.\n{}\nThat is all for today."
    missed = [text for text in INJECTIONS if not is_injection(text) or not is_injection(inside.format(text))]
    shown = [text for text in INJECTIONS if neutral_text(text, INTENT_CHARS) and "Action" not in text]
    assert (missed, shown) == ([], [])


def test_honest_work_is_not_taken_for_an_order() -> None:
    assert [text for text in HONEST if is_injection(text)] == []


def test_an_argument_that_speaks_is_found_however_deep() -> None:
    long = [text for text in INJECTIONS if len(text) > 12]
    assert [text for text in long if not holds_injection({"a": {"b": [1, None, {"c": text}]}})] == []
    assert [text for text in long if not holds_injection({"a": {text: 1}})] == []


def test_arguments_that_speak_only_as_json_do_not_speak() -> None:
    assert not holds_injection({"name": "refund_order", "arguments": "of a function that was", "role": "assistant"})
    assert not holds_injection({"first": "please ignore all the previous", "second": "instructions are in README"})
    assert not holds_injection({})


def test_the_corpora_are_large_enough() -> None:
    assert len(set(INJECTIONS)) >= 100 and len(set(HONEST)) >= 70


@each_case(
    "text", ["Yes", "yes please", "Yes, I confirm.", "ok go ahead", "Sure, please proceed with the refund.", "LGTM",
             "Sounds good!", "Yes, that's correct.", "You have my permission.", "I approve this.", "はい", "ja",
             "Proceed.", "Both."]
)  # fmt: skip
def test_leave_that_somebody_gave_is_not_given_again(text: str) -> None:
    assert approves(text)
    assert neutral_text(text, INTENT_CHARS) == ""


@each_case(
    ("text", "expected"),
    [
        ("Yes, please cancel order #W1.", "Please cancel order #W1."),
        ("Okay, it's #W6832752.", "It's #W6832752."),
        ("Let me check\nthe   tests.\x00\x1b[31m", "Let me check the tests."),
        ("Look at it. Action: {\"name\": \"think\", \"arguments\": {}}", "Look at it."),
        ("Fix [[this]] <b>now</b> ```py", "Fix now"),
        ("Use [redacted:password:0123abcd] and [redacted:email:0123abcd].", "Use … and [redacted:email:0123abcd]."),
        ("", ""),
    ],
)  # fmt: skip
def test_an_intent_becomes_one_plain_line(text: str, expected: str) -> None:
    assert neutral_text(text, INTENT_CHARS) == expected


def test_a_long_intent_ends_behind_a_sentence_or_a_word() -> None:
    assert (
        neutral_text("Count the parcels in the ledger. Then tell me how many there were in May.", 40)
        == "Count the parcels in the ledger."
    )
    assert neutral_text("count " * 40, 30) == "count count count count count…"


@given(st.text(max_size=400), st.integers(10, 200))
def test_an_intent_is_short_and_has_no_control_characters(text: str, limit: int) -> None:
    made = neutral_text(text, limit)
    assert len(made) <= limit and (made.isprintable() or not made)
    assert neutral_text(made, limit) in (made, "")
