"""What an answer means: markers only where they stand alone or lead, wordings of failure, and their look-alikes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seasoned.schedule.outcome import SCRIPT_FAILED, SILENT, has_marker, judge_answer, judge_output, without_markers
from tests.each_case import each_case

FAILURES = """\
The script failed.
There is no report, because the script has failed.
Script check.py failed: no disk.
The script exited with code 1.
The script ended with exit status 127.
The script exited with a non-zero code.
The script timed out after 30 seconds.
The script crashed on line 12.
The script was killed by signal 9.
The script could not be run.
The script did not complete successfully.
The script raised an exception.
The gate script finished with an error.
Script execution failed.
I could not run the script: permission denied.
An error occurred while executing the script.""".splitlines()
LOOK_ALIKES = """\
The script ran without errors.
No script failed.
If the script failed, page the person on call.
The script found 3 failed logins.
The script reported that two builds failed.
The script exited with code 0.
Yesterday the script failed; today it ran through.
Critics say that the film's script failed to convince.
The transcript failed to load in two browsers.
The deploy script failed in three of 40 repositories.
> The script failed.
The log holds the words "script failed" twice.
Failed to reach 2 of 40 hosts: a, b.
The script crashed on the first try, but the second went through.""".splitlines()


@each_case("text", FAILURES)
def test_a_wording_of_failure_is_a_failed_run(text: str) -> None:
    result = judge_answer(f"{text}\n\nI will look again tomorrow.")
    assert (result.outcome, result.fault) == ("failed", "script")
    assert text[:30] in result.reason


@each_case("text", LOOK_ALIKES)
def test_a_look_alike_is_no_failure(text: str) -> None:
    assert judge_answer(f"{text}\nEverything else is quiet.").outcome == "ok"


def test_words_in_the_middle_of_a_long_report_or_in_code_are_its_content() -> None:
    middle = [f"Line {number} of the report." for number in range(10)]
    assert judge_answer("\n".join([*middle, "The script failed.", *middle])).outcome == "ok"
    assert judge_answer("\n".join([*middle, "The script failed."])).outcome == "failed"
    assert judge_answer("The log of last year:\n```\nThe script failed.\n```\nAll is well.").outcome == "ok"


@each_case(
    ("answer", "outcome"),
    [
        ("[SILENT]", "silent"),
        ("  **[SILENT]**  ", "silent"),
        ("Nothing changed.\n[SILENT]", "silent"),
        ("[SILENT] nothing changed", "silent"),
        ("Answer [SILENT] if nothing changed.", "ok"),
        ("One line.\n[SILENT]\nAnother line.", "ok"),
        ("[silent]", "ok"),
        ("[SCRIPT_FAILED] exit code 2", "failed"),
        ("It printed nothing.\n[SCRIPT_FAILED]", "failed"),
        ("The marker is called [SCRIPT_FAILED] here.", "ok"),
        ("[SILENT]\n[SCRIPT_FAILED]", "failed"),
        (" \n\t\n", "empty"),
        ("Three changes.", "ok"),
    ],
)
def test_a_marker_counts_only_as_last_line_or_in_front(answer: str, outcome: str) -> None:
    assert judge_answer(answer).outcome == outcome


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
