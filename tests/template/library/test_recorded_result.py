"""The result in a template file decides about its call; that the file calls it a success does not."""

from __future__ import annotations

import json
from typing import Any

from seasoned.template.library.hermes_file import Shown, judge_result
from tests.each_case import each_case
from tests.template.library.test_exchange import PATTERN, WARM_V2, _read

RUN = {"command": "pytest -q"}
LOOKUP = {"id": "A-1"}
RESULTS: list[tuple[str, dict[str, Any], str, Shown]] = [
    ("terminal", RUN, '{"output": "4 passed in 0.5s", "exit_code": 0, "error": null}', "worked"),
    ("terminal", RUN, "4 passed in 0.53s", "worked"),
    ("terminal", {"command": "cat /etc/nope"}, "cat: /etc/nope: No such file or directory", "failed"),
    ("terminal", RUN, '{"output": "1 failed, 3 passed", "exit_code": 1, "error": null}', "failed"),
    ("execute_code", {"code": "import x"}, '{"status": "error", "output": "", "error": "No module named x"}', "failed"),
    ("execute_code", {"code": "import x"}, '{"status": "error", "output": "Traceback (most rec', "failed"),
    ("lookup", LOOKUP, '{"status": "error", "message": "unknown id"}', "failed"),
    ("lookup", LOOKUP, '{"success": true, "name": "Anna", "notes": "a long te', "unproven"),
    ("lookup", LOOKUP, '{"success": true, "name": "Anna"}', "worked"),
    ("terminal", RUN, '{"output": "collected 4 items … [truncated]', "unproven"),
    ("terminal", RUN, "x" * 500, "unproven"),
    ("terminal", RUN, "[result from successful session]", "unproven"),
    ("lookup", LOOKUP, "<output omitted>", "unproven"),
    ("lookup", LOOKUP, "...", "unproven"),
    ("lookup", LOOKUP, "", "unproven"),
    ("lookup", LOOKUP, "The order: No such file or directory", "unproven"),
    ("read_file", {"path": "a"}, '{"content": "x = 1\\n", "total_lines": 1}', "worked"),
    ("read_file", {"path": "a"}, '{"content": "", "error": "File not found: a"}', "failed"),
    ("list_ids", {}, "[1, 2, 3]", "worked"),
    ("list_ids", {}, '["result"]', "worked"),
]


@each_case(("tool", "arguments", "text", "expected"), RESULTS)
def test_a_call_is_judged_by_its_recorded_result(
    tool: str, arguments: dict[str, Any], text: str, expected: Shown
) -> None:
    assert judge_result(tool, arguments, text) == expected


def test_no_failed_call_comes_in_and_what_shows_nothing_is_named() -> None:
    results = ["4 passed in 0.53s", "bash: pytest: command not found", "[result from successful session]"]
    patterns = [
        {**PATTERN, "arguments": {"command": f"pytest -q {name}"}, "result_summary": text}
        for name, text in zip(("one", "two", "three"), results, strict=True)
    ]
    found = _read({**WARM_V2, "patterns": patterns})
    assert found.left_out == {"failed": 1}
    shown = {json.loads(one.arguments)["command"].split()[-1]: one for one in found.template.examples}
    assert found.unproven == tuple(one.id for one in found.template.examples if one.result == "(ok)")
    assert len(shown) == 2 and len(found.unproven) == 1


def test_task_types_and_use_of_a_file_are_kept() -> None:
    plain = {key: value for key, value in WARM_V2.items() if key != "patterns"}
    types = [["code"], ["code"], ["code", "research"], ["file"]]
    patterns = [
        {**PATTERN, "arguments": {"command": f"pytest -q -k {name}"}, "session_types": each}
        for name, each in zip("abcd", types, strict=True)
    ]
    found = _read({**plain, "patterns": patterns, "usage_count": 7})
    assert found.template.task_type == "mixed", "three of five named types are no majority of more than 60 %"
    assert set(found.template.tags) == {"python", "code", "research", "file"}
    assert found.usage_count == 7
    assert _read({**plain, "patterns": [*patterns[:2]]}).template.task_type == "code"
    bare = [{key: value for key, value in one.items() if key != "session_types"} for one in patterns]
    assert _read({**plain, "patterns": bare}).template.task_type == "code", "its calls say so"
    for wrong in (-3, True, "9", 1.5, None):
        assert _read({**plain, "patterns": patterns, "usage_count": wrong}).usage_count == 0
