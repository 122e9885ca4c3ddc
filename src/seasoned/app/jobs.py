"""Jobs of the schedule: the database that holds them, a new one from its options, and one run by hand."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import msgspec

from seasoned.app.extras import require
from seasoned.app.scheduler import build_scheduler, kinds_in
from seasoned.app.stores import kept_secrecy, shared_database
from seasoned.config import Config, load
from seasoned.errors import UsageError
from seasoned.schedule import job_table
from seasoned.schedule.agent_jobs import add_checked
from seasoned.schedule.delivery import AnswerSender
from seasoned.schedule.delivery.outbox import claim_own, settle_delivery
from seasoned.schedule.job import Every, Job, JobRun, new_id
from seasoned.schedule.job_table import StoredJob
from seasoned.schedule.script import FOLDER
from seasoned.schedule.times import find_zone, parse_schedule
from seasoned.store import Database

_LOCALTIME = Path("/etc/localtime")


@contextmanager
def jobs_database(config: Config | None = None) -> Iterator[Database]:
    """The database that holds the jobs."""
    require("The schedule", "schedule", "cronsim")
    with shared_database(config or load(), durable=True) as database:
        yield database


def own_zone() -> str:
    """The time zone of this machine if its name is known, else UTC."""
    try:
        name = str(_LOCALTIME.resolve(strict=True)).partition("zoneinfo/")[2]
        return find_zone(name).key if name else "UTC"
    except (OSError, RuntimeError, UsageError):
        return "UTC"


def add_job(
    config: Config,
    database: Database,
    *,
    when: str,
    zone: str | None,
    toolsets: str | None,
    folder: Path | None,
    max_age: str,
    timeout: str,
    jitter: str | None,
    now: float,
    **fields: Any,
) -> StoredJob:
    """Check a job and add it. Spans of time are texts such as `30m`; the other fields are those of `Job`."""
    zone = zone or own_zone()
    names = None if toolsets is None else tuple(one for one in toolsets.split(",") if one not in ("", "none"))
    job = Job(
        id=new_id(),
        schedule=parse_schedule(when, zone=zone, now=now),
        zone=zone,
        created_at=now,
        toolsets=names,
        folder=None if folder is None else str(folder.expanduser().resolve()),
        max_age_seconds=_seconds(max_age, now),
        timeout_seconds=_seconds(timeout, now),
        jitter_seconds=0.0 if jitter is None else _seconds(jitter, now),
        **fields,
    )
    secrecy = kept_secrecy(config)
    return add_checked(
        database,
        job,
        now=now,
        scripts=config.home / FOLDER,
        kinds_in=lambda text: kinds_in(secrecy, text),
        toolsets=_known_toolsets() if toolsets else (),
    )


def _known_toolsets() -> tuple[str, ...]:
    # Imported here: it loads the agent library, which takes a second.
    from seasoned.agent.toolset.registry import TOOLSETS

    return TOOLSETS


def _seconds(text: str, now: float) -> float:
    found = parse_schedule(f"every {text}", now=now)
    assert isinstance(found, Every)  # that is what `every` parses to
    return float(found.seconds)


def run_job(config: Config, database: Database, name: str, *, out: TextIO) -> tuple[Job, JobRun]:
    """Run a job now, in this process, and deliver its answer; `out` takes what goes to stdout."""
    job = job_table.find(database, name).job
    scheduler = build_scheduler(config)
    try:
        record = scheduler.run_by_hand(job)
    finally:
        scheduler.close()
    if record.delivery != "pending":
        return job, record
    claimed = claim_own(database, job, record, now=time.time())
    if claimed is None:
        return job, record
    delivered = settle_delivery(database, claimed, AnswerSender(config, out=out)(job, record), now=time.time())
    return job, msgspec.structs.replace(record, delivery=delivered.state, delivery_error=delivered.error)
