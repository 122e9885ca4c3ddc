"""What the sources themselves say."""

from __future__ import annotations

import json

import pytest

from seasoned.outcome.label import label
from seasoned.session import ToolCall
from tests.outcome.calls import call, shell


@pytest.mark.parametrize(
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
