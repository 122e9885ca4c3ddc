"""Real agents write their own settings between `connect` and `--undo`: what is left is what they alone would have."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real_clients import claude_code, codex, copilot, gemini, hermes_python, qwen, run_alone

CONNECT = [sys.executable, "-m", "seasoned.cli.main", "connect"]
SERVER = ["docs", "/bin/false"]
EMPTY = '{"mcpServers": {}}\n'
Agent = tuple[Callable[[], list[object]], dict[str, str], list[list[str]]]
AGENTS: dict[str, Agent] = {
    "claude-code": (
        lambda: [claude_code()],
        {".claude/settings.json": '{\n    "model": "opus",\n    "hooks": {}\n}\n', ".claude.json": EMPTY},
        [["mcp", "add", "--scope", "user", "docs", "--", "/bin/false"]],
    ),
    "codex": (
        lambda: [codex()],
        {".codex/config.toml": 'model = "gpt-5" # mine\n\n[tui]\ntheme = "dark"\n'},
        [
            ["mcp", "add", "docs", "--", "/bin/false"],
            ["mcp", "add", "more", "--", "/bin/true"],
            ["mcp", "remove", "docs"],
        ],
    ),
    "gemini": (
        gemini,
        {".gemini/settings.json": '{\n  // mine\n  "ui": {"theme": "GitHub"}\n}\n'},
        [["mcp", "add", "--scope", "user", *SERVER]],
    ),
    "qwen": (
        qwen,
        {".qwen/settings.json": '{\n  // mine\n  "ui": {"theme": "GitHub"},\n  "$version": 4\n}\n'},
        [["mcp", "add", "--scope", "user", *SERVER]],
    ),
    "copilot": (
        lambda: [copilot()],
        {".copilot/mcp-config.json": '{"mcpServers": { }}'},
        [["mcp", "add", "docs", "--", "/bin/false"]],
    ),
    "hermes": (
        lambda: [hermes_python().with_name("hermes")],
        {".hermes/config.yaml": "model:\n  default: scripted # mine\nplugins:\n  enabled: []\n"},
        [["config", "set", "model.default", "other"], ["config", "set", "display.skin", "mono"]],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_what_an_agent_wrote_since_stays_and_nothing_of_ours(agent: str, tmp_path: Path) -> None:
    program, settings, writes = AGENTS[agent]

    def files(name: str, *commands: list[object]) -> dict[str, str]:
        home = tmp_path / name
        for file, text in settings.items():
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(text)
        for command in commands:
            done = run_alone(command, env={"HOME": str(home), "DISABLE_AUTOUPDATER": "1"}, cwd=home, timeout=120)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
        return {file: _comparable(home / file) for file in settings}

    own: list[list[object]] = [[*program(), *one] for one in writes]
    alone = files("alone", *own)
    assert alone != {file: _comparable_text(file, text) for file, text in settings.items()}, "it wrote something"
    connected = files("both", [*CONNECT, agent, "--yes"], *own, [*CONNECT, agent, "--undo", "--yes"])
    assert connected == alone


def _comparable(path: Path) -> str:
    return _comparable_text(path.name, path.read_text())


def _comparable_text(name: str, text: str) -> str:
    if name.endswith(".claude.json"):
        # The rest are ids, times and counts of Claude Code, which differ in every home.
        return json.dumps(json.loads(text).get("mcpServers"))
    return text
