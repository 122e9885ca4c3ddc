"""`seasoned connect` as a user runs it: in this process, or with `COMMAND` in one of its own."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.cli.run import Done, seasoned

COMMAND = [sys.executable, "-m", "seasoned.cli.main", "connect"]


def connect(*arguments: str, expect: int = 0, typed: str = "", **environment: str) -> Done:
    """Run it, and be sure of its exit code."""
    return seasoned("connect", *arguments, expect=expect, stdin=typed, **{"COLUMNS": "80", **environment})


def connect_json(*arguments: str, **environment: str) -> dict[str, Any]:
    """Its answer for programs."""
    answer: dict[str, Any] = json.loads(connect(*arguments, "--json", **environment).stdout)
    assert answer.pop("schema") == "seasoned/connect/1"
    return answer
