"""The scheduler: sleeps until the next slot, claims it, runs it in a thread, and reports that it is alive."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable

from seasoned.errors import CannotDo, StoreError
from seasoned.schedule.delivery import PendingDelivery, claim_deliveries, next_delivery, settle_delivery
from seasoned.schedule.job import (
    DeliveryResult,
    HeartbeatCall,
    Job,
    JobRun,
    Outcome,
    RunFault,
    Slot,
    SlotClaim,
    is_delivered,
)
from seasoned.schedule.job_table import BEAT_SECONDS, beat, leave, revision
from seasoned.schedule.slots import (
    LEASE_SECONDS,
    claim_by_hand,
    finish,
    next_wake,
    plan_due,
    recover,
    renew,
    shorten_leases,
    start_due,
)
from seasoned.store import Database

# Does the work of one slot, inside the job's time-out; what it returns is redacted.
RunSlot = Callable[[Job, Slot, HeartbeatCall], JobRun]
# Delivers an answer; pending: it did not work, and should be tried again.
Deliver = Callable[[Job, JobRun], DeliveryResult]


class RunHeartbeat:
    """The heartbeat that a run is given."""

    def __init__(self, attempt: int, *, monotonic: Callable[[], float], stopping: threading.Event) -> None:
        self.attempt = attempt
        self.beat_at = monotonic()
        self._monotonic = monotonic
        self._stopping = stopping
        self._is_lost = False

    def __call__(self) -> bool:
        self.beat_at = self._monotonic()
        return not self._is_lost and not self._stopping.is_set()

    def lose(self) -> None:
        """Tell the run, at its next heartbeat, to stop."""
        self._is_lost = True


class RunThread:
    """A thread of a scheduler: a run, or the delivery of an answer (without a claim)."""

    def __init__(
        self,
        job: Job,
        claim: SlotClaim | None,
        *,
        monotonic: Callable[[], float],
        stopping: threading.Event,
        wake: Callable[[], None],
        redact: Callable[[str], str],
    ) -> None:
        self.job = job
        self._claim = claim
        self.began_at = monotonic()
        self.pulse = RunHeartbeat(claim.attempt if claim else 1, monotonic=monotonic, stopping=stopping)
        self.finished: JobRun | None = None
        self._wake, self._redact = wake, redact
        self._returned: JobRun | DeliveryResult | None = None
        self._error = "it ended without a result"
        self._ended = threading.Event()
        self.thread = threading.Thread(target=lambda: None)

    @property
    def claim(self) -> SlotClaim:
        assert self._claim is not None  # only deliveries have none
        return self._claim

    @property
    def is_ended(self) -> bool:
        return self._ended.is_set()

    def start(self, run_slot: RunSlot) -> None:
        """Run the slot in a new thread."""
        slot = self.claim.slot
        self._launch(lambda: run_slot(self.job, slot, self.pulse), slot.session_id(self.claim.attempt))

    def start_delivery(self, deliver: Deliver, record: JobRun) -> None:
        """Deliver an answer in a new thread."""
        self._launch(lambda: deliver(self.job, record), f"delivery {record.slot.session_id()}")

    def record(self, now: float) -> JobRun:
        """The line of the history for the run."""
        if isinstance(self._returned, JobRun):
            return self._returned
        return self.cut_off(now, "failed", "agent", f"The run broke off: {self._error}.")

    def cut_off(self, now: float, outcome: Outcome, fault: RunFault, reason: str) -> JobRun:
        """The line of the history for a run that did not report its end itself; it is always delivered."""
        return JobRun(
            job_id=self.job.id,
            scheduled_at=self.claim.slot.scheduled_at,
            ended_at=now,
            outcome=outcome,
            fault=fault,
            reason=reason,
            delivery="pending" if is_delivered(self.job) else "none",
        )

    def delivered(self) -> DeliveryResult:
        """The result of a delivery."""
        return self._returned if isinstance(self._returned, DeliveryResult) else DeliveryResult("pending", self._error)

    def _launch(self, do: Callable[[], JobRun | DeliveryResult], name: str) -> None:
        def work() -> None:
            try:
                self._returned = do()
            except Exception as error:  # noqa: BLE001 one job may break in any way, and the others go on
                self._error = self._redact(f"{type(error).__name__}: {error}")
            finally:
                self._ended.set()
                self._wake()

        # A thread cannot be ended from outside: one that hangs must not keep the process from ending.
        self.thread = threading.Thread(target=work, name=name, daemon=True)
        self.thread.start()


def overdue(work: RunThread, steady: float, allowance_seconds: float) -> bool:
    """Whether a run has exceeded its time-out plus the time to end it, and has stopped sending heartbeats."""
    has_overrun = steady - work.began_at > work.job.timeout_seconds + allowance_seconds
    return has_overrun and not work.is_ended and steady - work.pulse.beat_at > allowance_seconds


# Each run is an agent with its tools, so a few fill a machine.
RUNS_AT_ONCE = 4
# How soon a change to the jobs by another process is noticed.
POLL_SECONDS = 2.0
# A clock that is further off than this was set, or the machine slept.
JUMP_SECONDS = 5.0
# How long current runs get to end when the scheduler stops.
PATIENCE_SECONDS = 10.0
# After a long sleep planning goes on in rounds, so that leases are renewed in between.
_LOOKS_AT_ONCE = 50
_LONGEST_SLEEP_SECONDS = 3600.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0
_log = logging.getLogger("seasoned.schedule")
_log.addHandler(logging.NullHandler())


def new_owner() -> str:
    """A unique name that shows where the scheduler runs."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


class Scheduler:
    """One of any number of schedulers that share a store. It uses the store from one thread only."""

    def __init__(
        self,
        database_factory: Callable[[], Database],
        run_slot: RunSlot,
        *,
        owner: str | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        deliver: Deliver | None = None,
        redact: Callable[[str], str] = str,
        runs_at_once: int = RUNS_AT_ONCE,
        lease_seconds: float = LEASE_SECONDS,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.owner = new_owner() if owner is None else owner
        self._open, self._run_slot, self._deliver, self._redact = database_factory, run_slot, deliver, redact
        self._clock, self._monotonic = clock, monotonic
        self._runs_at_once, self._lease, self._poll = runs_at_once, lease_seconds, poll_seconds
        self._beat_seconds = min(BEAT_SECONDS, lease_seconds / 4)
        self._database: Database | None = None
        self._running: list[RunThread] = []
        self._abandoned: list[RunThread] = []
        self._sending: list[tuple[PendingDelivery, RunThread]] = []
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._seen: tuple[float, float] | None = None
        self._next_beat = self._recover_after = monotonic()
        self._revision = -1
        self._note = ""

    def run(self) -> None:
        """Run until `stop` is called; wait if the store is unreachable."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            try:
                self._sleep(self.tick())
                pause = _FIRST_PAUSE_SECONDS
            except StoreError as error:
                _log.warning("the store does not answer, retrying in %.0f s: %s", pause, self._redact(str(error)))
                self._forget_connection()
                self._stopping.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        try:
            self._end()
        except StoreError as error:
            _log.warning("the store did not answer at the end: %s", self._redact(str(error)))
        self._forget_connection()

    def stop(self) -> None:
        """Stop soon: start no new runs, and give current ones a short time. A signal handler calls this in a thread."""
        self._stopping.set()
        self._wake.set()

    def wake(self) -> None:
        """Look again at once. May be called from any thread."""
        self._wake.set()

    def tick(self) -> float:
        """Do everything that is due; returns until when to sleep, by the wall clock."""
        database = self._connect()
        now, steady = self._clock(), self._monotonic()
        self._notice_jump(database, now, steady)
        # Before the look: what changes during it is seen at the next one.
        self._revision = revision(database)
        self._collect(database, now)
        self._give_up_overdue(database, now, steady)
        if steady >= self._next_beat:
            self._beat(database, now, steady)
        is_more = self._plan(database, now)
        self._start(database, now)
        self._send(database, now)
        if is_more:
            return now
        found = [next_wake(database, now=now), None if self._deliver is None else next_delivery(database)]
        until_beat = now + max(0.0, self._next_beat - steady)
        return min([until_beat, *(one for one in found if one is not None)])

    def drain(self, timeout_seconds: float = 60.0) -> None:
        """Wait for current runs and deliveries, and store their results."""
        until = time.monotonic() + timeout_seconds
        for work in [*self._running, *self._abandoned, *(one for _, one in self._sending)]:
            work.thread.join(max(0.0, until - time.monotonic()))
        self._collect(self._connect(), self._clock())

    def run_by_hand(self, job: Job) -> JobRun:
        """Run a job at once, here, with a claim and a lease like any other run; its line in the history is returned."""
        database = self._connect()
        started = claim_by_hand(database, job, owner=self.owner, now=self._clock(), lease_seconds=self._lease)
        if started is None:
            raise CannotDo(
                f"{job.name!r} is already running, and the job allows one run at a time. Wait until it ends."
            )
        work = self._thread(started.job, started.claim)
        work.start(self._run_slot)
        self._running.append(work)
        while work in self._running:
            work.thread.join(self._beat_seconds)
            now = self._clock()
            self._collect(database, now)
            self._give_up_overdue(database, now, self._monotonic())
            self._renew(database, now)
        assert work.finished is not None  # it has left the list, so it was finished
        return work.finished

    def close(self) -> None:
        """Close the connection; call it in the thread that opened it. `run` closes its own."""
        self._forget_connection()

    def _thread(self, job: Job, claim: SlotClaim | None) -> RunThread:
        return RunThread(
            job,
            claim,
            monotonic=self._monotonic,
            stopping=self._stopping,
            wake=self._wake.set,
            redact=self._redact,
        )

    def _connect(self) -> Database:
        if self._database is None:
            self._database = self._open()
            self._next_beat = self._monotonic()
        return self._database

    def _forget_connection(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _notice_jump(self, database: Database, now: float, steady: float) -> None:
        """A wall clock that ran on by more or less than the steady one was set, or the machine slept."""
        if self._seen is not None:
            jump = (now - self._seen[0]) - (steady - self._seen[1])
            if abs(jump) > JUMP_SECONDS:
                what = "forward: the machine slept, or its clock was set" if jump > 0 else "back: its clock was set"
                self._note = f"The clock went {abs(jump):,.0f} s {what}."
                _log.warning("%s", self._note)
                # Schedulers that slept as well look dead until they have renewed their leases.
                self._recover_after = steady + self._lease
                self._next_beat = steady
                if jump < 0:
                    shorten_leases(database, now=now, lease_seconds=self._lease)
        self._seen = now, steady

    def _collect(self, database: Database, now: float) -> None:
        for work in [one for one in self._running if one.is_ended]:
            record = work.record(now)
            finish(database, work.job, work.claim, record, now=now)
            work.finished = record
            # Taken off only now: if the store does not answer, the result is still here for the next tick.
            self._running.remove(work)
        for work in [one for one in self._abandoned if one.is_ended]:
            finish(database, work.job, work.claim, work.record(now), now=now)
            self._abandoned.remove(work)
        for pending, work in [one for one in self._sending if one[1].is_ended]:
            settle_delivery(database, pending, work.delivered(), now=now)
            self._sending.remove((pending, work))

    def _give_up_overdue(self, database: Database, now: float, steady: float) -> None:
        for work in [one for one in self._running if overdue(one, steady, self._lease)]:
            work.pulse.lose()
            reason = f"It did not end within {work.job.timeout_seconds:,.0f} s and could not be stopped."
            work.finished = work.cut_off(now, "failed", "timeout", reason)
            finish(database, work.job, work.claim, work.finished, now=now)
            self._running.remove(work)
            self._abandoned.append(work)

    def _beat(self, database: Database, now: float, steady: float) -> None:
        # Our own leases first: after a sleep they look as dead as those of a scheduler that died.
        self._renew(database, now)
        beat(database, owner=self.owner, host=socket.gethostname(), pid=os.getpid(), now=now, note=self._note)
        if steady >= self._recover_after:
            for record in recover(database, now=now):
                _log.warning("the run of %s is unknown: %s", record.slot.session_id(record.attempt), record.reason)
        self._next_beat = steady + self._beat_seconds

    def _renew(self, database: Database, now: float) -> None:
        if not self._running:
            return
        claims = {one.claim: one for one in self._running}
        _, lost = renew(database, claims, now=now, lease_seconds=self._lease)
        for claim in lost:
            claims[claim].pulse.lose()

    def _plan(self, database: Database, now: float) -> bool:
        """Plan what is due; whether more is left than one call can do."""
        return all(plan_due(database, now=now) for _ in range(_LOOKS_AT_ONCE))

    def _start(self, database: Database, now: float) -> None:
        free = self._runs_at_once - len(self._running)
        if free <= 0 or self._stopping.is_set():
            return
        for started in start_due(database, owner=self.owner, now=now, limit=free, lease_seconds=self._lease):
            work = self._thread(started.job, started.claim)
            self._running.append(work)
            work.start(self._run_slot)

    def _send(self, database: Database, now: float) -> None:
        if self._deliver is None or self._stopping.is_set() or len(self._sending) >= self._runs_at_once:
            return
        for pending in claim_deliveries(database, now=now, limit=self._runs_at_once - len(self._sending)):
            work = self._thread(pending.job, None)
            self._sending.append((pending, work))
            work.start_delivery(self._deliver, pending.record)

    def _sleep(self, until: float) -> None:
        """Until this time, or until something ended, was changed by another process, or the clock was set."""
        ends = self._monotonic() + min(_LONGEST_SLEEP_SECONDS, max(0.0, until - self._clock()))
        while not self._stopping.is_set():
            left = min(ends - self._monotonic(), until - self._clock())
            if left <= 0:
                return
            if self._wake.wait(min(self._poll, left)):
                self._wake.clear()
                return
            if revision(self._connect()) != self._revision:
                return

    def _end(self) -> None:
        database = self._connect()
        until = self._monotonic() + PATIENCE_SECONDS
        while (self._running or self._sending) and self._monotonic() < until:
            self._wake.wait(max(0.0, min(self._beat_seconds, until - self._monotonic())))
            self._wake.clear()
            self._collect(database, self._clock())
            self._renew(database, self._clock())
        now = self._clock()
        for work in self._running:
            record = work.cut_off(now, "unknown", "", "The scheduler was stopped during the run. Check how far it got.")
            finish(database, work.job, work.claim, record, now=now)
        leave(database, owner=self.owner, now=now)
