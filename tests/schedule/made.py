"""Jobs, times and clocks for the tests of the schedule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from seasoned.schedule.job import Every, HeartbeatCall, Job, JobRun, Slot

START = 1_800_000_000.0
"""Friday, 15 January 2027, 08:00 in UTC."""


def job(**fields: Any) -> Job:
    """A job that is right, with what the test is about."""
    values = {"id": "j1", "name": "one", "schedule": Every(60), "created_at": START, "prompt": "Say hello."}
    return Job(**{**values, **fields})


def at(zone: str, text: str, *, fold: int = 0) -> float:
    """A moment as the clocks of a zone show it; fold 1 is the second of two equal times."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def shown(zone: str, times: list[float]) -> list[str]:
    """Moments as the clocks of a zone show them, with the distance from UTC."""
    return [datetime.fromtimestamp(one, ZoneInfo(zone)).isoformat(sep=" ", timespec="minutes") for one in times]


class SetClock:
    """A wall clock and a steady one that move only when the test says so."""

    def __init__(self, now: float = START) -> None:
        self.now = now
        self.steady = 1000.0

    def __call__(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.steady

    def advance(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds
        self.steady += seconds

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock, or the machine sleeps."""
        self.now += seconds


def record(one: Job, slot: Slot, **fields: Any) -> JobRun:
    """What a run returns."""
    values = {"job_id": one.id, "scheduled_at": slot.scheduled_at, "outcome": "ok", "output": "done"}
    values["ended_at"] = slot.scheduled_at + 1
    return JobRun(**{**values, **fields})


def keep(runs: list[Slot], **fields: Any) -> Callable[[Job, Slot, HeartbeatCall], JobRun]:
    """A run that notes its slot and ends at once."""

    def run_slot(one: Job, slot: Slot, heartbeat: HeartbeatCall) -> JobRun:
        runs.append(slot)
        return record(one, slot, **fields)

    return run_slot
