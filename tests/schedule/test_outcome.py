"""What an answer means: markers only where they stand alone or lead, wordings of failure, and their look-alikes."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from seasoned.outcome.wording.rule import OutputText, first, rules
from seasoned.schedule.outcome import (
    FAILURES,
    SCRIPT_FAILED,
    SILENT,
    has_marker,
    judge_answer,
    judge_output,
    says_failed,
    without_markers,
)
from tests.each_case import each_case

FINDS = [(failure.pattern, text) for failure in FAILURES for text in failure.finds]
MISSES = [(failure.pattern, text) for failure in FAILURES for text in failure.misses]
LOOK_ALIKES = """\
The script ran without errors.
No script failed.
The script did not fail.
If the script fails, page the person on call.
The script found 3 failed logins.
The script reported that two builds failed.
The script exited with code 0.
The script has not failed since spring.
Yesterday the script failed; today it ran through.
The script that failed last week now passes.
The failed-login script found nothing.
Neither script failed.
The script no longer times out.
Critics say that the film's script failed to convince.
Would the script have failed with an empty list?
The script never failed this week.
The transcript failed to load in two browsers.
All 12 scripts succeeded; 0 failed.
I added a test for the case that the script times out.
The deploy script failed in three of 40 repositories.
> The script failed.
The script could have failed, but went through.
The log holds the words "script failed" twice.
The script crashed on the first try, but the second went through.
Make sure that the script is not killed by the watchdog.""".splitlines()


def test_there_are_twenty_wordings_and_twenty_look_alikes() -> None:
    assert len(FAILURES) >= 20
    assert len(LOOK_ALIKES) >= 20


@each_case(("pattern", "text"), FINDS)
def test_a_wording_of_failure_is_a_failed_run(pattern: str, text: str) -> None:
    assert re.search(pattern, text, re.IGNORECASE)
    result = judge_answer(f"{text}\n\nI will look again tomorrow.")
    assert (result.outcome, result.fault) == ("failed", "script")
    assert text.split(";")[0][:40] in result.reason or repr(text)[1:40] in result.reason


@each_case(("pattern", "text"), MISSES)
def test_what_a_wording_must_miss_is_no_failure(pattern: str, text: str) -> None:
    assert not re.search(pattern, text, re.IGNORECASE)
    assert says_failed(text) is None


@each_case("text", LOOK_ALIKES)
def test_a_look_alike_is_no_failure(text: str) -> None:
    assert judge_answer(f"{text}\nEverything else is quiet.").outcome == "ok"


def test_the_rules_for_tools_would_call_a_good_report_a_failure() -> None:
    report = "Failed to reach 2 of 40 hosts: a, b. The rest answered."
    assert first(rules("api_failures"), OutputText(report)) is not None
    assert says_failed(report) is None


def test_words_in_the_middle_of_a_long_report_are_its_content() -> None:
    middle = [f"Line {number} of the report." for number in range(10)]
    assert judge_answer("\n".join([*middle, "The script failed.", *middle])).outcome == "ok"
    assert judge_answer("\n".join([*middle, "The script failed."])).outcome == "failed"


def test_what_stands_in_a_block_of_code_says_nothing() -> None:
    assert judge_answer("The log of last year:\n```\nThe script failed.\n```\nAll is well.").outcome == "ok"


@each_case(
    ("answer", "outcome"),
    [
        ("[SILENT]", "silent"),
        ("  **[SILENT]**  ", "silent"),
        ("[SILENT]\nNothing changed.", "silent"),
        ("Nothing changed.\n[SILENT]", "silent"),
        ("[SILENT] nothing changed", "silent"),
        ("Answer [SILENT] if nothing changed.", "ok"),
        ("Three changes.\nNext time I may answer [SILENT] again.\nThat is all.", "ok"),
        ("One line.\n[SILENT]\nAnother line.", "ok"),
        ("[silent]", "ok"),
        ("SILENT", "ok"),
        ("[SCRIPT_FAILED]\nIt printed nothing.", "failed"),
        ("[SCRIPT_FAILED] exit code 2", "failed"),
        ("It printed nothing.\n[SCRIPT_FAILED]", "failed"),
        ("The marker is called [SCRIPT_FAILED] here.", "ok"),
        ("[SCRIPT_FAILED]\n[SILENT]", "failed"),
        ("[SILENT]\n[SCRIPT_FAILED]", "failed"),
        ("", "empty"),
        (" \n\t\n", "empty"),
        ("Three changes.", "ok"),
    ],
)
def test_a_marker_counts_only_as_first_or_last_line_or_in_front(answer: str, outcome: str) -> None:
    assert judge_answer(answer).outcome == outcome


def test_a_failed_script_is_a_failed_run_whatever_the_agent_says() -> None:
    for answer in ("All is well.", "[SILENT]", "", "[SCRIPT_FAILED] no disk"):
        result = judge_answer(answer, script_problem="The script 'x.sh' ended with exit code 2.")
        assert (result.outcome, result.fault) == ("failed", "script")
        assert result.reason == "The script 'x.sh' ended with exit code 2."


def test_markers_are_not_part_of_what_is_delivered() -> None:
    assert judge_answer("[SCRIPT_FAILED]: no disk\nLine two.").text == "no disk\nLine two."
    assert judge_answer("**[SCRIPT_FAILED]**\nno disk").text == "no disk"
    assert judge_answer("The marker [SILENT] is explained.").text == "The marker [SILENT] is explained."


def test_a_script_alone_may_say_that_it_failed() -> None:
    assert judge_output("[SCRIPT_FAILED] no disk").outcome == "failed"
    assert judge_output("The script failed twice last year.").outcome == "ok"


@given(st.text(max_size=200), st.sampled_from([SILENT, SCRIPT_FAILED]))
def test_a_text_without_the_marker_never_has_it(text: str, marker: str) -> None:
    if marker not in text:
        assert not has_marker(text, marker)
        assert has_marker(f"{marker}\n{text}", marker)
        assert marker not in without_markers(f"{marker}\n{text}")


@given(st.text(alphabet="the script failed [SILENT]\n.!?`>'’", max_size=300))
def test_every_text_has_an_outcome(text: str) -> None:
    assert judge_answer(text).outcome in ("ok", "silent", "empty", "failed")
