"""Runs the real command in a process of its own, as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SEASONED = Path(sys.executable).parent / "seasoned"


def seasoned(*arguments: object, expect: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """The finished process; fails the test when the exit code is another one."""
    done = subprocess.run(
        [str(SEASONED), *map(str, arguments)],
        env={**os.environ, "COLUMNS": "160", "CI": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def answer(*arguments: object, expect: int = 0) -> dict[str, Any]:
    """What a command answers to a program."""
    decoded: dict[str, Any] = json.loads(seasoned(*arguments, "--json", expect=expect).stdout)
    return decoded
