"""Runs each agent of a plan without a network: `python -m tests.runner.drive FOLDER AGENT…`, answers as JSON.

In here and not in the test, so that one start of the place without a network serves all of them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from seasoned.app.scheduler import build_parts
from seasoned.config import load
from seasoned.redact.key import Secrecy
from seasoned.review.answer import Context
from seasoned.review.due import reviewer_of
from seasoned.review.run import review_session
from seasoned.runner.agent import RunRequest
from seasoned.runner.run import run
from seasoned.schedule.job import Every, Job, Slot
from seasoned.schedule.run import run_slot
from seasoned.session import Message, Session, SessionRef
from seasoned.store import open_store
from tests.review import scripted
from tests.runner.users import SCHEMA, answer, files, login, project
from tests.scripted_server import ScriptedServer, serve_script

PROJECT = "github.com/mira/depot"
QUOTE = "From now on, never open PRs against the release branch."
RULE = "Never open PRs against the release branch"
PAGE = "Every deploy needs the flag that skips the signature check on the mirror."
JOB_ANSWERS = ("Three files changed.", "[SILENT]", "[SCRIPT_FAILED] No network.")
KEPT = ("Mira writes weeks like 2026-W09.", "depot-releases")


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

    def review(self, *proposals: dict[str, str], session: Session) -> dict[str, Any]:
        """A review of a session by the agent in which it ran."""
        self.server.script[:] = [answer(self.agent, scripted.data(*proposals))]
        known = len(self.server.requests)
        context = Context(
            home=self.config.home,
            secrecy=Secrecy(b"k" * 32),
            memory_folder=self.config.memory_folder,
            skill_folder=self.config.skill_folder,
            project=PROJECT,
        )
        reviewer = reviewer_of(self.config, self.agent)
        assert reviewer is not None
        begun = time.monotonic()
        done = review_session(self.config, context, session, reviewer)
        return {
            "review": msgspec.structs.asdict(done),
            "asked": self.asked(known),
            "seconds": time.monotonic() - begun,
            "kept": {
                name: data.decode("utf-8", "replace") for name, data in files(self.config.home, ending=".md").items()
            },
        }

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

    def session(self, *more: Message) -> Session:
        """A session of this agent, which the store knows."""
        with open_store(self.config.store_path) as store, store.write():
            insert = "INSERT OR IGNORE INTO session (agent, native_id, project, ended) VALUES (?, 's1', ?, 1.0)"
            store.connection.execute(insert, (self.agent, PROJECT))
        said = (Message("user", f"How many were late in week 9? {QUOTE}"), Message("assistant", "Three."))
        return Session(SessionRef(self.agent, "s1"), "x", "", (*said, *more))

    def snapshot(self) -> dict[str, bytes]:
        return files(self.home, besides=".seasoned")


def play(folder: Path, agent: str, path: str) -> dict[str, Any]:
    with serve_script() as server:
        user = User(folder, agent, server, path)
        proposals = (scripted.note(KEPT[0]), scripted.skill(KEPT[1]), scripted.rule(RULE, QUOTE))
        # The first run in a new home writes what every run finds later.
        found = {"learned": user.review(*proposals, session=user.session())}
        found["asked"] = user.ask(answer(agent, {"notes": ["second"]}))
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
