"""Whatever a file holds, the judge answers."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seasoned.command.tool import kind_of, known_tools
from seasoned.outcome.judge import judge
from seasoned.outcome.recorded_label import blind, label
from seasoned.session import Marks, Result, ToolCall
from tests.conftest import examples

AGENTS = st.sampled_from(["claude-code", "codex", "hermes", "gemini", "openhands", "tau-bench", "unheard-of"])
NAMES = st.one_of(st.sampled_from(sorted(known_tools())), st.text(max_size=12))
PIECES = st.sampled_from(
    [
        *("Exit code 1\n", "Process exited with code 2\nOutput:\n", "Chunk ID: x\n", "<returncode>1</returncode>"),
        *("Error: ", "Traceback (most recent call last):\n", "fatal: ", "FAIL\n", "bash: ", "<tool_use_error>"),
        *("\x1b[31m", "\ud800", "\x00", "{", '"error":', "null}", '{"output":"'),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=12).map("".join))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from(["command", "cmd", "input", "path", "content", "code", "old_string", "script"])
ARGUMENTS = st.dictionaries(KEYS | st.text(max_size=8), VALUES, max_size=4)
MARKS = st.builds(
    Marks,
    failed=st.none() | st.booleans(),
    exit_code=st.none() | st.integers(-2, 255),
    benign=st.none() | st.text(max_size=20),
    declined=st.booleans(),
    interrupted=st.booleans(),
    running=st.booleans(),
)


@settings(max_examples=examples(400), deadline=None)
@given(AGENTS, NAMES, ARGUMENTS, TEXTS, MARKS)
def test_the_judge_never_raises(agent: str, tool: str, arguments: dict[str, Any], text: str, marks: Marks) -> None:
    one = ToolCall("c", tool, arguments, Result(text, marks))
    kind_of(one)
    verdict = judge(one, agent=agent)
    assert verdict.reason
    if marks.failed and not marks.interrupted:
        assert verdict.verdict == "failed"
    known = label(one, agent=agent)
    if known is not None and agent != "tau-bench" and verdict.verdict != "unclear" and not marks.declined:
        assert known == (verdict.verdict == "failed")
    for strict in (False, True):
        assert judge(blind(one, agent=agent, strict=strict), agent=agent).evidence != "flag"


FIELDS = st.sampled_from(
    [
        *("output", "error", "success", "status", "exit_code", "results", "lint", "content", "result", "errors"),
        *("message", "file_size", "total_lines", "bytes_written", "hint", "code", "data", "isError", "ok"),
    ]
)


@settings(max_examples=examples(300), deadline=None)
@given(AGENTS, NAMES, st.dictionaries(FIELDS, VALUES, max_size=6))
def test_no_answer_in_json_is_too_odd(agent: str, tool: str, answer: dict[str, Any]) -> None:
    one = ToolCall("c", tool, {"command": "ls"}, Result(json.dumps(answer)))
    assert judge(one, agent=agent).verdict in ("ok", "failed", "unclear")
    assert judge(blind(one, agent=agent), agent=agent).verdict in ("ok", "failed", "unclear")
