"""Four schedulers on one store, killed again and again: no slot starts twice, and none is lost without a line."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from seasoned.config import Config
from seasoned.schedule import job_table
from seasoned.schedule.job import Every, Job, JobRun
from seasoned.schedule.job_table import schedulers
from seasoned.schedule.scheduler import Scheduler
from seasoned.schedule.times import next_times
from seasoned.store import Database, open_database
from tests.conftest import ROOT
from tests.schedule.made import SetClock, job, keep
from tests.torture import TORTURE

SCHEDULERS = 4
JOBS, SLOTS, KILLS, KILL_EVERY_SECONDS = (40, 2000, 20, 2.5) if TORTURE else (15, 60, 4, 0.4)
LIMIT_SECONDS = 500 if TORTURE else 6
"""Outside of the torture, a busy machine may end it with fewer starts and kills."""
LEASE_SECONDS = 2.0
KINDS = (
    {"overlap": "allow"},
    {"overlap": "queue"},
    {"overlap": "skip"},
    {"overlap": "allow", "retries": 2, "has_side_effects": False},
    {"overlap": "allow", "jitter_seconds": 0.5},
)


def _start(config: Config, starts: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.schedule.play_scheduler"]
    arguments = [str(config.home), config.database_url or "", str(starts), str(LEASE_SECONDS)]
    return subprocess.Popen([*command, *arguments], cwd=ROOT, stdin=subprocess.DEVNULL)


def _torment(database: Database, config: Config, starts: Path) -> tuple[float, int]:
    """Let schedulers run and kill them, one after the other; when the last one was killed, and how many were."""
    processes = [_start(config, starts) for _ in range(SCHEDULERS)]
    kills, last_kill = 0, 0.0
    is_begun, limit = False, time.monotonic() + 120
    try:
        while (kills < KILLS or _count(starts) < SLOTS) and time.monotonic() < limit:
            assert all(one.poll() is None for one in processes), "a scheduler ended by itself"
            pids = {one.pid for one in schedulers(database, time.time())}
            awake = [number for number, one in enumerate(processes) if one.pid in pids]
            if not is_begun and len(awake) == SCHEDULERS:
                _add_jobs(database)
                is_begun, limit = True, time.monotonic() + LIMIT_SECONDS
            # One that has just begun would only show that Python can be killed while it starts.
            if is_begun and len(awake) >= SCHEDULERS - 1 and time.monotonic() - last_kill > KILL_EVERY_SECONDS:
                victim = random.choice(awake)
                processes[victim].kill()
                processes[victim].wait()
                kills, last_kill = kills + 1, time.monotonic()
                processes[victim] = _start(config, starts)
            time.sleep(0.05)
    finally:
        for one in processes:
            one.kill()
            one.wait()
    return time.time(), kills


def _count(starts: Path) -> int:
    return starts.read_bytes().count(b"\n") if starts.exists() else 0


def _add_jobs(database: Database) -> None:
    now = time.time()
    for number in range(JOBS):
        one = job(id=f"j{number}", name=f"n{number}", created_at=now, schedule=Every(1), missed="all")
        job_table.add(database, msgspec.structs.replace(one, **KINDS[number % len(KINDS)]), now=now)


def _clear_up(config: Config, killed_at: float) -> float:
    """One more scheduler, later, which nobody kills: every slot that came before gets its line."""
    now = SetClock(killed_at + 2 * LEASE_SECONDS)
    last = Scheduler(
        lambda: open_database(config, durable=True),
        keep([]),
        owner="last",
        clock=now,
        monotonic=now.monotonic,
        runs_at_once=50,
        lease_seconds=3600,
    )
    with open_database(config) as database:  # type: ignore[attr-defined]
        for _ in range(1000):
            last.tick()
            last.drain()
            if not any(one.outcome in ("waiting", "running") for one in job_table.history(database, limit=10**6)):
                break
            # Further attempts wait a while; no new slot may come meanwhile, so that the test has an end.
            for stored in job_table.jobs(database):
                if stored.next_at is not None:
                    _let_end(database, stored.job)
            now.advance(31)
    last.close()
    return killed_at + 2 * LEASE_SECONDS


def _let_end(database: Database, one: Job) -> None:
    with database.write():
        database.run("schedule.end_job", {"id": one.id})


@pytest.mark.slow
def test_no_slot_starts_twice_and_none_is_lost(any_database: Database, database_config: Config, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    killed_at, kills = _torment(any_database, database_config, starts)
    seen_until = _clear_up(database_config, killed_at)
    begun = Counter(starts.read_text("utf-8").splitlines())
    twice = {line: count for line, count in begun.items() if count > 1}
    assert not twice, twice
    lines = job_table.history(any_database, limit=10**6)
    by_slot: dict[tuple[str, float], list[JobRun]] = {}
    for line in lines:
        by_slot.setdefault((line.job_id, line.scheduled_at), []).append(line)
    slots = 0
    for stored in job_table.jobs(any_database):
        came = [one for one in next_times(stored.job, stored.job.created_at, LIMIT_SECONDS + 600) if one <= seen_until]
        slots += len(came)
        lost = [one for one in came if (stored.job.id, one) not in by_slot]
        assert not lost, f"{stored.job.name}: no line for {lost}"
        started = [one for one in came if any(line.started_at is not None for line in by_slot[stored.job.id, one])]
        assert stored.runs == len(started)
    assert kills and begun and slots >= SLOTS
    assert not TORTURE or (sum(begun.values()) >= SLOTS and kills >= KILLS)
    for line in lines:
        key = f"{line.job_id} {line.scheduled_at!r} {line.attempt}"
        assert line.is_ended, line
        assert line.outcome in ("ok", "unknown", "skipped")
        assert line.outcome == "ok" or line.reason
        assert line.attempt == 1 or int(line.job_id[1:]) % len(KINDS) == 3, "only what does no harm runs again"
        assert not (line.outcome == "skipped" and key in begun), "what was skipped never started"
    outcomes = Counter(line.outcome for line in lines)
    print(  # noqa: T201
        f"\n{any_database.kind}: {slots} slots, {kills} kills, {sum(begun.values())} starts, "
        f"{max(begun.values())} at most for one attempt; lines: {dict(outcomes)}"
    )
