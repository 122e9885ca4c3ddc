"""Jobs of 24 hours with a clock that is moved: `python -m tests.runner.day FOLDER RUNS AGENT…`, their history as JSON.

The scheduler, its store, the agents and the deliveries are real; the clock and the model are not.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from seasoned.app.scheduler import build_parts
from seasoned.config import load
from seasoned.redact.key import Secrecy
from seasoned.schedule import job_table
from seasoned.schedule.delivery import AnswerSender
from seasoned.schedule.job import DAY_SECONDS, Every, Job
from seasoned.schedule.run import run_slot
from seasoned.schedule.scheduler import Scheduler
from seasoned.store import open_database
from tests.runner.chain import REVIEW
from tests.runner.users import login, project
from tests.schedule.made import START, SetClock
from tests.scripted_server import serve_script

ANSWERS = ("Three files changed.", "[SILENT]", "[SCRIPT_FAILED] No network.")
# A slot that starts later than this is late.
STEP_SECONDS = 60.0


def play(folder: Path, runs: int, agents: list[str], path: str) -> dict[str, Any]:
    """A day of both agents, as one person has them, each with so many runs."""
    with serve_script() as server:
        own: dict[str, str] = {}
        for agent in agents:
            own |= login(folder, agent, server.url)
        os.environ.clear()
        os.environ.update({"PATH": path, "HOME": str(folder), "SEASONED_TEST": "1", **own})
        config, clock = load(), SetClock()
        config.home.mkdir(mode=0o700)
        work, every = project(folder / "work"), int(DAY_SECONDS / runs)
        server.script[:] = [
            # Reviews of these sessions are asked for too, in the background.
            {"match": f"News for {agent}?", "without": REVIEW, "text": ANSWERS[number % 3]}
            for agent in agents
            for number in range(runs)
        ]
        database = open_database(config)
        for agent in agents:
            job = Job(
                id=agent,
                name=agent,
                schedule=Every(every),
                created_at=START,
                prompt=f"News for {agent}?",
                agent=agent,
                folder=str(work),
                delivery=(f"file:{agent}.md",),
            )
            job_table.add(database, job, now=START)
        scheduler = Scheduler(
            lambda: open_database(config, durable=True),
            partial(run_slot, build_parts(config, Secrecy(b"k" * 32))),
            clock=clock,
            monotonic=clock.monotonic,
            deliver=AnswerSender(config),
        )
        while clock() < START + DAY_SECONDS + 2 * STEP_SECONDS:
            scheduler.tick()
            for thread in [one for one in threading.enumerate() if one.name.startswith("cron_")]:
                thread.join(60)
            clock.advance(STEP_SECONDS)
        scheduler.tick()
        scheduler.close()
        found = {
            agent: {
                "history": [msgspec.to_builtins(one) for one in reversed(job_table.history(database, agent, limit=99))],
                "report": (config.home / "reports" / f"{agent}.md").read_text(),
            }
            for agent in agents
        }
        database.close()
        return found


def main() -> None:
    folder, runs, *agents = Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
    print(json.dumps(play(folder, runs, agents, f"{folder / 'bin'}:{os.environ['PATH']}")))  # noqa: T201


if __name__ == "__main__":
    main()
