"""A program within limits: what it printed, what ended it, and that nothing of it stays, also when we are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seasoned.runner.process import run_limited

# It starts a child that outlives it, as agents do with their servers.
FAMILY = "sleep 300 & echo $! > {mark}; echo $$ >> {mark}; wait"
CALLER = """
import sys
from pathlib import Path
from seasoned.runner.process import run_limited
run_limited(["sh", "-c", sys.argv[1]], folder=Path("/"), environment={}, seconds=60)
"""


def test_what_it_is_given_and_prints_and_how_it_ends(tmp_path: Path) -> None:
    ran = run_limited(["sh", "-c", "cat; echo no >&2; exit 3"], folder=tmp_path, environment={}, seconds=9, given="hi")
    assert (ran.output, ran.errors.strip(), ran.code, ran.limit) == ("hi", "no", 3, "")
    missing = run_limited([str(tmp_path / "nothing")], folder=tmp_path, environment={}, seconds=9)
    assert missing.limit == "start" and "No such file" in missing.errors


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")
def test_nothing_of_it_stays_after_its_time_nor_after_we_are_killed_at_any_moment(tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    family = ["sh", "-c", FAMILY.format(mark=mark)]
    assert run_limited(family, folder=tmp_path, environment=dict(os.environ), seconds=0.3).limit == "time"
    callers = []
    for number in range(5):
        text = FAMILY.format(mark=tmp_path / f"pids-{number}")
        callers.append(subprocess.Popen([sys.executable, "-c", CALLER, text]))
    for number, caller in enumerate(callers):
        _wait_for(tmp_path / f"pids-{number}")
        time.sleep(0.02 * number)
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    pids = [int(line) for file in tmp_path.iterdir() for line in file.read_text().split()]
    until = time.monotonic() + 20
    while time.monotonic() < until and any(map(_is_running, pids)):
        time.sleep(0.02)
    # On a busy machine the first family may not have come to write its two.
    assert len(pids) >= 10
    assert [pid for pid in pids if _is_running(pid)] == []


def _wait_for(file: Path) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until and (not file.exists() or file.read_text().count("\n") < 2):
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
