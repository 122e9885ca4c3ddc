"""A scheduler in a process of its own, to be killed: it notes every start in a file before it does anything else."""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

from seasoned.config import Config
from seasoned.schedule.job import HeartbeatCall, Job, JobRun, Slot
from seasoned.schedule.scheduler import Scheduler
from seasoned.store import open_database


def main(home: str, url: str, starts: str, lease_seconds: str) -> None:
    """Keep the schedule until somebody kills the process or closes its input."""
    config = Config(home=Path(home), database_url=url or None)
    note = os.open(starts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def run_slot(job: Job, slot: Slot, heartbeat: HeartbeatCall) -> JobRun:
        # One write, appended: whole in the file, however the process ends.
        os.write(note, f"{slot.job_id} {slot.scheduled_at!r}\n".encode())
        time.sleep(random.choice([0.0, 0.01, 0.03, 0.5]))
        return JobRun(job_id=job.id, scheduled_at=slot.scheduled_at, outcome="ok")

    Scheduler(
        lambda: open_database(config, durable=True), run_slot, lease_seconds=float(lease_seconds), poll_seconds=0.2
    ).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
