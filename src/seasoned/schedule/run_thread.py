"""One run in its thread: it says that it lives, ends with a record whatever happens, and can be given up."""

from __future__ import annotations

import threading
from collections.abc import Callable

from seasoned.schedule.job import DeliveryResult, HeartbeatCall, Job, JobRun, Slot, SlotClaim

# Does the work of one slot, inside the job's time-out; what it returns is redacted.
RunSlot = Callable[[Job, Slot, HeartbeatCall], JobRun]


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
        """From now on the run is told that it is not wanted any more."""
        self._is_lost = True


class RunThread:
    """Something that goes on in a thread for a scheduler: a run, or handing on an answer."""

    def __init__(
        self, job: Job, claim: SlotClaim | None, *, monotonic: Callable[[], float], stopping: threading.Event
    ) -> None:
        self.job = job
        self._claim = claim
        self.began_at = monotonic()
        self.pulse = RunHeartbeat(claim.attempt if claim else 1, monotonic=monotonic, stopping=stopping)
        self.kept: JobRun | None = None
        self._returned: JobRun | DeliveryResult | None = None
        self._error = "it ended without a word"
        self._ended = threading.Event()
        self.thread = threading.Thread(target=lambda: None)

    @property
    def claim(self) -> SlotClaim:
        assert self._claim is not None  # only deliveries have none
        return self._claim

    @property
    def is_ended(self) -> bool:
        return self._ended.is_set()

    def start(self, run_slot: RunSlot, wake: Callable[[], None], redact: Callable[[str], str]) -> None:
        """Run the slot in a thread of its own."""
        slot = self.claim.slot
        self._launch(lambda: run_slot(self.job, slot, self.pulse), wake, redact, slot.session_id(self.claim.attempt))

    def start_delivery(
        self,
        deliver: Callable[[Job, JobRun], DeliveryResult],
        record: JobRun,
        wake: Callable[[], None],
        redact: Callable[[str], str],
    ) -> None:
        """Hand an answer on in a thread of its own."""
        self._launch(lambda: deliver(self.job, record), wake, redact, f"delivery {record.slot.session_id()}")

    def record(self, now: float) -> JobRun:
        """What came of the run."""
        if isinstance(self._returned, JobRun):
            return self._returned
        return ended_by_scheduler(self, now, fault="agent", reason=f"The run broke off: {self._error}.")

    def delivered(self) -> DeliveryResult:
        """What came of handing an answer on."""
        return self._returned if isinstance(self._returned, DeliveryResult) else DeliveryResult("pending", self._error)

    def _launch(
        self,
        do: Callable[[], JobRun | DeliveryResult],
        wake: Callable[[], None],
        redact: Callable[[str], str],
        name: str,
    ) -> None:
        def work() -> None:
            try:
                self._returned = do()
            except Exception as error:  # noqa: BLE001 one job may break in any way, and the others go on
                self._error = redact(f"{type(error).__name__}: {error}")
            finally:
                self._ended.set()
                wake()

        # A thread cannot be ended from outside: one that hangs must not keep the process from ending.
        self.thread = threading.Thread(target=work, name=name, daemon=True)
        self.thread.start()


def overdue(work: RunThread, steady: float, allowance_seconds: float) -> bool:
    """Whether a run has overrun its time-out, by more than ending it may take, and no longer says that it lives."""
    has_overrun = steady - work.began_at > work.job.timeout_seconds + allowance_seconds
    return has_overrun and not work.is_ended and steady - work.pulse.beat_at > allowance_seconds


def given_up(work: RunThread, now: float) -> JobRun:
    """The line of a run that did not end in time and does not answer."""
    reason = f"It did not end within {work.job.timeout_seconds:,.0f} s and could not be stopped."
    return ended_by_scheduler(work, now, fault="timeout", reason=reason)


def stopped(work: RunThread, now: float) -> JobRun:
    """The line of a run that was still going on when its scheduler was stopped."""
    return JobRun(
        job_id=work.job.id,
        scheduled_at=work.claim.slot.scheduled_at,
        ended_at=now,
        outcome="unknown",
        reason="The scheduler was stopped during the run: nobody knows how far it got.",
        delivery="pending" if is_delivered(work.job) else "none",
    )


def ended_by_scheduler(work: RunThread, now: float, *, fault: str, reason: str) -> JobRun:
    """A failed run that could not speak for itself; a failure is always delivered."""
    return JobRun(
        job_id=work.job.id,
        scheduled_at=work.claim.slot.scheduled_at,
        ended_at=now,
        outcome="failed",
        fault="timeout" if fault == "timeout" else "agent",
        reason=reason,
        delivery="pending" if is_delivered(work.job) else "none",
    )


def is_delivered(job: Job) -> bool:
    """Whether anybody wants to hear of the job at all."""
    return any(one != "none" for one in job.delivery)
