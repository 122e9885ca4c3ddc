"""Runs by hand, and the scheduler in the foreground."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType

import click
import msgspec

from seasoned.cli.cron_place import jobs_database
from seasoned.cli.cron_showing import run_answer, tell_run
from seasoned.cli.log import open_log
from seasoned.cli.output import print_json
from seasoned.cli.working import build_scheduler, start_scheduler
from seasoned.config import load
from seasoned.errors import CannotDo
from seasoned.redact.key import Secrecy, load_key
from seasoned.schedule import board
from seasoned.schedule.delivery import Courier
from seasoned.schedule.dispatch import claim_own, settle_delivery
from seasoned.schedule.heartbeat import health
from seasoned.schedule.job import Job, RunRecord
from seasoned.store import Database

_WAIT_SECONDS = 0.5


def run_now(text: str, *, as_json: bool) -> None:
    """Run a job in this process, and hand its answer on."""
    config = load()
    with jobs_database(config) as database:
        job = board.find(database, text).job
        scheduler = build_scheduler(config)
        try:
            record = scheduler.run_by_hand(job)
        finally:
            scheduler.close()
        # Programs read the answer from stdout: what the job itself prints there goes beside it.
        record = _deliver(database, job, record, Courier(config, out=sys.stderr if as_json else sys.stdout))
    if as_json:
        print_json("cron-run", run_answer(record))
    elif "stdout" not in job.delivery or record.delivery != "delivered":
        tell_run(record, job.name)
    if record.outcome in ("failed", "unknown"):
        raise CannotDo(record.reason or f"The run of {job.name!r} is {record.outcome}.")


def _deliver(database: Database, job: Job, record: RunRecord, courier: Courier) -> RunRecord:
    if record.delivery != "pending":
        return record
    parcel = claim_own(database, job, record, now=time.time())
    if parcel is None:
        return record
    delivered = settle_delivery(database, parcel, courier(job, record), now=time.time())
    return msgspec.structs.replace(record, delivery=delivered.state, delivery_error=delivered.error)


def ask_for_later(text: str, *, as_json: bool) -> None:
    """Leave a run to whoever keeps the schedule."""
    now = time.time()
    with jobs_database() as database:
        slot = board.ask_for_run(database, text, now=now)
        (record,) = board.history(database, slot.job_id, limit=1)
        state = health(database, now)
    if as_json:
        print_json("cron-run", run_answer(record))
        return
    click.echo("It runs as soon as a scheduler has room.")
    if not state.alive:
        click.echo("No scheduler runs: start `seasoned cron serve`.", err=True)


def serve_schedule(runs: int, *, verbose: bool) -> None:
    """Keep the schedule until a signal comes."""
    config = load()
    open_log(config, Secrecy(load_key(config.home), config.redact), verbose=verbose)
    with jobs_database(config) as database:
        jobs = health(database, time.time()).active_jobs
    running = start_scheduler(config, runs_at_once=runs)
    asked = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        asked.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    click.echo(f"Keeping the schedule of {jobs:,} jobs; Ctrl-C ends it.")
    while running.is_alive and not asked.wait(_WAIT_SECONDS):
        pass
    if not asked.is_set():
        raise CannotDo(f"The scheduler ended by itself: look into {str(config.log_folder)!r}.")
    click.echo("Ending: no new runs, a few seconds for those that go on.")
    running.stop()
