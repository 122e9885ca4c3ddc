"""The scheduler with a clock that the test sets: sleep, jumps, overruns, a second scheduler, a store that goes away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from seasoned.config import Config
from seasoned.errors import CannotDo, StoreError
from seasoned.schedule import job_table
from seasoned.schedule import scheduler as scheduler_module
from seasoned.schedule.job import At, DeliveryResult, Every, HeartbeatCall, Job, JobRun, Slot
from seasoned.schedule.job_table import LEASE_SECONDS, health
from seasoned.schedule.scheduler import Scheduler
from seasoned.store import Database, open_database
from tests.schedule.made import START, SetClock, job, keep, record


@contextmanager
def scheduler(
    config: Config, run_slot: scheduler_module.RunSlot, set_clock: SetClock, **more: Any
) -> Iterator[Scheduler]:
    """A scheduler on a durable connection, with the clock of the test."""
    made = Scheduler(
        lambda: open_database(config, durable=True), run_slot, clock=set_clock, monotonic=set_clock.monotonic, **more
    )
    yield made
    made.close()


@dataclass
class Stage:
    """A database, and how schedulers open it."""

    database: Database
    config: Config


@pytest.fixture
def stage(any_database: Database, database_config: Config) -> Stage:
    return Stage(any_database, database_config)


def work(*schedulers: Scheduler) -> None:
    """Let each do what is due, and wait for what it began."""
    for one in schedulers:
        one.tick()
        for thread in [thread for thread in threading.enumerate() if thread.name.startswith("cron_")]:
            thread.join(10)
        one.tick()


def lines(database: Database, job_id: str = "j1") -> list[tuple[float, str]]:
    return [(one.scheduled_at - START, one.outcome) for one in reversed(job_table.history(database, job_id))]


class Held:
    """A run that goes on until the test lets it end."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.end = threading.Event()
        self.heartbeat: HeartbeatCall | None = None

    def __call__(self, one: Job, slot: Slot, heartbeat: HeartbeatCall) -> JobRun:
        self.heartbeat = heartbeat
        self.begun.set()
        assert self.end.wait(30)
        return record(one, slot)


def test_it_sleeps_until_the_next_slot_and_runs_it_once(stage: Stage) -> None:
    runs: list[Slot] = []
    now = SetClock()
    job_table.add(stage.database, job(schedule=At(START + 10)), now=START)
    with scheduler(stage.config, keep(runs), now) as one:
        assert one.tick() == START + 10
        now.advance(9.9)
        work(one)
        assert runs == []
        now.advance(0.1)
        work(one, one)
    assert runs == [Slot("j1", START + 10)]
    assert lines(stage.database) == [(10, "ok")]


def test_of_two_schedulers_the_holder_of_the_lease_runs_everything(stage: Stage) -> None:
    first: list[Slot] = []
    second: list[Slot] = []
    now = SetClock()
    for number in range(3):
        job_table.add(stage.database, job(id=f"j{number}", name=f"n{number}"), now=START)
    with scheduler(stage.config, keep(first), now) as one, scheduler(stage.config, keep(second), now) as two:
        one.tick()
        assert two.tick() == START + 15, "it waits for the lease"
        for _ in range(12):
            now.advance(15)
            work(one, two)
        assert (len(first), second) == (9, [])
        for _ in range(8):
            now.advance(15)
            work(two)
    assert len(second) == 6 and not set(first) & set(second)


def test_a_run_that_raises_is_a_failed_run_and_its_words_are_redacted(stage: Stage) -> None:
    def run_slot(one: Job, slot: Slot, heartbeat: HeartbeatCall) -> JobRun:
        raise ValueError("the key is hunter2")

    now = SetClock(START + 60)
    job_table.add(stage.database, job(delivery=("file:/tmp/x",)), now=START)
    with scheduler(stage.config, run_slot, now, redact=lambda text: text.replace("hunter2", "[key]")) as one:
        work(one)
    (line,) = job_table.history(stage.database, "j1")
    assert (line.outcome, line.fault, line.delivery) == ("failed", "agent", "pending")
    assert line.reason == "The run broke off: ValueError: the key is [key]."


def test_after_the_clock_was_set_back_no_slot_runs_again(stage: Stage) -> None:
    runs: list[Slot] = []
    now = SetClock()
    job_table.add(stage.database, job(schedule=Every(60)), now=START)
    with scheduler(stage.config, keep(runs), now) as one:
        for _ in range(3):
            now.advance(60)
            work(one)
        now.jump(-170)
        for _ in range(5):
            work(one)
            now.advance(60)
    assert [slot.scheduled_at - START for slot in runs] == [60, 120, 180, 240]


def test_a_scheduler_that_loses_the_lease_tells_its_run_and_leaves_unknown(stage: Stage) -> None:
    now, held, runs = SetClock(START + 60), Held(), list[Slot]()
    job_table.add(stage.database, job(schedule=At(START + 60)), now=START)
    with scheduler(stage.config, held, now) as one, scheduler(stage.config, keep(runs), now) as two:
        one.tick()
        assert held.begun.wait(10) and held.heartbeat is not None and held.heartbeat()
        now.advance(LEASE_SECONDS + 1)
        two.tick()
        assert (lines(stage.database), runs) == ([(60, "unknown")], [])
        one.tick()
        assert not held.heartbeat()
        held.end.set()
        work(one)
    assert lines(stage.database) == [(60, "ok")], "what it reports is still kept"


def test_an_overrun_is_a_time_out_once_its_heartbeat_stops(stage: Stage) -> None:
    now, held = SetClock(START + 60), Held()
    job_table.add(stage.database, job(schedule=At(START + 60), timeout_seconds=100), now=START)
    with scheduler(stage.config, held, now) as one:
        one.tick()
        assert held.begun.wait(10) and held.heartbeat is not None
        for _ in range(20):
            now.advance(15)
            held.heartbeat()
            one.tick()
        assert lines(stage.database) == [(60, "running")], "it still says that it is alive"
        for _ in range(5):
            now.advance(15)
            one.tick()
        (line,) = job_table.history(stage.database, "j1")
        assert (line.outcome, line.fault) == ("failed", "timeout")
        assert "did not end within 100 s" in line.reason
        held.end.set()
        work(one)
    assert lines(stage.database) == [(60, "failed")]


def test_a_run_by_hand_runs_here_if_no_scheduler_does(stage: Stage) -> None:
    now, runs = SetClock(START + 65.25), list[Slot]()
    one_job = job_table.add(stage.database, job(), now=START).job
    with scheduler(stage.config, keep(runs), now, poll_seconds=0.02) as one:
        told, is_here = one.run_by_hand(one_job)
    assert (told.outcome, is_here, runs) == ("ok", True, [Slot("j1", START + 65.25)])
    assert lines(stage.database) == [(65.25, "ok")], "nothing else that is due"
    assert not health(stage.database, now()).is_alive, "it gave the lease back"


def test_a_run_by_hand_is_left_to_the_scheduler_that_runs(stage: Stage) -> None:
    ours: list[Slot] = []
    theirs: list[Slot] = []
    one_job = job_table.add(stage.database, job(created_at=time.time(), schedule=Every(3600)), now=time.time()).job
    made = Scheduler(lambda: open_database(stage.config, durable=True), keep(theirs), poll_seconds=0.02)
    with running(made):
        assert _wait_for(lambda: health(stage.database, time.time()).is_alive)
        hand = Scheduler(lambda: open_database(stage.config, durable=True), keep(ours), poll_seconds=0.02)
        told, is_here = hand.run_by_hand(one_job)
        hand.close()
    assert (told.outcome, is_here, ours, len(theirs)) == ("ok", False, [], 1)


def test_a_run_by_hand_waits_for_no_other(stage: Stage) -> None:
    now, held = SetClock(START + 60), Held()
    one_job = job_table.add(stage.database, job(), now=START).job
    with scheduler(stage.config, held, now) as one, scheduler(stage.config, held, now) as two:
        one.tick()
        assert held.begun.wait(10)
        with pytest.raises(CannotDo, match="'one' is already running"):
            two.run_by_hand(one_job)
        held.end.set()
        work(one)


def test_answers_that_wait_are_handed_on(stage: Stage) -> None:
    sent: list[str] = []
    answers = iter([DeliveryResult("pending", "no route"), DeliveryResult("delivered")])

    def deliver(one: Job, told: JobRun) -> DeliveryResult:
        sent.append(told.output)
        return next(answers)

    now = SetClock(START + 60)
    job_table.add(stage.database, job(schedule=At(START + 60)), now=START)
    with scheduler(stage.config, keep([], delivery="pending"), now, deliver=deliver) as one:
        for _ in range(6):
            work(one)
            now.advance(15)
    assert sent == ["done", "done"]
    (line,) = job_table.history(stage.database, "j1")
    assert (line.delivery, line.delivery_error) == ("delivered", "")


def _wait_for(look: Callable[[], bool], seconds: float = 10.0) -> bool:
    until = time.monotonic() + seconds
    while not look() and time.monotonic() < until:
        time.sleep(0.005)
    return look()


@contextmanager
def running(made: Scheduler) -> Iterator[None]:
    """A scheduler that keeps the schedule in a thread until the test is through with it."""
    thread = threading.Thread(target=made.run)
    thread.start()
    try:
        yield
    finally:
        made.stop()
        thread.join(20)
    assert not thread.is_alive()


def test_a_scheduler_that_is_stopped_in_a_run_says_so(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler_module, "PATIENCE_SECONDS", 0.05)
    held = Held()
    job_table.add(stage.database, job(created_at=time.time(), schedule=Every(3600)), now=time.time())
    made = Scheduler(lambda: open_database(stage.config, durable=True), held, poll_seconds=0.05)
    with running(made):
        job_table.ask_for_run(stage.database, "one", now=time.time())
        assert held.begun.wait(10) and held.heartbeat is not None
        assert held.heartbeat()
        made.stop()
        assert _wait_for(lambda: lines(stage.database)[0][1] == "unknown")
        assert not held.heartbeat()
    held.end.set()
    assert "The scheduler was stopped during the run" in job_table.history(stage.database, "j1")[0].reason


def test_a_store_that_does_not_answer_is_waited_for_and_nothing_is_lost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_module, "_FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(scheduler_module, "_LONGEST_PAUSE_SECONDS", 0.02)
    failures = iter([True, True, False, True])
    runs: list[Slot] = []

    def factory() -> Database:
        if next(failures, False):
            raise StoreError("The store is away: try again.")
        return open_database(stage.config, durable=True)

    job_table.add(stage.database, job(created_at=time.time(), schedule=Every(3600)), now=time.time())
    made = Scheduler(factory, keep(runs), poll_seconds=0.02)
    with running(made):
        job_table.ask_for_run(stage.database, "one", now=time.time())
        assert _wait_for(lambda: lines(stage.database)[0][1] == "ok")
    assert len(runs) == 1
