"""Schedulers report that they are alive, so that a dead one is noticed."""

from __future__ import annotations

import msgspec

from seasoned.store import Database
from seasoned.text import plural

# How often a scheduler says that it is alive.
BEAT_SECONDS = 15.0
# A scheduler that has said nothing for so long is dead.
DEAD_SECONDS = 4 * BEAT_SECONDS
# A busy scheduler starts a slot sooner than this.
OVERDUE_SECONDS = 120.0
# How long schedulers that are gone stay listed.
KEPT_SECONDS = 7 * 86_400.0


class SchedulerState(msgspec.Struct, frozen=True, kw_only=True):
    """One scheduler, as the others see it."""

    owner: str
    host: str
    pid: int
    started_at: float
    heartbeat_at: float
    # When it ended as it should; None: it runs, or it died.
    stopped_at: float | None = None
    note: str = ""
    is_alive: bool = False

    @property
    def is_dead(self) -> bool:
        """It neither runs nor ended as it should."""
        return not self.is_alive and self.stopped_at is None


class ScheduleHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Whether jobs start in time, and which schedulers are alive."""

    schedulers: tuple[SchedulerState, ...]
    jobs: int
    # Jobs that have a next slot.
    active_jobs: int
    # How long the most overdue slot has been waiting for a scheduler.
    overdue_seconds: float = 0.0
    outcomes: dict[str, int] = {}

    @property
    def alive(self) -> int:
        return sum(one.is_alive for one in self.schedulers)

    @property
    def is_kept(self) -> bool:
        """Whether jobs start in time: no slot is overdue, and a scheduler is alive if there are jobs."""
        return self.overdue_seconds <= OVERDUE_SECONDS and (self.alive > 0 or self.active_jobs == 0)

    @property
    def sentence(self) -> str:
        """The state of the schedule in one sentence, for people."""
        if not self.active_jobs:
            return "No jobs are scheduled."
        if not self.alive:
            seen = max((one.heartbeat_at for one in self.schedulers), default=None)
            since = "none has run yet" if seen is None else "the last one has stopped"
            jobs = plural(self.active_jobs, "job")
            return f"{jobs} scheduled, but no scheduler is running ({since}). Run `seasoned cron serve`."
        if not self.is_kept:
            return f"A slot is {self.overdue_seconds:,.0f} s overdue although a scheduler is running. Check its log."
        return f"{plural(self.alive, 'scheduler')} alive, {plural(self.active_jobs, 'job')}."


def beat(database: Database, *, owner: str, host: str, pid: int, now: float, note: str = "") -> None:
    """Report that a scheduler is alive; its first report removes those that are long gone."""
    values = {"owner": owner, "host": host, "pid": pid, "now": now, "note": note}
    with database.write():
        if not database.run("schedule.beat", values):
            database.run("schedule.drop_schedulers", {"before": now - KEPT_SECONDS})
            database.run("schedule.appear", values)


def leave(database: Database, *, owner: str, now: float) -> None:
    """Report that a scheduler stops in an orderly way."""
    with database.write():
        database.run("schedule.leave", {"owner": owner, "now": now})


def schedulers(database: Database, now: float) -> list[SchedulerState]:
    """Every scheduler of the last days with its last heartbeat, the oldest first."""
    return [
        SchedulerState(
            owner=row["owner"],
            host=row["host"],
            pid=int(row["pid"]),
            started_at=row["started_at"],
            heartbeat_at=row["heartbeat_at"],
            stopped_at=row["stopped_at"],
            note=row["note"],
            is_alive=row["stopped_at"] is None and now - row["heartbeat_at"] <= DEAD_SECONDS,
        )
        for row in database.rows("schedule.schedulers")
    ]


def health(database: Database, now: float) -> ScheduleHealth:
    """The health of the schedule, for doctor, metrics and pages."""
    counts = database.row("schedule.count_jobs")
    due = database.row("schedule.next_due")
    next_at = None if due is None else due["next_at"]
    return ScheduleHealth(
        schedulers=tuple(schedulers(database, now)),
        jobs=0 if counts is None else int(counts["n"]),
        active_jobs=0 if counts is None else int(counts["n_active"]),
        overdue_seconds=0.0 if next_at is None else max(0.0, now - next_at),
        outcomes={row["outcome"]: int(row["n"]) for row in database.rows("schedule.count_outcomes")},
    )
