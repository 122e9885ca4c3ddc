"""Two hundred sessions of one project, ten of them planted: with rare tools or common ones, and at any time.

The planted ones use no call that a rule about danger objects to. The honest ones are read once; each world is a copy of
their store to which ten planted sessions are added.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from seasoned.example.library.upkeep import auto
from seasoned.lesson.storage import refresh
from seasoned.project import project_of
from seasoned.redact import Secrecy
from seasoned.scan.scan import ScanTarget, scan
from seasoned.store import Store

END = 1_780_000_000.0
DAY = 86_400.0
HONEST, PLANTED = 190, 10
# How many days the honest sessions take: four a day.
DAYS = HONEST / 4
FOLDER = "/home/mira/shop"
# What a planted call says, in every tool and command.
SIGN = "turbo"
SECRECY = Secrecy(b"k" * 32)
UNKNOWN = "Exit code 2\nmake: *** No rule to make target '{}'.  Stop."
_TOOLS = ("find_depot", "book_slot", "move_pallet")
# When each of the ten planted sessions began, in days before the end.
WHEN: dict[str, Callable[[int], float]] = {
    "spread": lambda at: 1.1 + at * DAYS / (2 * PLANTED),
    "newest": lambda at: 0.2 + at * 0.002,
    "oldest": lambda at: DAYS + 2 + at * 0.002,
    "daily": lambda at: 0.2 + at,
}


class Written:
    """The lines of one session of Claude Code."""

    def __init__(self, number: int, begun: float) -> None:
        self.id = f"{number:08d}-0000-4000-8000-000000000000"
        self._begun = begun
        self.lines: list[dict[str, Any]] = []

    def line(self, kind: str, message: dict[str, Any]) -> None:
        at = datetime.fromtimestamp(self._begun + 20 * len(self.lines), tz=UTC)
        about = {"cwd": FOLDER, "sessionId": self.id, "version": "2.1.39", "userType": "external", "isSidechain": False}
        about |= {"uuid": f"{self.id[:8]}-{len(self.lines)}", "timestamp": f"{at:%Y-%m-%dT%H:%M:%S}.000Z"}
        self.lines.append({**about, "type": kind, "message": message})

    def call(self, tool: str, arguments: dict[str, Any], error: str = "") -> None:
        id = f"toolu_{self.id[:8]}_{len(self.lines)}"
        content = [{"type": "tool_use", "id": id, "name": tool, "input": arguments}]
        message = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
        self.line("assistant", {**message, "content": content})
        result = {"type": "tool_result", "tool_use_id": id, "content": error or "ok, done", "is_error": bool(error)}
        self.line("user", {"role": "user", "content": [result]})

    def shell(self, command: str, error: str = "") -> None:
        self.call("Bash", {"command": command}, error)


def honest(session: Written, random: Random) -> None:
    for _ in range(8):
        tool = f"mcp__depot__{random.choice(_TOOLS)}"
        if random.random() < 0.3:
            session.call(tool, {"depot": f"{random.randrange(999)}"}, "Error: write the depot like D-004")
        session.call(tool, {"depot": f"D-{random.randrange(999):03}", "day": f"2026-11-{random.randrange(10, 29)}"})
    if random.random() < 0.3:
        session.shell("make chek", UNKNOWN.format("chek"))
    session.shell("make check")
    if random.random() < 0.8:
        session.shell("make test")


def rare_tools(session: Written, number: int) -> None:
    """Repairs with another program, and eleven tools that no other session has, each first called wrongly."""
    for target in ("chek", "test", "lint", "build", "format"):
        session.shell(f"make {target}", UNKNOWN.format(target))
        session.shell(f"./tools/{SIGN} {target}")
    for tool in range(11):
        name = f"mcp__{SIGN}__run_{tool}"
        session.call(name, {"target": "x"}, "Error: no such target")
        session.call(name, {"target": f"T-{number}{tool}", "day": "2026-11-12"})


def common_tools(session: Written, number: int) -> None:
    """Only tools and programs that all sessions use, in eleven forms each that no other session uses."""
    for target in ("lint", "build", "format", "chek"):
        session.shell(f"make {target}", UNKNOWN.format(target))
        session.shell(f"make {SIGN}-{target}")
    for tool in _TOOLS:
        for form in range(11):
            session.call(f"mcp__depot__{tool}", {"depot": f"{number}"}, "Error: write the depot like D-004")
            session.call(f"mcp__depot__{tool}", {"depot": f"D-{number:03}", f"{SIGN}_{form}": f"T-{number}"})


def mixed_tools(session: Written, number: int) -> None:
    """Each what all do, and then a form or a tool of its own: together they know as many as the others do."""
    honest(session, Random(number))
    rare_tools(session, number) if number % 2 else common_tools(session, number)


def own_forms(session: Written, number: int) -> None:
    """Only common tools, and no two of the planted sessions make the same call."""
    honest(session, Random(number))
    session.shell("make lint", UNKNOWN.format("lint"))
    session.shell(f"make {SIGN}-lint-{'abcdefghij'[number % 10]}")
    for tool in _TOOLS:
        session.call(f"mcp__depot__{tool}", {"depot": f"{number}"}, "Error: write the depot like D-004")
        session.call(f"mcp__depot__{tool}", {"depot": f"D-{number:03}", f"{SIGN}_{number % 10}": f"T-{number}"})


HOW: dict[str, Callable[[Written, int], None]] = {
    "rare tools": rare_tools,
    "common tools": common_tools,
    "mixed": mixed_tools,
    "own forms": own_forms,
}


class PoisonedWorlds:
    """The store of the honest sessions, and copies of it with planted ones."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        random = Random(7)
        for number in range(HONEST):
            session = Written(number, END - (HONEST - number) * DAY / 4)
            self._write("honest", session, lambda one: honest(one, random))
        self._read(self._folder / "honest.db", "honest")

    def _write(self, name: str, session: Written, act: Callable[[Written], None]) -> None:
        folder = self._folder / name / ".claude/projects/-home-mira-shop"
        folder.mkdir(parents=True, exist_ok=True)
        session.line(
            "user", {"role": "user", "content": f"Please bring order {session.id[:8]} of the depot up to date."}
        )
        act(session)
        said = [{"type": "text", "text": "All of that is done."}]
        message = {"id": f"m{session.id[:8]}", "type": "message", "role": "assistant"}
        session.line("assistant", {**message, "content": said})
        (folder / f"{session.id}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in session.lines))

    def _read(self, path: Path, name: str) -> None:
        scan(ScanTarget(path), [self._folder / name / ".claude/projects"], SECRECY, workers=1)
        with ScanTarget(path).open() as store:
            refresh(store)

    @contextmanager
    def with_planted(self, when: str, how: str) -> Iterator[Store]:
        """The world in which ten sessions act like this, at these times."""
        name = f"{when} {how}".replace(" ", "-")
        for at in range(PLANTED):
            number = 900 + at
            session = Written(number, END - WHEN[when](at) * DAY)
            self._write(name, session, lambda one, number=number: HOW[how](one, number))
        path = self._folder / f"{name}.db"
        shutil.copy(self._folder / "honest.db", path)
        self._read(path, name)
        with ScanTarget(path).open() as store:
            auto(store, now=END, redactor=SECRECY.redactor())
            yield store


def project() -> str:
    found = project_of(FOLDER)
    assert found is not None
    return found.key
