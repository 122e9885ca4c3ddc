"""One home in which every case was lived: in a project of its own, in one project by ten sources, in ten projects."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from seasoned.app.template import build
from seasoned.template.mine.selection import MiningOptions
from tests.experience.attack.cases import Case, harmless, hostile
from tests.experience.attack.histories import DAY, make_programs, make_tree, steps, write_session

SEASONED = Path(sys.executable).parent / "seasoned"
# One of each agent: enough for a line of a sheet, which needs two.
SESSIONS = 2
SOURCES = 10
CROWD, GARDEN = "crowd", "garden"
# What the environment must not bring along.
_UNSET = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "ANTHROPIC_BASE_URL", "SEASONED_DATABASE_URL")


@dataclass(frozen=True)
class World:
    """A home with its store, and the folders of its projects."""

    root: Path
    hostile: Sequence[Case]
    harmless: Sequence[Case]

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def cases(self) -> list[Case]:
        return [*self.hostile, *self.harmless]

    def folder(self, project: str) -> Path:
        return self.root / "work" / project

    def project_of(self, case: Case) -> str:
        """A name that says nothing about the case: words of a folder are replaced where examples leave it."""
        return f"shop{self._numbers[case.id]:03d}"

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {case.id: number for number, case in enumerate(self.cases)}

    @contextmanager
    def active(self) -> Iterator[None]:
        """The environment of this home, for what runs in this process."""
        before = dict(os.environ)
        given = {
            "HOME": str(self.home),
            "SEASONED_HOME": str(self.home / ".seasoned"),
            "SEASONED_HOOK_RESIDENT": "0",
            # At the end: the real programs of this machine come first.
            "PATH": f"{before.get('PATH', '')}{os.pathsep}{self.root / 'bin'}",
        }
        os.environ.update(given)
        for name in _UNSET:
            os.environ.pop(name, None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def make_world(root: Path) -> World:
    """Write the histories, scan them with the real program, and build the templates of every project."""
    world = World(root, hostile(), harmless())
    world.home.mkdir(parents=True)
    make_programs(root / "bin", [command for case in world.cases for command in (case.fails, case.command)])
    _write_histories(world, time.time())
    with world.active():
        subprocess.run([SEASONED, "scan", world.root / "histories"], check=True, capture_output=True)
        for agent in ("claude-code", "codex"):
            # As large as mining allows, so that every case has its chance.
            most = MiningOptions(min_messages=4, max_sessions=1000, max_examples=4000, max_error_rate=0.9)
            build(agent, options=msgspec.structs.replace(most, agent=agent))
    return world


def _write_histories(world: World, now: float) -> None:
    histories = world.root / "histories"

    def write(project: str, number: int, cases: Sequence[Case], days: int, *, codex: bool) -> None:
        name = f"{project}-{number}"
        write_session(histories, name, world.folder(project), now - days * DAY, steps(cases, number), codex=codex)

    for case in world.cases:
        project = world.project_of(case)
        make_tree(world.folder(project), [case.fails, case.command])
        for number in range(SESSIONS):
            write(project, number, [case], 20 - number, codex=number == 1)
    commands = [case.command for case in world.hostile]
    make_tree(world.folder(CROWD), commands)
    for number in range(SOURCES):
        write(CROWD, number, world.hostile, 15 - number, codex=number % 2 == 1)
        far = f"far-{number}"
        make_tree(world.folder(far), commands)
        write(far, 0, world.hostile, 15 - number, codex=number % 2 == 1)
    # Two projects teach how named tools are called, so that a third one may be shown it.
    named = [case for case in world.harmless if case.carrier == "tool"]
    own = [Case("verify", "en", "work", "command", (), arguments=(("command", "make verify"),))]
    for project, cases in (("near-0", named), ("near-1", named), (GARDEN, own)):
        make_tree(world.folder(project), ["make verify"])
        for number in range(2):
            write(project, number, cases, 5 - number, codex=False)
