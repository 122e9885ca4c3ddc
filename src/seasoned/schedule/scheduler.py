"""The scheduler: holds the lease, sleeps until the next slot, runs it in a thread, and hands answers on.

Of several schedulers that share a store, only the holder of the lease runs anything; the others wait for it.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

from seasoned.errors import CannotDo, StoreError
from seasoned.schedule.delivery import PendingDelivery, due_deliveries, settle_delivery
from seasoned.schedule.job import DeliveryResult, HeartbeatCall, Job, JobRun, Outcome, RunFault, Slot, is_delivered
from seasoned.schedule.job_table import (
    BEAT_SECONDS,
    LEASE_SECONDS,
    ask_for_run,
    finish,
    hold,
    leave,
    next_wake,
    plan_due,
    recover,
    run_of,
    start_by_hand,
    start_due,
)
from seasoned.store import Database

# Does the work of one slot, inside the job's time-out; what it returns is redacted.
RunSlot = Callable[[Job, Slot, HeartbeatCall], JobRun]
# Delivers an answer; pending: it did not work, and should be tried again.
Deliver = Callable[[Job, JobRun], DeliveryResult]

# Each run is an agent with its tools, so a few fill a machine.
RUNS_AT_ONCE = 4
# How often the scheduler looks: how soon a change by another process is noticed.
POLL_SECONDS = 2.0
# How long current runs get to end when the scheduler stops.
PATIENCE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0
_log = logging.getLogger("seasoned.schedule")
_log.addHandler(logging.NullHandler())


class _Running:
    """A run or a delivery in its own thread."""

    def __init__(self, job: Job, slot: Slot, *, monotonic: Callable[[], float], stopping: threading.Event) -> None:
        self.job, self.slot = job, slot
        self.began_at = self.beat_at = monotonic()
        self.is_lost = False
        self.result: JobRun | DeliveryResult | None = None
        self.error = ""
        self.is_ended = False
        self._monotonic, self._stopping = monotonic, stopping

    def heartbeat(self) -> bool:
        """What the run calls to show that it is alive; False tells it to stop."""
        self.beat_at = self._monotonic()
        return not self.is_lost and not self._stopping.is_set()

    def is_overdue(self, allowance_seconds: float) -> bool:
        """Whether it has exceeded its time-out plus the time to end it, and has stopped sending heartbeats."""
        now = self._monotonic()
        has_overrun = now - self.began_at > self.job.timeout_seconds + allowance_seconds
        return has_overrun and not self.is_ended and now - self.beat_at > allowance_seconds

    def start(
        self, do: Callable[[], JobRun | DeliveryResult], *, wake: Callable[[], None], redact: Callable[[str], str]
    ) -> None:
        """Begin the thread."""

        def work() -> None:
            try:
                self.result = do()
            except Exception as error:  # noqa: BLE001 one job may break in any way, and the others go on
                self.error = redact(f"{type(error).__name__}: {error}")
            finally:
                self.is_ended = True
                wake()

        # A thread cannot be ended from outside: one that hangs must not keep the process from ending.
        threading.Thread(target=work, name=self.slot.session_id, daemon=True).start()

    def record(self, now: float) -> JobRun:
        """The line of the history for the run."""
        if isinstance(self.result, JobRun):
            return self.result
        return self.cut_off(now, "failed", "agent", f"The run broke off: {self.error}.")

    def cut_off(self, now: float, outcome: Outcome, fault: RunFault, reason: str) -> JobRun:
        """The line of the history for a run that did not report its end itself; it is always delivered."""
        return JobRun(
            job_id=self.slot.job_id,
            scheduled_at=self.slot.scheduled_at,
            ended_at=now,
            outcome=outcome,
            fault=fault,
            reason=reason,
            delivery="pending" if is_delivered(self.job) else "none",
        )


class Scheduler:
    """Uses the store from one thread only."""

    def __init__(
        self,
        database_factory: Callable[[], Database],
        run_slot: RunSlot,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        deliver: Deliver | None = None,
        redact: Callable[[str], str] = str,
        lease_seconds: float = LEASE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        # Unique, and it shows where the scheduler runs.
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._open, self._run_slot, self._deliver, self._redact = database_factory, run_slot, deliver, redact
        self._clock, self._monotonic = clock, monotonic
        self._lease, self._poll = lease_seconds, poll_seconds
        self._beat_seconds = min(BEAT_SECONDS, lease_seconds / 4)
        self._database: Database | None = None
        self._running: list[_Running] = []
        self._sending: list[tuple[PendingDelivery, _Running]] = []
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._next_beat = monotonic()
        self._is_holder = False

    def run(self) -> None:
        """Run until `stop` is called; wait if the store is unreachable."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            try:
                until = self.tick()
                # Woken when a run ends; what other processes change is seen at the next look.
                self._wake.wait(min(self._poll, max(0.0, until - self._clock())))
                self._wake.clear()
                pause = _FIRST_PAUSE_SECONDS
            except StoreError as error:
                _log.warning("the store does not answer, retrying in %.0f s: %s", pause, self._redact(str(error)))
                self.close()
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        try:
            self._end()
        except StoreError as error:
            _log.warning("the store did not answer at the end: %s", self._redact(str(error)))
        self.close()

    def stop(self) -> None:
        """Stop soon: start no new runs, and give current ones a short time. A signal handler calls this in a thread."""
        self._stopping.set()
        self._wake.set()

    def tick(self) -> float:
        """Do everything that is due; returns when there will be more to do, by the wall clock."""
        database, now = self._connect(), self._clock()
        self._keep_up(database, now)
        until_beat = now + max(0.0, self._next_beat - self._monotonic())
        if not self._is_holder:
            return until_beat
        plan_due(database, now=now)
        if not self._stopping.is_set():
            free = RUNS_AT_ONCE - len(self._running)
            for job, slot in start_due(database, owner=self.owner, now=now, limit=free):
                self._start(job, slot)
            self._send(database, now)
        following = next_wake(database)
        return until_beat if following is None else min(until_beat, following)

    def run_by_hand(self, job: Job) -> tuple[JobRun, bool]:
        """Run a job now; the line of the history, and whether it ran here: the holder of the lease runs it, if any."""
        database = self._connect()
        self._keep_up(database, self._clock())
        if database.row("schedule.running", {"job_id": job.id}) is not None:
            raise CannotDo(f"{job.name!r} is already running, and a job runs once at a time. Wait until it ends.")
        slot = ask_for_run(database, job.id, now=self._clock())
        is_here = False
        try:
            while True:
                now = self._clock()
                self._keep_up(database, now)
                record = run_of(database, slot)
                if record.is_ended:
                    return record, is_here
                if self._is_holder and start_by_hand(database, slot, owner=self.owner, now=now) is not None:
                    is_here = True
                    self._start(job, slot)
                self._wake.wait(min(self._poll, self._beat_seconds))
                self._wake.clear()
        finally:
            if self._is_holder:
                leave(database, owner=self.owner, now=self._clock())

    def close(self) -> None:
        """Close the connection; call it in the thread that opened it. `run` closes its own."""
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _connect(self) -> Database:
        if self._database is None:
            self._database = self._open()
            self._next_beat = self._monotonic()
        return self._database

    def _keep_up(self, database: Database, now: float) -> None:
        """Store what has ended, and take or renew the lease when it is time."""
        self._collect(database, now)
        for work in [one for one in self._running if one.is_overdue(self._lease)]:
            work.is_lost = True
            reason = f"It did not end within {work.job.timeout_seconds:,.0f} s and could not be stopped."
            finish(database, work.cut_off(now, "failed", "timeout", reason), owner=self.owner)
            self._running.remove(work)
        if self._monotonic() < self._next_beat:
            return
        self._is_holder = hold(database, owner=self.owner, now=now, lease_seconds=self._lease)
        if self._is_holder:
            for slot in recover(database, owner=self.owner, now=now):
                _log.warning("the run %s is unknown: its scheduler died", slot.session_id)
        else:
            # Another one took over while this one could not renew its lease.
            for work in self._running:
                work.is_lost = True
        self._next_beat = self._monotonic() + self._beat_seconds

    def _collect(self, database: Database, now: float) -> None:
        for work in [one for one in self._running if one.is_ended]:
            finish(database, work.record(now), owner=self.owner)
            # Taken off only now: if the store does not answer, the result is still here for the next tick.
            self._running.remove(work)
        for pending, work in [one for one in self._sending if one[1].is_ended]:
            sent = work.result if isinstance(work.result, DeliveryResult) else DeliveryResult("pending", work.error)
            settle_delivery(database, pending, sent, now=now)
            self._sending.remove((pending, work))

    def _start(self, job: Job, slot: Slot) -> None:
        work = _Running(job, slot, monotonic=self._monotonic, stopping=self._stopping)
        self._running.append(work)
        work.start(lambda: self._run_slot(job, slot, work.heartbeat), wake=self._wake.set, redact=self._redact)

    def _send(self, database: Database, now: float) -> None:
        deliver = self._deliver
        if deliver is None:
            return
        on_their_way = {pending.record.slot for pending, _ in self._sending}
        for pending in due_deliveries(database, now=now, limit=RUNS_AT_ONCE):
            if pending.record.slot not in on_their_way:
                work = _Running(pending.job, pending.record.slot, monotonic=self._monotonic, stopping=self._stopping)
                self._sending.append((pending, work))
                do = partial(deliver, pending.job, pending.record)
                work.start(do, wake=self._wake.set, redact=self._redact)

    def _end(self) -> None:
        database = self._connect()
        until = self._monotonic() + PATIENCE_SECONDS
        while (self._running or self._sending) and self._monotonic() < until:
            self._wake.wait(max(0.0, min(self._beat_seconds, until - self._monotonic())))
            self._wake.clear()
            self._keep_up(database, self._clock())
        now = self._clock()
        for work in self._running:
            reason = "The scheduler was stopped during the run. Check how far it got."
            finish(database, work.cut_off(now, "unknown", "", reason), owner=self.owner)
        leave(database, owner=self.owner, now=now)
