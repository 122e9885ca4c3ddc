"""Checks: what passes and what fails."""

from __future__ import annotations

from typing import Any

from seasoned.experiment.task.task_file import Condition, EndState, MadeCall, ValueCheck, check
from tests.each_case import each_case

WORKED = MadeCall("find", {"id": "GX-1", "n": 1}, {"success": True, "result": 7}, True)
FAILED = MadeCall("find", {"id": "1"}, {"success": False, "error": "E"}, True)
ENDED = EndState([FAILED, WORKED], {"a.txt": "Some text"}, {"rows": [{"id": 1, "is_on": True}]}, "It is on shelf A.")


@each_case(
    ("given", "is_met"),
    [
        ({"called": "find"}, True),
        ({"called": "find", "with_": {"id": "1"}}, False),
        ({"called": "find", "with_": {"missing": "1"}}, False),
        ({"called": "find", "with_": {"n": True}}, False),
        ({"called": "find", "with_": {"id": ValueCheck(one_of=("GX-1", "GX-2"))}}, True),
        ({"not_called": "lose"}, True),
        ({"not_called": "find"}, False),
        ({"file": "a.txt"}, True),
        ({"file": "b.txt"}, False),
        ({"file": "a.txt", "text": ValueCheck(contains="TEXT")}, True),
        ({"file": "a.txt", "text": ValueCheck(like="^text")}, False),
        ({"table": "rows", "where": {"is_on": True}}, True),
        ({"table": "rows", "where": {"is_on": 1}}, False),
        ({"answer": ValueCheck(contains="shelf a")}, True),
        ({"answer": "On shelf A."}, False),
    ],
)
def test_a_condition_says_whether_it_holds(given: dict[str, Any], is_met: bool) -> None:
    assert (check([Condition(**given)], ENDED) is None) == is_met


def test_the_first_condition_that_does_not_hold_decides() -> None:
    conditions = [Condition(called="find"), Condition(called="lose"), Condition(file="b.txt")]
    assert check(conditions, ENDED) == "lose was not called as it should have been"
