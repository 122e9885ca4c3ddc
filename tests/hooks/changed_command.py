"""Histories of a project whose test command has changed: `npm test` fails unnoticed behind a pipe, `pnpm test` works.

What earlier sessions ran, and what the programs say there, for tests with real agents.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from uuid import NAMESPACE_OID, uuid5

from tests.history.claude_lines import ClaudeFile

OLD, PIPED, NEW = "npm test", "npm test 2>&1 | tail -5", "pnpm test"
MISSING, PASSED = 'npm error Missing script: "test"', "Tests  3 passed (3)"

Session = list[tuple[str, str]]  # commands and what they printed; the agent was told that they worked, but for `FAILED`
FAILED = "Exit code "
BEFORE: Session = [(OLD, PASSED)]
SINCE: Session = [(PIPED, MISSING), (NEW, PASSED)]


def programs(home: Path) -> dict[str, str]:
    """The two programs as they are today, and the variable with which they are found."""
    folder = home / "bin"
    folder.mkdir()
    for name, said, status in (("npm", MISSING, 1), ("pnpm", PASSED, 0)):
        (folder / name).write_text(f"#!/bin/sh\necho '{said}'\nexit {status}\n")
        (folder / name).chmod(0o755)
    # Login shells make their own path.
    (home / ".profile").write_text(f'PATH="{folder}:$PATH"\n')
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def checkout(folder: Path) -> Path:
    """A folder that says nothing about which of the two is right."""
    folder.mkdir()
    (folder / "package.json").write_text('{"scripts": {"test": "vitest run"}}\n')
    return folder


def write_claude_code(home: Path, folder: Path, sessions: Sequence[Session], *, first: int = 1) -> None:
    """One session of Claude Code a day, the last one yesterday, or `first` days ago."""
    for days, ran in enumerate(reversed(sessions), first):
        name = str(uuid5(NAMESPACE_OID, f"{folder.name} {days}"))
        file = ClaudeFile(name).user(f"Look at order {days}.")
        for at, (command, said) in enumerate(ran):
            call = f"toolu_{folder.name}{days}x{at}"
            file.calls(call, "Bash", command=command).result(call, said, is_error=said.startswith(FAILED))
        path = home / ".claude" / "projects" / str(folder).replace("/", "-") / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_moved(file.says("Done.").lines, b"2026-03-01", days, folder))


def _day(days: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86_400))


def _moved(lines: list[bytes], day: bytes, days: int, folder: Path) -> bytes:
    return b"".join(lines).replace(day, _day(days).encode()).replace(b"/home/mira/waypost", str(folder).encode())
