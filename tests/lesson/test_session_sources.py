"""Which sessions are independent of each other."""

from __future__ import annotations

from seasoned.lesson.session_sources import SessionSources
from tests.each_case import each_case

LONG = "Please move the parcels of the depot in Hull to the one in Leeds by noon today"
CALLS = tuple(f"Bash make step-{number}" for number in range(9))


@each_case(
    ("task", "other_task", "calls", "other_calls", "is_one"),
    [
        (LONG, LONG.upper() + "!", CALLS[:1], CALLS[:1], True),  # the words count, not how they are written
        (LONG, LONG, CALLS, CALLS[:8], True),  # a call more or less changes nothing
        (LONG, LONG, CALLS[:4], CALLS[3:7], False),  # the same task, done otherwise
        (LONG, LONG.replace("Leeds", "York"), CALLS, CALLS, False),
        ("Go on with the work in this project.", "Go on with the work in this project.", CALLS[:5], CALLS[:5], False),
        ("Go on.", "Go on.", CALLS, CALLS, True),  # nine calls in common are no coincidence
        ("", "", CALLS, CALLS, True),
        ("", "", (), (), False),
    ],
)
def test_sessions_that_copy_each_other_are_one_source(task, other_task, calls, other_calls, is_one) -> None:
    witnesses = SessionSources()
    names = {witnesses.name("a", task, calls), witnesses.name("b", other_task, other_calls)}
    assert (len(names) == 1) == is_one


def test_a_lineage_keeps_its_name_whatever_its_later_sessions_do() -> None:
    witnesses = SessionSources()
    assert {witnesses.name("a", LONG, CALLS), witnesses.name("a", "Go on.", CALLS[:1])} == {"a"}
