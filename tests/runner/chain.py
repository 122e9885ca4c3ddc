"""Four sessions of each agent, connected by our own command: what a review of one of them teaches the others.

`python -m tests.runner.chain FOLDER AGENT…`, where there is no network; what each model was asked, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.review import scripted
from tests.runner.users import answer, files, login, project
from tests.scripted_server import ScriptedServer, Step, serve_script

QUOTE = "From now on, never open PRs against the release branch."
RULE, NOTE, SKILL = "Never open PRs against the release branch", "Weeks are written like 2026-W09.", "depot-releases"
OLD, NEW = "How releases are made.", "How releases are made and announced."
REVIEW = "# The session"
ASKS = {
    "first": f"How many were late in week 9? {QUOTE}",
    "second": "How many in week 10?",
    "third": "How many in week 11?",
    "elsewhere": "How many in week 12?",
}
ALONE = {
    "claude-code": ("claude", "-p"),
    "codex": ("codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
    "hermes": ("hermes", "-z"),
    "opencode": ("opencode", "run"),
    "qwen": ("qwen", "-p"),
}


class Person:
    """One person with one agent, which Seasoned is connected to; it reviews each session, twice a day at most."""

    def __init__(self, folder: Path, agent: str, server: ScriptedServer, path: str) -> None:
        self.agent, self.server, self.home = agent, server, folder / agent
        self.home.mkdir(parents=True)
        self.work, self.other = (self._project(name) for name in ("depot", "other"))
        own = login(self.home, agent, server.url)
        self.variables = {"PATH": path, "HOME": str(self.home), "SEASONED_TEST": "1", **own}
        ours = self.home / ".seasoned"
        ours.mkdir(mode=0o700)
        (ours / "config.toml").write_text("review_memory_turns = 1\nreview_per_day = 2\n")
        self.log = ours / "logs" / "hooks.log"
        self.seasoned("connect", agent, "--yes")

    def _project(self, name: str) -> Path:
        folder = project(self.home / name)
        git = ["git", "-C", str(folder), "-c", "user.name=Mira", "-c", "user.email=mira@example.org"]
        subprocess.run([*git, "remote", "add", "origin", f"https://github.com/mira/{name}.git"], check=True)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "Begin"], check=True)
        return folder

    def seasoned(self, *words: str) -> str:
        command = [sys.executable, "-m", "seasoned.cli.main", *words]
        ran = subprocess.run(command, env=self.variables, cwd=self.home, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def session(self, name: str, folder: Path, review: list[Step]) -> dict[str, list[str]]:
        """A session of one turn, and the review that it leads to in the background."""
        known, reviewed, begun = len(self.server.requests), self.reviews(), time.monotonic()
        titles = {"match": "title generator", "text": "Parcels"}
        self.server.script[:] = [titles, {"match": ASKS[name], "without": REVIEW, "text": "Three."}, *review]
        ran = subprocess.run(
            [*ALONE[self.agent], ASKS[name]],
            env=self.variables,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        while self.reviews() == reviewed and time.monotonic() < begun + 60:
            time.sleep(0.05)
        asked = [line["text"] for line in self.server.requests[known:] if line["method"] == "POST"]
        return {
            "asked": [text for text in asked if REVIEW not in text and "title generator" not in text],
            "reviewed": [text for text in asked if REVIEW in text],
        }

    def reviews(self) -> int:
        return self.log.read_text().count("review of ") if self.log.exists() else 0

    def settings(self) -> dict[str, bytes]:
        """The agent's own settings, and the projects' files."""
        names = ("settings.json", "config.toml", "config.yaml", "opencode.json", "AGENTS.md", "hooks.json")
        found = files(self.home, besides=".seasoned")
        return {name: data for name, data in found.items() if name.endswith(names)}


def play(folder: Path, agent: str, path: str) -> dict[str, Any]:
    with serve_script() as server:
        person = Person(folder, agent, server, path)
        before = person.settings()
        text = f"---\nname: {SKILL}\ndescription: {OLD}\n---\n\n1. Tag it.\n"
        taught = [scripted.note(NOTE), scripted.skill(SKILL, text), scripted.rule(RULE, QUOTE)]
        patched = scripted.skill(SKILL, NEW, action="patch", old_text=OLD)
        found: dict[str, Any] = {}
        for name, place, proposals in (
            ("first", person.work, taught),
            ("second", person.work, [patched]),
            ("third", person.work, []),
            ("elsewhere", person.other, []),
        ):
            steps = [answer(agent, scripted.data(*proposals), match=REVIEW)] if proposals else []
            found[name] = person.session(name, place, steps)
        status = subprocess.run(
            ["git", "-C", str(person.work), "status", "--porcelain"], capture_output=True, text=True
        )
        after = person.settings()
        return {
            **found,
            "changed": sorted(name for name in {*before, *after} if before.get(name) != after.get(name)),
            "status": status.stdout,
            "sessions": json.loads(person.seasoned("sessions", "--json"))["sessions"],
            **json.loads(person.seasoned("review", "--ledger", "--json")),
        }


def main() -> None:
    folder, *agents = Path(sys.argv[1]), *sys.argv[2:]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    print(json.dumps({agent: play(folder, agent, path) for agent in agents}, default=str))  # noqa: T201


if __name__ == "__main__":
    main()
