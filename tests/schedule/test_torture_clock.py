"""Three schedulers on one store, killed again and again: no slot starts twice, and none is lost without a line."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from seasoned.config import Config
from seasoned.schedule import job_table
from seasoned.schedule.job import Every
from seasoned.schedule.job_table import GRACE_SECONDS
from seasoned.schedule.scheduler import Scheduler
from seasoned.schedule.times import next_times
from seasoned.store import Database, open_database
from tests.conftest import ROOT
from tests.schedule.made import SetClock, job, keep
from tests.torture import TORTURE

SCHEDULERS = 3
JOBS, STARTS, KILLS, LIMIT_SECONDS = (20, 1000, 20, 300) if TORTURE else (8, 20, 2, 20)
LEASE_SECONDS = 1.0


def _start(config: Config, starts: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.schedule.play_scheduler"]
    arguments = [str(config.home), config.database_url or "", str(starts), str(LEASE_SECONDS)]
    return subprocess.Popen([*command, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL)


def _count(starts: Path) -> int:
    return starts.read_bytes().count(b"\n") if starts.exists() else 0


def _torment(config: Config, starts: Path) -> int:
    """Let schedulers run, and kill one whenever some more runs have started; returns how many were killed."""
    processes = [_start(config, starts) for _ in range(SCHEDULERS)]
    kills, limit = 0, time.monotonic() + LIMIT_SECONDS
    try:
        while (kills < KILLS or _count(starts) < STARTS) and time.monotonic() < limit:
            assert all(one.poll() is None for one in processes), "a scheduler ended by itself"
            if _count(starts) > (kills + 1) * STARTS / (KILLS + 1) and kills < KILLS:
                victim = random.randrange(SCHEDULERS)
                processes[victim].kill()
                processes[victim].wait()
                processes[victim] = _start(config, starts)
                kills += 1
            time.sleep(0.05)
    finally:
        for one in processes:
            one.kill()
            one.wait()
    return kills


@pytest.mark.slow
def test_no_slot_starts_twice_and_none_is_lost(any_database: Database, database_config: Config, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    begun_at = time.time()
    for number in range(JOBS):
        one = job(id=f"j{number}", name=f"n{number}", created_at=begun_at, schedule=Every(1))
        job_table.add(any_database, one, now=begun_at)
    kills = _torment(database_config, starts)
    # One more, later, which nobody kills: every slot that came before gets its line.
    now = SetClock(time.time() + GRACE_SECONDS)
    with any_database.write():
        seen_until = min(stored.next_at or 0.0 for stored in job_table.jobs(any_database))
        for stored in job_table.jobs(any_database):
            any_database.run("schedule.advance_job", {"id": stored.job.id, "next_at": None, "seen_at": stored.next_at})
    last = Scheduler(lambda: open_database(database_config, durable=True), keep([]), clock=now, monotonic=now.monotonic)
    limit = time.monotonic() + 60
    while any(not one.is_ended for one in job_table.history(any_database, limit=10**6)):
        assert time.monotonic() < limit
        last.tick()
        time.sleep(0.005)
    last.close()
    begun = Counter(starts.read_text("utf-8").splitlines())
    assert max(begun.values()) == 1, "no slot starts twice"
    lines = {(line.job_id, line.scheduled_at): line for line in job_table.history(any_database, limit=10**6)}
    for stored in job_table.jobs(any_database):
        came = [one for one in next_times(stored.job, begun_at, LIMIT_SECONDS + 60) if one < seen_until]
        assert came and not [one for one in came if (stored.job.id, one) not in lines]
    for line in lines.values():
        assert line.outcome == "ok" or (line.outcome in ("unknown", "skipped") and line.reason)
        assert line.outcome != "skipped" or f"{line.job_id} {line.scheduled_at!r}" not in begun
    assert kills == KILLS and sum(begun.values()) >= STARTS
