"""The real Claude Code, where it can be had, connects to our server."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the MCP library is not installed")

from tests.real_clients import claude_code, run_alone


def test_claude_code_connects(tmp_path: Path) -> None:
    program = claude_code()
    serve = [sys.executable, "-m", "seasoned.cli.main", "mcp"]
    ours = {"SEASONED_HOME": str(tmp_path / "seasoned")}
    servers = {
        "near": {"type": "stdio", "command": serve[0], "args": serve[1:], "env": ours},
    }
    (tmp_path / ".claude.json").write_text(json.dumps({"mcpServers": servers}), "utf-8")
    done = run_alone(
        [program, "mcp", "list"],
        env={"HOME": str(tmp_path), "DISABLE_AUTOUPDATER": "1", **ours},
        cwd=tmp_path,
        timeout=120,
    )
    said = {line.partition(":")[0]: line for line in done.stdout.splitlines() if ": " in line}
    assert "Connected" in said["near"], done.stdout + done.stderr
