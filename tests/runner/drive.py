"""Runs each agent of a plan without a network: `python -m tests.runner.drive FOLDER AGENT…`, answers as JSON.

In here and not in the test, so that one start of the place without a network serves all of them.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from seasoned.app.scheduler import build_parts
from seasoned.config import load
from seasoned.redact.key import Secrecy
from seasoned.runner.agent import RunRequest
from seasoned.runner.run import run
from seasoned.schedule.job import Every, Job, Slot
from seasoned.schedule.run import run_slot
from tests.runner.users import SCHEMA, answer, files, login, project
from tests.scripted_server import ScriptedServer, serve_script

JOB_ANSWERS = ("Three files changed.", "[SILENT]", "[SCRIPT_FAILED] No network.")


class User:
    """One person with one agent."""

    def __init__(self, folder: Path, agent: str, server: ScriptedServer, path: str) -> None:
        self.agent, self.server, self.home = agent, server, folder / agent
        self.home.mkdir()
        self.work = project(self.home / "work")
        own = login(self.home, agent, server.url)
        os.environ.clear()
        os.environ.update({"PATH": path, "HOME": str(self.home), "SEASONED_TEST": "1", **own})
        self.config = load()

    def ask(self, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
        """One run apart: what came of it, what was asked, and which files of the user changed."""
        before, known = self.snapshot(), len(self.server.requests)
        self.server.script[:] = steps
        fields = {"instructions": "You review.", "schema": SCHEMA, "seconds": 60.0, **more}
        done = run(self.config, RunRequest(agent=self.agent, prompt="Review this session.", **fields))
        after = self.snapshot()
        return {
            "run": msgspec.to_builtins(done),
            "asked": self.asked(known),
            "changed": sorted(name for name in {*before, *after} if before.get(name) != after.get(name)),
        }

    def asked(self, known: int) -> list[dict[str, Any]]:
        """Size and text of each request, and how many tools it offered."""
        lines = [line for line in self.server.requests[known:] if line["method"] == "POST"]
        return [
            {
                "bytes": len(line["text"]),
                "tools": len(line["body"].get("tools") or []),
                "offered": [str(tool.get("name")) for tool in line["body"].get("tools") or []],
                "text": line["text"],
            }
            for line in lines
        ]

    def job(self, text: str, hour: int) -> dict[str, Any]:
        """One run of an hourly job, and what its agent offered to the model."""
        self.server.script[:] = [{"text": text}]
        known = len(self.server.requests)
        job = Job(
            id="hourly",
            name="hourly",
            schedule=Every(3600),
            created_at=0.0,
            prompt="What changed?",
            agent=self.agent,
            folder=str(self.work),
        )
        parts = build_parts(self.config, Secrecy(b"k" * 32))
        done = run_slot(parts, job, Slot(job.id, 3600.0 * (hour + 1)), lambda: True)
        return {"run": msgspec.to_builtins(done), "asked": self.asked(known)}

    def snapshot(self) -> dict[str, bytes]:
        return files(self.home, besides=".seasoned")


def play(folder: Path, agent: str, path: str) -> dict[str, Any]:
    with serve_script() as server:
        user = User(folder, agent, server, path)
        user.ask(answer(agent, {"notes": []}))  # the first run in a new home writes what every run finds later
        found: dict[str, Any] = {"asked": user.ask(answer(agent, {"notes": ["second"]}))}
        if agent in ("claude-code", "codex"):
            found["jobs"] = [user.job(text, hour) for hour, text in enumerate(JOB_ANSWERS)]
        if agent != "opencode":  # it tries again for minutes
            found["refused"] = user.ask(*[{"status": 401, "error": "invalid api key"}] * 9)
        return found


def main() -> None:
    folder, *agents = Path(sys.argv[1]), *sys.argv[2:]
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    print(json.dumps({agent: play(folder, agent, path) for agent in agents}, default=str))  # noqa: T201


if __name__ == "__main__":
    main()
