"""`seasoned connect` as a user runs it, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

COMMAND = [sys.executable, "-m", "seasoned.cli.main", "connect"]


def connect(*arguments: str, expect: int = 0, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it, and be sure of its exit code."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=typed,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done


def connect_json(*arguments: str, **environment: str) -> dict[str, Any]:
    """Its answer for programs."""
    answer: dict[str, Any] = json.loads(connect(*arguments, "--json", **environment).stdout)
    assert answer.pop("schema") == "seasoned/connect/1"
    return answer
