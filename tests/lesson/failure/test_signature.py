"""What a failure is known by: what varies is masked, what tells is kept, and no text breaks it."""

from __future__ import annotations

import time
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.written import written
from seasoned.lesson.evidence import _PREPARING
from seasoned.lesson.failure.cause import CAUSES, cause_in
from seasoned.lesson.failure.signature import MAX_SIGNATURE_CHARS, line_of_text, mask, signature
from seasoned.lesson.lesson import EXPECTED
from seasoned.outcome.track import JudgedCall
from tests.each_case import each_case

HOSTILE = st.text(
    alphabet=st.sampled_from("ab fF09:/\\.'\"`-…[]()<>,@#_=\n\t\x1b\x00\u202e\ud800é中") | st.characters(), max_size=300
)


def failed(reason: str, result: str | None = None, tool: str = "Bash") -> JudgedCall:
    return JudgedCall(0, 1, tool, "terminal", "failed", "failed", "call", result=result, reason=reason)


@each_case(
    ("text", "masked"),
    [
        ("File not found: /home/ann/project/missing2.txt", "File not found: …"),
        ("cmd/cli/setup.go:202:24: settings.Entire is not a type", "…: settings.Entire is not a type"),
        ("rg: docs: No such file or directory (os error 2)", "rg: …: No such file or directory (os error N)"),
        ("Found 12 matches, but replace_all is false", "Found N matches, but replace_all is false"),
        ("No module named 'torch'", "No module named '…'"),
        ("error: unknown option `dry-run'", "error: unknown option `…'"),
        ("it can't read what isn't there", "it can't read what isn't there"),
        ("fatal: unable to read e53647ba1f1e5203bedff558b482f178db045555", "fatal: unable to read …"),
        ("see https://example.org/a?b=1 for more", "see … for more"),
        ("at 2026-01-12T15:18:40Z it broke", "at … it broke"),
        ("no such user [redacted:email:1283f657]", "no such user [email]"),
        ("no order #W2378156 for paypal_7644869", "no order #WN for paypal_N"),
        ("gh: Not Found (HTTP 404)", "gh: Not Found (HTTP 404)"),
        ("E999 and TS2304 are codes, 5 is a number", "E999 and TS2304 are codes, N is a number"),
        ("\x1b[31mred\x1b[0m\x00 and\u202ehidden", "red and hidden"),
        ("", ""),
    ],
)
def test_what_varies_is_masked_and_the_rest_is_kept(text: str, masked: str) -> None:
    assert mask(text) == masked


@each_case(
    ("reason", "result", "expected"),
    [
        ("The tool answered with an error.", "Error: user not found", "user not found"),
        (
            "The patch did not fit the file.",
            "error: Failed to find expected lines in /home/ann/README.md:\n### CLI",
            "Failed to find expected lines in …",
        ),
        ("It failed and said nothing.", "Exit code 1", "It failed, and what is kept of its output does not say why"),
        ("There is no such tool.", "Tool 'x' does not exist. Available tools: a, b", "Tool '…' does not exist"),
        ("FAIL", "Exit code 1\n--- FAIL: TestAdd (0.00s)\nFAIL", "Tests failed"),
        (
            "FAIL",
            "Exit code 1\n# x/cli\ncli/a.go:4:2: undefined: paths.Root\nFAIL\tx/cli [build failed]",
            "undefined: …",
        ),
        (
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "FAILED tests/test_a.py::test_b - assert 1 == 2",
            "Tests failed",
        ),
        ("Exit code 1. cat: /nope/file: No such file or directory", None, "cat: …: No such file or directory"),
        (
            "Exit code 127. /bin/bash: line 1: frobnicate: command not found",
            None,
            "frobnicate: command not found",
        ),
        (
            "[lint] $ golangci-lint run ./...",
            "Exit code 1\n[lint] $ golangci-lint run ./...\na.go:52:2: Error return value of `x.Init` is not checked",
            "Error return value of `…` is not checked",
        ),
        (
            "The program ended with an exception.",
            "Traceback (most recent call last):\nValueError: boom",
            "ValueError: boom",
        ),
        ("File does not exist. Did you mean .golangci.yaml?", None, "File does not exist"),
        ('{"message":"Invalid request.","status":"422"}', None, "Invalid request"),
    ],
)
def test_the_signature_is_the_line_that_tells_most(reason: str, result: str | None, expected: str) -> None:
    assert signature(failed(reason, result)) == expected


def test_half_a_line_beside_the_gap_of_a_shortened_result_is_no_error() -> None:
    result = 'Exit code 1\na.go:1:1: undefined: x\nb.go:2:2: "errors" impor … or wrongly cut\nFAIL'
    assert signature(failed("FAIL", result)) == "undefined: …"


@given(HOSTILE)
def test_masking_takes_any_text_never_grows_it_and_comes_to_rest(text: str) -> None:
    masked = mask(text)
    assert len(masked) <= len(text)
    assert masked.isprintable()
    assert mask(masked) == masked


@given(HOSTILE, st.none() | HOSTILE)
def test_a_signature_is_short_printable_the_same_each_time_and_never_empty(reason: str, result: str | None) -> None:
    call = failed(reason, result)
    found = signature(call)
    assert 0 < len(found) <= MAX_SIGNATURE_CHARS
    assert found.isprintable()
    assert signature(call) == found


@each_case(
    "piece",
    ["a", "/", "'", "a/", "0a", "a.a", "…/", "-", "1:", "[redacted:", ": a", "`'", "a@b://", "1 … ", "\x1b[", "E: "],
)
def test_a_huge_line_costs_little(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    assert len(signature(failed(text, text))) <= MAX_SIGNATURE_CHARS
    assert time.process_time() - started < 1


def test_a_cause_is_recognised_in_lower_case_as_in_any() -> None:
    errors = (Path(__file__).parents[2] / "outcome" / "failed_commands.txt").read_text("utf-8").splitlines()
    found = set()
    for line in [variant for error in errors for variant in (error, error.upper(), error.swapcase(), f"{error} é")]:
        call = failed(line)
        said = line_of_text(call.reason)
        expected = next((cause.name for cause in CAUSES if cause.words.compiled.search(said)), None)
        assert cause_in(line_of_text(call.reason)) == expected, said
        found.add(expected)
    assert len(found) > 15


def test_names_in_the_tables_of_lessons_are_those_that_are_looked_up() -> None:
    assert set(EXPECTED) <= {cause.name.replace(" ", "-") for cause in CAUSES}
    assert all(written(step)[0].form == step for step in _PREPARING)
