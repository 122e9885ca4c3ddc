"""What keeping a schedule of 10,000 jobs costs: the look for what is due, sleeping, waking, and the rush at nine."""

from __future__ import annotations

import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.databases import PostgresServer, _binaries

from seasoned.config import Config
from seasoned.schedule import job_table
from seasoned.schedule.job import Cron, Every, HeartbeatCall, Job, JobRun, Schedule, Slot
from seasoned.schedule.job_table import finish, next_wake, plan_due, start_due
from seasoned.schedule.scheduler import Scheduler
from seasoned.store import Database, open_database

JOBS = 10_000
LOOKS = 300
IDLE_SECONDS = 30.0
WAKES = 10
RUSH = 1000
START = 1_800_000_000.0


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as name:
        yield from _measure("SQLite", Config(home=Path(name)))
    binaries = _binaries()
    if binaries is None:
        yield "PostgreSQL: not here"
        return
    server = PostgresServer(binaries)
    try:
        yield from _measure("PostgreSQL", Config(home=Path("/"), database_url=server.url(schema=server.fresh_schema())))
    finally:
        server.stop()


def _measure(engine: str, config: Config) -> Iterator[str]:
    yield f"{engine}, {JOBS:,} jobs:"
    with _opened(config, durable=False) as database:
        begun = time.perf_counter()
        _fill(database)
        yield f"  added in {time.perf_counter() - begun:.1f} s, each checked"
    with _opened(config) as database:
        for words, look in (("none is due", lambda: next_wake(database)), ("100 are due", _due(database))):
            seconds = sorted(_timed(look) for _ in range(LOOKS))
            yield (
                f"  the look for the next slot, {words}: median {1e3 * statistics.median(seconds):.2f} ms, "
                f"95 % within {1e3 * seconds[int(0.95 * LOOKS)]:.2f} ms (wanted: under 5 ms)"
            )
        yield from _rush(database)
    yield from _idle(config)


@contextmanager
def _opened(config: Config, *, durable: bool = True) -> Iterator[Database]:
    database = open_database(config, durable=durable)
    try:
        yield database
    finally:
        database.close()


def _fill(database: Database) -> None:
    """Half by cron, half by interval, in several zones; none within the next minute of `START`."""
    rng = random.Random(7)
    zones = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu")
    for number in range(JOBS):
        schedule: Schedule = Every(rng.randint(120, 86_400))
        if number % 2:
            schedule = Cron(f"{rng.randint(2, 59)} {rng.randint(0, 23)} * * {rng.choice(['*', '1-5'])}")
        job = Job(
            id=f"j{number}",
            name=f"n{number}",
            schedule=schedule,
            zone=rng.choice(zones),
            created_at=START,
            prompt="Say what is new. " * 20,
        )
        job_table.add(database, job, now=START)


def _due(database: Database) -> Callable[[], object]:
    row = database.rows("schedule.due_jobs", {"now": START + 1e9, "limit": 100})[-1]
    return lambda: database.rows("schedule.due_jobs", {"now": row["next_at"], "limit": 100})


def _timed(look: Callable[[], object]) -> float:
    begun = time.perf_counter()
    look()
    return time.perf_counter() - begun


def _rush(database: Database) -> Iterator[str]:
    """Many slots at once: each planned, claimed and ended, on the disk."""
    due = database.rows("schedule.due_jobs", {"now": START + 1e9, "limit": RUSH})
    now = due[-1]["next_at"]
    begun = time.perf_counter()
    while plan_due(database, now=now):
        pass
    planned = time.perf_counter() - begun
    done = 0
    while started := start_due(database, owner="bench", now=now, limit=8):
        for job, slot in started:
            record = JobRun(
                job_id=job.id, scheduled_at=slot.scheduled_at, ended_at=now, outcome="ok", output="Done. " * 50
            )
            finish(database, record, owner="bench")
            done += 1
    seconds = time.perf_counter() - begun
    yield f"  {done:,} slots at once: planned in {planned:.2f} s, claimed and ended in {seconds - planned:.2f} s"
    yield f"    ({done / seconds:,.0f} slots a second with one connection)"


def _idle(config: Config) -> Iterator[str]:
    """A scheduler whose jobs all lie in the future, and one that is woken by a change of another connection."""
    begun_at: list[float] = []

    def run_slot(job: Job, slot: Slot, heartbeat: HeartbeatCall) -> JobRun:
        begun_at.append(time.monotonic())
        return JobRun(job_id=job.id, scheduled_at=slot.scheduled_at, outcome="ok")

    # The jobs of the bench lie about the year 2027: the clock stands there too, and goes on as ours does.
    origin = START - 3600 - time.time()
    scheduler = Scheduler(lambda: open_database(config, durable=True), run_slot, clock=lambda: time.time() + origin)
    thread = threading.Thread(target=scheduler.run)
    thread.start()
    time.sleep(3)
    spent, began = time.process_time(), time.monotonic()
    time.sleep(IDLE_SECONDS)
    share = (time.process_time() - spent) / (time.monotonic() - began)
    yield f"  idle for {IDLE_SECONDS:.0f} s: {100 * share:.2f} % of one core (wanted: under 1 %)"
    waits = []
    with _opened(config) as database:
        for number in range(WAKES):
            asked = time.monotonic()
            job_table.ask_for_run(database, f"j{number}", now=time.time() + origin)
            while len(begun_at) <= number and time.monotonic() < asked + 30:
                time.sleep(0.005)
            waits.append(begun_at[number] - asked)
    scheduler.stop()
    thread.join()
    late, latest = statistics.median(waits), max(waits)
    yield f"  a run that another connection asks for begins after {late:.1f} s, {latest:.1f} s at most"
