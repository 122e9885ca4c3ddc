"""What the sources themselves say."""

from __future__ import annotations

import json

import pytest

from seasoned.outcome.judge import judge
from seasoned.outcome.recorded_label import blind, label
from seasoned.session import NO_MARKS, ToolCall
from tests.each_case import each_case
from tests.outcome.calls import call, shell


@each_case(
    ("one", "agent", "expected"),
    [
        (call(text="x", failed=True), "claude-code", True),
        (call(text="x", failed=False), "claude-code", False),
        (call(text="x"), "claude-code", None),
        (call(text=None), "claude-code", None),
        (shell("make", "x", exit_code=2), "codex", True),
        (shell("make", "x", exit_code=0), "codex", False),
        (shell("grep x f", "", exit_code=1), "codex", False),
        (shell("make", "x", exit_code=2, benign="fine"), "codex", False),
        (call("terminal", json.dumps({"output": "", "exit_code": 0, "error": None})), "hermes", False),
        (call("terminal", json.dumps({"output": "", "exit_code": 2, "error": None})), "hermes", True),
        (call("read_file", json.dumps({"content": "x"})), "hermes", None),
        (call("read_file", json.dumps({"content": "", "error": "no"})), "hermes", True),
        (call("get", "Error: no"), "tau-bench", True),
        (call("get", "fine"), "tau-bench", False),
    ],
)
def test_labels(one: ToolCall, agent: str, expected: bool | None) -> None:
    assert label(one, agent=agent) is expected


def text(one: ToolCall, agent: str, *, strict: bool = False) -> str:
    blinded = blind(one, agent=agent, strict=strict)
    assert blinded.result is not None and blinded.result.marks == NO_MARKS
    assert blinded.arguments == one.arguments
    return blinded.result.text


@pytest.mark.parametrize("agent", ["claude-code", "claude-managed", "copilot", "inspect"])
def test_marks_go_and_the_text_stays(agent: str) -> None:
    assert text(call(text="Exit code 1\nboom", failed=True, exit_code=1, declined=True), agent) == "Exit code 1\nboom"


def test_strict_also_takes_what_the_agent_wrote_into_the_text() -> None:
    assert text(call(text="Exit code 1\nboom", failed=True), "claude-code", strict=True) == "boom"
    wrapped = "<tool_use_error>File does not exist.</tool_use_error>"
    assert text(call(text=wrapped, failed=True), "claude-code", strict=True) == "File does not exist."
    assert text(call(text="boom\n<exited with exit code 2>"), "copilot", strict=True) == "boom"


def test_codex_loses_its_code_in_every_shape() -> None:
    header = "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 5\nOutput:\n"
    assert "exited" not in text(shell("x", header + "boom", exit_code=2), "codex")
    assert text(shell("x", header + "Process exited with code 9", exit_code=2), "codex").endswith("code 9")
    assert text(shell("x", "Exit code: 1\nWall time: 0 s\nOutput:\nboom", exit_code=1), "codex").startswith("Wall time")
    wrapped = json.dumps({"output": "boom", "metadata": {"exit_code": 1, "duration_seconds": 0.1}})
    assert json.loads(text(shell("x", wrapped, exit_code=1), "codex")) == {
        "output": "boom",
        "metadata": {"duration_seconds": 0.1},
    }
    script = 'Script completed\nWall time 0.1 seconds\nOutput:\n{"chunk_id":"a","exit_code":4,"output":"x"}'
    assert "exit_code" not in text(call("exec", script, exit_code=4), "codex")


def test_hermes_loses_its_four_fields_and_what_tells_them() -> None:
    answer = {"output": "x", "exit_code": 1, "error": None, "status": "ok", "success": True, "exit_code_meaning": "no"}
    assert json.loads(text(call("terminal", json.dumps(answer)), "hermes")) == {"output": "x"}
    nested = json.dumps({"result": json.dumps({"success": False, "kept": 1})})
    assert json.loads(json.loads(text(call("x", nested), "hermes"))["result"]) == {"kept": 1}
    assert text(call("x", "plain"), "hermes") == "plain"


def test_openhands_and_mini_swe_agent_lose_their_code() -> None:
    assert text(shell("x", "boom\n[Command finished with exit code 1]", exit_code=1), "openhands") == "boom"
    assert "returncode" not in text(shell("x", "<returncode>1</returncode>\n<output>\nx</output>"), "mini-swe-agent")


def test_agents_that_write_the_code_on_a_line_lose_that_line() -> None:
    for agent, said, left in (
        ("gemini", "Output: boom\nExit Code: 2\nSignal: 0", "Output: boom\nSignal: 0"),
        ("qwen", "Output: boom\nError: (none)\nExit Code: 0\nSignal: 0", "Output: boom\nError: (none)\nSignal: 0"),
        ("cline", "[Command exited with code 2]\n\nboom", "\nboom"),
    ):
        assert text(call(text=said, exit_code=2), agent) == left, agent


def test_a_success_that_only_says_that_the_shell_ran_yields_to_the_code_in_the_text() -> None:
    gemini = "<untrusted_context>\nOutput: boom\nExit Code: {}\nProcess Group PGID: 7\n</untrusted_context>"
    for agent, form in (("copilot", "boom\n<shellId: 0 completed with exit code {}>"), ("gemini", gemini)):
        failed, worked = (shell("./wp", form.format(code), failed=False) for code in (2, 0))
        assert judge(failed, agent=agent).evidence == "exit_code" and label(failed, agent=agent) is True
        assert judge(worked, agent=agent).verdict == "ok" and label(worked, agent=agent) is False
        assert "2" not in text(failed, agent)
        # Of others the flag is what their command did.
        assert judge(failed, agent="claude-code").verdict == "ok"
