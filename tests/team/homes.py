"""Homes of a team: each with a checkout, histories and a store, and a server on a real PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from seasoned.app import team
from seasoned.app.stores import scan_into_store
from seasoned.config import Config, TeamSettings
from seasoned.experience.lesson import find_sheet
from seasoned.store import open_store
from seasoned.web.app import create_web
from tests.confirm.keys import WORDS
from tests.confirm.serving import Serving, serving
from tests.history.claude_lines import ClaudeFile

SHOP, BANK = "example.org/acme/shop", "example.org/acme/bank"
FAILS, WORKS = "rtk make verify", "make verify"
# What one session does: a command with a form that fails first, and what every session runs.
USUAL = ((FAILS, "bash: rtk: command not found"), (WORKS, None), ("make test", None), ("make lint", None))
Step = tuple[str, str | None]


class Home:
    """One machine: its settings, its checkouts, and the histories of its agent."""

    def __init__(self, folder: Path, *projects: str) -> None:
        self.folder = folder
        settings = TeamSettings(projects=projects)
        self.config = Config(home=folder / ".seasoned", claude_config_dir=folder / ".claude", team=settings)
        self._sessions = 0

    def checkout(self, project: str = SHOP) -> Path:
        """A checkout of a repository, with a Makefile that has what sessions run."""
        folder = self.folder / project.rsplit("/", 1)[-1]
        if not folder.exists():
            (folder / ".git").mkdir(parents=True)
            (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://{project}.git\n')
            (folder / "Makefile").write_text("test lint verify deploy:\n\t@echo 3 passed\n")
        return folder

    def session(self, *steps: Step, project: str = SHOP, prompt: str = "Go on with it.") -> str:
        """Write the history of one more session; its id."""
        self._sessions += 1
        name = f"{abs(hash(str(self.folder))) % 16**8:08x}-0000-4000-8000-{self._sessions:012x}"
        cwd = str(self.checkout(project))
        day = f"2026-03-{1 + self._sessions % 28:02d}"
        file = ClaudeFile(name).user(prompt, cwd=cwd)
        for at, (command, error) in enumerate(steps or USUAL):
            call = f"toolu_{name}_{at}"
            file.calls(call, command=command)
            text = "done" if error is None else f"Exit code 127\n{error}"
            file.result(call, text, is_error=error is not None, cwd=cwd)
        moved = [
            line.replace(b"2026-03-01", day.encode()).replace(b"/home/mira/waypost", cwd.encode())
            for line in file.lines
        ]
        target = self.folder / "history" / f"{name}.jsonl"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(moved))
        return name

    def scan(self) -> None:
        _, store = scan_into_store(self.config, [self.folder / "history"])
        assert store is not None
        store.close()

    def learn(self, sessions: int = 3, *steps: Step, project: str = SHOP) -> None:
        """Have so many sessions with the same steps, and read them."""
        for _ in range(sessions):
            self.session(*steps, project=project)
        self.scan()

    def sheet(self, project: str = SHOP) -> list[str]:
        """The lines that a session of a project begins with here."""
        with open_store(self.config.store_path) as store:
            found = find_sheet(store, project, str(self.checkout(project)))
        return [] if found is None else [line.text for line in found.lines]

    def hints(self, project: str = SHOP) -> dict[str, str]:
        """By form: the call that is shown before one that fails."""
        with open_store(self.config.store_path) as store:
            rows = store.rows("experience.topic", {"project": project, "topic": "before"})
        return {row["key"]: msgspec.json.decode(row["content"])["text"] for row in rows}

    def join(self, server: Serving, person: str) -> None:
        code, _ = invite(server, person)
        team.join(self.config, server.url, code, ())

    def sync(self) -> None:
        team.push(self.config)
        team.pull(self.config)


def invite(server: Serving, person: str) -> tuple[str, str]:
    return team.invite(server.config, person, admin="root", ask=lambda _: WORDS)


@contextmanager
def team_server_at(folder: Path, url: str) -> Iterator[Serving]:
    """The server of a team, in a thread, with one credential of each role."""
    with serving(folder / "server", database_url=url, create=create_web, clock=time.time) as server:
        yield server
