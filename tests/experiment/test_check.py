"""Checks: what passes, what fails, and what says nothing because it is broken."""

from __future__ import annotations

from typing import Any

import pytest

from seasoned.errors import UsageError
from seasoned.experiment.task.environment import (
    Condition,
    EndState,
    ExpectedValue,
    MadeCall,
    check,
    compile_expression,
    evaluate,
)
from tests.each_case import each_case

WORKED = MadeCall("find", {"id": "GX-1", "n": 1}, {"success": True, "result": 7}, True)
FAILED = MadeCall("find", {"id": "1"}, {"success": False, "error": "E"}, True)
ENDED = EndState([FAILED, WORKED], {"a.txt": "Some text"}, {"rows": [{"id": 1, "is_on": True}]}, "It is on shelf A.")


def _condition(**given: Any) -> Condition:
    return Condition(place="tasks.yaml:7", **given)


@each_case(
    ("given", "outcome"),
    [
        ({"called": "find"}, "passed"),
        ({"called": "find", "arguments": (("id", ExpectedValue(is_="1")),)}, "failed"),
        ({"called": "find", "arguments": (("missing", ExpectedValue(is_="1")),)}, "failed"),
        ({"called": "find", "arguments": (("n", ExpectedValue(is_=True)),)}, "failed"),
        ({"called": "find", "least": 2}, "failed"),
        ({"not_called": "lose"}, "passed"),
        ({"file": "a.txt"}, "passed"),
        ({"file": "a.txt", "value": ExpectedValue(contains=("some", "TEXT"))}, "passed"),
        ({"file": "a.txt", "value": ExpectedValue(like="^Text")}, "failed"),
        ({"table": "rows", "arguments": (("is_on", ExpectedValue(is_=True)),)}, "passed"),
        ({"table": "rows", "arguments": (("is_on", ExpectedValue(is_=1)),)}, "failed"),
        ({"answer": ExpectedValue(contains=("shelf a",))}, "passed"),
        ({"answer": ExpectedValue(one_of=("yes", "no"))}, "failed"),
        ({"expression": "len(calls) == 2 and calls[1]['worked']"}, "passed"),
        ({"expression": "any('GX' in c['arguments']['id'] for c in calls)"}, "passed"),
    ],
)
def test_a_condition_says_whether_it_holds(given: dict[str, Any], outcome: str) -> None:
    assert check([_condition(**given)], ENDED).outcome == outcome


@each_case(
    "expression",
    ["files['missing'] == ''", "1 / 0", "int(answer) > 3", "calls[9]", "len(7)", "sorted([1, 'a'])"],
)
def test_a_check_that_raises_is_broken_and_not_failed(expression: str) -> None:
    found = check([_condition(expression=expression)], ENDED)
    assert found.outcome == "broken"
    assert found.reason.startswith("tasks.yaml:7: the check could not be made (")


def test_the_first_condition_that_does_not_hold_decides() -> None:
    found = check([_condition(called="lose"), _condition(expression="1 / 0")], ENDED)
    assert (found.outcome, found.reason) == ("failed", "lose was not called as it should have been")


@each_case(
    "expression",
    [
        "().__class__",
        "__import__('os')",
        "(lambda: 1)()",
        "calls[0]('x')",
        "9 ** 9 ** 9",
        "'a' * 999999999",
        "(x := 1)",
        "import os",
        "",
    ],
)
def test_an_expression_that_reaches_further_is_refused(expression: str) -> None:
    with pytest.raises(UsageError):
        compile_expression(expression)


def test_an_expression_does_not_change_what_it_looks_at() -> None:
    assert evaluate("len(sorted(calls and files)) == 1", ENDED)
    assert ENDED.files == {"a.txt": "Some text"}
