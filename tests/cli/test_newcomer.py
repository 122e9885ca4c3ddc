"""A newcomer's hour at a terminal of 80 columns: every step answers by itself, and none with a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.run import SEASONED
from tests.cli.terminal import Terminal, pty, terminal
from tests.history.claude_lines import ClaudeFile

_PATIENCE_SECONDS = 60.0
_SETTINGS = b'{\n   "cleanupPeriodDays" : 90\n}\n'
_DAY = 86_400


class Hour:
    """The steps, each with the seconds that it took."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}

    def step(self, *words: str) -> str:
        """A command at a terminal where no one types anything: what it says until it ends."""
        begun = time.monotonic()
        pid, screen = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(SEASONED, ["seasoned", *words], {**os.environ, "TERM": "dumb", "COLUMNS": "80"})
        said = Terminal(pid, screen)
        try:
            with pytest.raises(OSError):  # the terminal is closed when the command ends
                said.wait_for("\0 is never said", _PATIENCE_SECONDS)
        finally:
            os.close(screen)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self.seconds["seasoned " + " ".join(words)] = time.monotonic() - begun
        text = re.sub(r"\x1b\[[0-9;]*m", "", said.text).replace("\r\n", "\n")
        assert code == 0 and "Traceback" not in text, text
        return text


def _write_session(folder: Path, number: int, *, days_ago: float, commands: list[tuple[str, str, bool]]) -> Path:
    """A session of some days ago, where Claude Code keeps it."""
    name = f"{number:08}-2222-4333-8444-555555555555"
    file = ClaudeFile(name).user(f"Parcel number {number} is late again. Find out why.")
    for at, (command, result, works) in enumerate(commands):
        call = f"toolu_{number:04}{at}"
        file.calls(call, "Bash", tokens=5000, command=command).result(call, result, is_error=not works)
    hour = time.strftime("%Y-%m-%dT%H:", time.gmtime(time.time() - days_ago * _DAY)).encode()
    lines = [line.replace(b"2026-03-01T10:", hour).replace(b"claude-test", b"claude-sonnet-4-5") for line in file.lines]
    file.lines = [line.replace(b"/home/mira/waypost", str(folder).encode()) for line in lines]
    path = Path.home() / ".claude" / "projects" / "-home-shop" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    file.write(path)
    return path


def _hook(folder: Path, event: str, **fields: str) -> str:
    """What Claude Code does at an event: it runs what its settings say."""
    settings = json.loads((Path.home() / ".claude" / "settings.json").read_text())
    said = ""
    for entry in settings["hooks"][event]:
        for hook in entry["hooks"]:
            given = json.dumps({"hook_event_name": event, "cwd": str(folder), **fields})
            done = subprocess.run(
                [hook["command"], *hook.get("args", [])] if "args" in hook else hook["command"],
                shell="args" not in hook,
                input=given,
                capture_output=True,
                text=True,
                timeout=_PATIENCE_SECONDS,
                check=True,
                cwd=folder,
            )
            said += done.stdout
    return said


@pytest.fixture
def hour(home: Path) -> Hour:
    """A new user's machine: Claude Code has worked in one project for some days, also today."""
    (home / "shop").mkdir()
    (home / "shop" / "package.json").write_text('{"scripts": {"test": "vitest run"}, "packageManager": "pnpm@9.1.0"}')
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_bytes(_SETTINGS)
    wrong = ("npm test", "Exit code 1\nnpm error This project is configured to use pnpm", False)
    right = ("pnpm test", "12 passed", True)
    for number in range(9):
        _write_session(home / "shop", number, days_ago=8 - number, commands=[wrong, right, ("ls src", "eta.py", True)])
    return Hour(home / "shop")


def test_a_newcomers_hour_asks_nothing_and_answers_three_daily_questions(hour: Hour, home: Path) -> None:
    begun = time.monotonic()
    with terminal("up", "--port", "0") as screen:
        seen = screen.wait_for("Open it: ")
    hour.seconds["seasoned up"] = time.monotonic() - begun
    assert "Scanned 9 files" in seen and "pnpm test" in seen and "assphrase" not in seen, seen
    listed = hour.step("sessions", "--all")
    assert "Parcel number 7 is late again." in listed
    shown = hour.step("show", "00000007")
    assert re.search(r"failed +Bash .*npm test", shown) and re.search(r"ok +Bash .*pnpm test", shown)
    # The three daily questions.
    assert "Parcel number 3" in hour.step("search", "number", "3", "late", "--all")
    week = hour.step("usage", "--by", "project", "--since", "this week", "--all")
    assert re.search(r"shop .*~\$\d\.\d\d", week)
    wrong = hour.step("sessions", "--since", "yesterday", "--failed", "--all")
    assert "configured to use pnpm" in wrong and "Parcel number 7" in wrong and "Parcel number 2" not in wrong
    # Connecting, and what the next session sees.
    assert "Claude Code (claude-code): not connected" in hour.step("connect", "--dry-run")
    hour.step("connect", "claude-code", "--yes", "--parts", "warm,hints")
    told = hour.step("lessons")
    assert "pnpm test" in told
    name = "00000009-2222-4333-8444-555555555555"
    said = _hook(hour.folder, "SessionStart", session_id=name, source="startup", transcript_path="")
    assert "pnpm test" in said
    path = _write_session(hour.folder, 9, days_ago=-0.05, commands=[("pnpm test", "12 passed", True)])
    _hook(hour.folder, "SessionEnd", session_id=name, transcript_path=str(path))
    hour.step("scan")
    assert re.search(r"1 thing shown: 1 used", hour.step("receipt", "00000009"))
    # Everything undone, and gone.
    hour.step("connect", "claude-code", "--undo", "--yes")
    assert (home / ".claude" / "settings.json").read_bytes() == _SETTINGS
    assert "Forgot everything: 10 sessions." in hour.step("forget", "--all", "--yes")
    for what, seconds in hour.seconds.items():
        assert seconds < _PATIENCE_SECONDS, what
    # `-s` shows the times.
    sys.stdout.write("\n" + "".join(f"{seconds:6.2f} s  {what}\n" for what, seconds in hour.seconds.items()))
