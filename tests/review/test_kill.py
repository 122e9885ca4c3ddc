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
import itertools, sys
from pathlib import Path
from tests.review.scripted import STEPS, answer, note, review_now, session_about, skill

home, mark = Path(sys.argv[1]), sys.argv[2]
for number in itertools.count():
    name, fact = f"skill-{mark}-{number}", f"Fact {mark} {number}."
    said = answer(
        note(fact),
        skill(name),
        skill(name, "last error", action="patch", old_text="first error"),
        skill(name, "text " * 200, action="write_file", file="references/a.md"),
        note("", action="remove", old=fact),
    )
    if number == 1:
        print("begun", flush=True)
    review_now(home, session_about("Work."), said, tokens_per_day=9_000_000, per_day=9_000)
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
