"""A process that is killed in the middle of a review leaves memory, skills and store whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seasoned.begin.memory import FILES
from seasoned.review import memory_file
from seasoned.review.journal import PERSON, changes
from seasoned.review.ledger import reviews
from seasoned.review.skill_edit import create
from seasoned.review.skill_library import skills
from tests.review.scripted import STEPS, context_at, open_at
from tests.torture import TORTURE

KILLS = 20 if TORTURE else 3
CHILD = """
import asyncio, itertools, sys
from pathlib import Path
from seasoned.review.due import ReviewSettings
from tests.scripted_model import ScriptedModel, call
from tests.review.scripted import STEPS, context_at, review_now, session_about

home, mark = Path(sys.argv[1]), sys.argv[2]

def steps():
    for number in itertools.count():
        name = f"skill-{mark}-{number}"
        yield call("memory", action="add", text=f"Fact {mark} {number}.")
        if number == 0:
            print("begun", flush=True)
        yield call("skill_manage", action="create", name=name, description="How to.", content=STEPS)
        yield call("skill_manage", action="patch", name=name, old_string="first error", new_string="last error")
        yield call("skill_manage", action="write_file", name=name, file="references/a.md", content="text " * 200)
        yield call("memory", action="remove", old_text=f"Fact {mark} {number}.")
        if number % 3 == 2:
            yield "Kept."

async def go():
    found = steps()
    model = ScriptedModel(*[(lambda messages: next(found)) for _ in range(5000)])
    while True:
        settings = ReviewSettings(tokens_per_day=None)
        await review_now(model, session_about("Work."), context_at(home), settings=settings)

asyncio.run(go())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_killing_the_process_in_mid_review_leaves_everything_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    chance = random.Random(7)
    written = 0
    for round_number in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(home), str(round_number)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(chance.uniform(0.0, 0.4))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        _assert_whole(home)
        with open_at(home) as store:
            found = changes(store, limit=10_000)
        assert len(found) > written
        written = len(found)
    with open_at(home) as store:
        states = [review.state for review in reviews(store, limit=1_000, now=time.time())]
    assert "running" not in states and states.count("lost") >= 1


def _assert_whole(home: Path) -> None:
    with open_at(home) as store:
        assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    for which in FILES:
        assert memory_file.read(home / "memory", which, limit=2_200).problem is None
    found = skills(home / "skills")
    assert [skill.problem for skill in found if skill.problem] == []
    for skill in found:
        for file in skill.files:
            assert (skill.path / file).read_text("utf-8") == "text " * 200
    with context_at(home).journal() as journal:
        assert memory_file.add(journal, "user", "Still writable.", by=PERSON).ok
        assert memory_file.remove(journal, "user", "Still writable.", by=PERSON).ok
        assert memory_file.add(journal, "notes", "Settled.", by=PERSON).ok
        assert memory_file.remove(journal, "notes", "Settled.", by=PERSON).ok
        assert create(journal, f"after-{os.urandom(4).hex()}", STEPS, description="Settles.", by=PERSON).ok
        assert changes(journal.store, state="writing") == [], "what was cut off is known to be made, or not made"
