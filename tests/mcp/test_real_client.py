"""The real Claude Code, where it can be had, connects to our server on both ways."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from tests.real_clients import claude_code, run_alone

TOKEN = "a-token-for-this-test"


def test_claude_code_connects_over_stdio_and_over_http(tmp_path: Path) -> None:
    program = claude_code()
    serve = [sys.executable, "-m", "seasoned.cli.main", "mcp"]
    ours = {"SEASONED_HOME": str(tmp_path / "seasoned"), "SEASONED_MCP_TOKEN": TOKEN}
    servers = {
        "near": {"type": "stdio", "command": serve[0], "args": serve[1:], "env": ours},
        "far": {
            "type": "http",
            "url": "http://127.0.0.1:7331/mcp",
            "headers": {"Authorization": f"Bearer {TOKEN}"},
        },
        "stranger": {"type": "http", "url": "http://127.0.0.1:7331/mcp", "headers": {"Authorization": "Bearer x"}},
    }
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")
    done = run_alone(
        [program, "mcp", "list"],
        env={"HOME": str(tmp_path), "DISABLE_AUTOUPDATER": "1", **ours},
        cwd=tmp_path,
        timeout=120,
        before=[[*serve, "--http", "127.0.0.1:7331"]],
    )
    said = {line.partition(":")[0]: line for line in done.stdout.splitlines() if ": " in line}
    assert "Connected" in said["near"], done.stdout + done.stderr
    assert "Connected" in said["far"], done.stdout + done.stderr
    assert "401" in said["stranger"]
