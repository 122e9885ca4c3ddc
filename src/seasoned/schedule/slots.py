"""Slots: which of them run, planned in the store, claimed under a unique key, leased, finished, or lost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import chain, groupby
from typing import Literal

import msgspec

from seasoned.errors import SeasonedError
from seasoned.schedule.job import Job, JobRun, Slot, SlotClaim, is_delivered
from seasoned.schedule.job_table import StoredJob, add_slot, job_from_row, key_of
from seasoned.schedule.times import local, span_in_words, times
from seasoned.store import Database
from seasoned.text import plural

# A slot that starts no later than this is on time.
GRACE_SECONDS = 60.0
# Slots that are planned in one step; after a long sleep the rest follows at once.
PLANNED_SLOTS = 1000
# Doubled with every attempt, up to an hour.
RETRY_SECONDS = 30.0
_LONGEST_RETRY_SECONDS = 3600.0

# Why a slot is there: its time came, its time was missed, an attempt failed, or a person asked.
Origin = Literal["slot", "late", "retry", "hand"]


class SkippedSlot(msgspec.Struct, frozen=True):
    """A slot that does not run, with the reason; after a long sleep one may represent many."""

    slot: Slot
    reason: str


class SlotPlan(msgspec.Struct, frozen=True):
    """What happens to the due slots of a job, and when the next one is due; None: never."""

    on_time: tuple[Slot, ...]
    late: tuple[Slot, ...]
    skipped: tuple[SkippedSlot, ...]
    next_at: float | None


class WaitingSlot(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that has not started yet."""

    slot: Slot
    attempt: int
    origin: Origin
    # Not before this time.
    start_at: float


class StartNow(msgspec.Struct, frozen=True):
    """The waiting slot may start now."""


class KeepWaiting(msgspec.Struct, frozen=True):
    """The slot waits until another run of the same job ends."""


def plan(job: Job, next_at: float, now: float, *, limit: int = PLANNED_SLOTS) -> SlotPlan:
    """Sort the slots from `next_at` to now by the job's policy for missed runs."""
    due: list[Slot] = []
    following: float | None = None
    for time in chain([next_at], times(job.schedule, job.zone, job.created_at, next_at)):
        if time > now or len(due) == limit:
            following = time
            break
        due.append(Slot(job.id, time))
    is_whole = following is None or following > now
    is_late = [now > start_time(job, slot) + GRACE_SECONDS for slot in due]
    on_time = tuple(slot for slot, late in zip(due, is_late, strict=True) if not late)
    missed = [slot for slot, late in zip(due, is_late, strict=True) if late]
    run_late, skipped = _sort_missed(job, missed, now, stands_in=on_time[0] if on_time else None, is_whole=is_whole)
    return SlotPlan(on_time, run_late, skipped if is_whole else _in_few_lines(job, skipped), following)


def start_time(job: Job, slot: Slot) -> float:
    """When a slot starts: its time and the jitter, which is the same for every scheduler that asks."""
    if not job.jitter_seconds:
        return slot.scheduled_at
    drawn = blake2b(f"{slot.job_id} {slot.scheduled_at!r}".encode(), digest_size=8).digest()
    return slot.scheduled_at + job.jitter_seconds * (int.from_bytes(drawn) / 2**64)


def retry_time(attempt: int, now: float) -> float:
    """When the attempt after this one may start."""
    return now + min(_LONGEST_RETRY_SECONDS, RETRY_SECONDS * 2.0 ** (attempt - 1))


def may_start(
    job: Job, waiting: WaitingSlot, *, runs: int, running: Sequence[Slot], now: float, is_removed: bool = False
) -> StartNow | KeepWaiting | SkippedSlot:
    """Whether a waiting slot starts, goes on waiting, or is skipped. `runs`: slots that this job has started."""
    slot = waiting.slot
    if is_removed:
        return SkippedSlot(slot, "The job was removed before the run started.")
    if waiting.origin != "hand":
        if job.is_paused:
            return SkippedSlot(slot, "The job was paused before the run started.")
        if waiting.origin != "retry" and job.repeat is not None and runs >= job.repeat:
            return SkippedSlot(slot, f"The job has run {plural(job.repeat, 'time')}, as often as it should.")
        if now > latest_start(job, waiting):
            return SkippedSlot(
                slot, f"No scheduler started it in time: it waited {span_in_words(now - waiting.start_at)}."
            )
    if running and job.overlap != "allow":
        if job.overlap == "skip" and waiting.origin == "slot":
            return SkippedSlot(slot, f"The run of {_shown(job, running[0])} was still going on.")
        return KeepWaiting()
    return StartNow()


def latest_start(job: Job, waiting: WaitingSlot) -> float:
    """The last moment at which a waiting slot still starts."""
    if waiting.origin == "slot" and job.missed == "skip" and job.overlap != "queue":
        return waiting.start_at + GRACE_SECONDS
    first = waiting.start_at if waiting.origin == "retry" else waiting.slot.scheduled_at
    return max(waiting.start_at + GRACE_SECONDS, first + job.max_age_seconds)


def _sort_missed(
    job: Job, missed: Sequence[Slot], now: float, *, stands_in: Slot | None, is_whole: bool
) -> tuple[tuple[Slot, ...], tuple[SkippedSlot, ...]]:
    late: list[Slot] = []
    skipped: list[SkippedSlot] = []
    for number, slot in enumerate(missed, start=1):
        # A slot that is on time replaces the missed ones before it.
        is_last = number == len(missed) and is_whole and stands_in is None
        if now - slot.scheduled_at > job.max_age_seconds:
            skipped.append(
                SkippedSlot(slot, f"Missed, and older than {span_in_words(job.max_age_seconds)} when it was noticed.")
            )
        elif job.missed == "skip":
            skipped.append(
                SkippedSlot(slot, "Missed: no scheduler was awake, and missed runs of this job are skipped.")
            )
        elif job.missed == "once" and not is_last:
            skipped.append(SkippedSlot(slot, "Missed: a later run of this job replaces it."))
        else:
            late.append(slot)
    return tuple(late), tuple(skipped)


def _in_few_lines(job: Job, skipped: Sequence[SkippedSlot]) -> tuple[SkippedSlot, ...]:
    """One line for each reason: a year of missed minutes must not fill the store."""
    lines = []
    for reason, group in groupby(skipped, key=lambda one: one.reason):
        slots = [one.slot for one in group]
        more = f" So were {plural(len(slots) - 1, 'slot')} after it, up to {_shown(job, slots[-1])}."
        lines.append(SkippedSlot(slots[0], reason + (more if len(slots) > 1 else "")))
    return tuple(lines)


def _shown(job: Job, slot: Slot) -> str:
    return local(slot.scheduled_at, job.zone).isoformat(sep=" ", timespec="seconds")


# Four heartbeats: a scheduler that misses a few of them still has its runs.
LEASE_SECONDS = 60.0
# In one transaction, so that other schedulers get a turn in between.
JOBS_AT_ONCE = 100
# Not `context`: a window that is too small stays so.
_RETRIED_FAULTS = ("script", "agent", "timeout")


class StartedRun(msgspec.Struct, frozen=True):
    """A slot that was claimed for a run."""

    job: Job
    claim: SlotClaim


def plan_due(database: Database, *, now: float, limit: int = JOBS_AT_ONCE) -> int:
    """Store the due slots, each as waiting or skipped, and advance their jobs; returns how many jobs were due."""
    due = database.rows("schedule.due_jobs", {"now": now, "limit": limit})
    if not due:
        return 0
    with database.write():
        # By id: schedulers that lock jobs in the same order cannot wait for each other in a circle.
        for row in sorted(due, key=lambda one: str(one["id"])):
            try:
                job = msgspec.json.decode(row["document"], type=Job)
                planned = plan(job, row["next_at"], now)
            except (SeasonedError, msgspec.MsgspecError) as error:
                _take_off(database, Slot(row["id"], row["next_at"]), now, error)
                continue
            moved = {"id": job.id, "next_at": planned.next_at, "seen_at": row["next_at"]}
            # The scheduler that advances the job writes its lines; all others find it already advanced.
            if not database.run("schedule.advance_job", moved):
                continue
            for slot in planned.on_time:
                add_slot(database, slot, origin="slot", start_at=start_time(job, slot))
            for slot in planned.late:
                note = "Late: no scheduler was awake at its time."
                add_slot(database, slot, origin="late", start_at=start_time(job, slot), note=note)
            for one in planned.skipped:
                start_at = one.slot.scheduled_at
                add_slot(database, one.slot, origin="slot", start_at=start_at, skipped_at=now, reason=one.reason)
    return len(due)


def _take_off(database: Database, slot: Slot, now: float, error: Exception) -> None:
    """A job that cannot be read here (a zone without data, a field of a later version) must not stop the others."""
    if database.run("schedule.advance_job", {"id": slot.job_id, "next_at": None, "seen_at": slot.scheduled_at}):
        reason = f"The job cannot be planned here and was taken off the schedule ({error}). Fix it, then resume it."
        add_slot(database, slot, origin="slot", start_at=slot.scheduled_at, skipped_at=now, reason=reason)


def start_due(
    database: Database, *, owner: str, now: float, limit: int, lease_seconds: float = LEASE_SECONDS
) -> list[StartedRun]:
    """Claim at most `limit` waiting slots; those that may no longer start are skipped, with a line in the history."""
    started: list[StartedRun] = []
    blocked: set[str] = set()
    while limit > len(started):
        rows = database.rows("schedule.due_slots", {"now": now, "limit": JOBS_AT_ONCE})
        due = [Slot(row["job_id"], row["scheduled_at"]) for row in rows if row["job_id"] not in blocked]
        if not due:
            break
        # Sorted for the same reason as in `plan_due`.
        batch = sorted(due[: limit - len(started)])
        with database.write():
            for slot in batch:
                claimed = _claim(database, slot, owner, now, lease_seconds)
                if isinstance(claimed, KeepWaiting):
                    blocked.add(slot.job_id)
                elif isinstance(claimed, StartedRun):
                    started.append(claimed)
    return started


def claim_by_hand(
    database: Database, job: Job, *, owner: str, now: float, lease_seconds: float = LEASE_SECONDS
) -> StartedRun | None:
    """Claim a run at once for this process; None if the job is running and allows one run at a time."""
    # Never rounded up: a future slot does not start.
    slot = Slot(job.id, math.floor(now * 1000) / 1000)
    with database.write():
        add_slot(database, slot, origin="hand", start_at=slot.scheduled_at, note="Started by hand.")
        claimed = _claim(database, slot, owner, now, lease_seconds)
        if not isinstance(claimed, StartedRun):
            reason = "Asked for by hand while another run of the job was going on."
            database.run("schedule.skip_slot", {**key_of(slot, 1), "now": now, "reason": reason})
            return None
    return claimed


def _claim(
    database: Database, slot: Slot, owner: str, now: float, lease_seconds: float
) -> StartedRun | SkippedSlot | KeepWaiting | None:
    """Claim one waiting slot with its job locked; None: another scheduler has it."""
    locked = database.row("schedule.lock_job", {"id": slot.job_id})
    row = database.row("schedule.waiting_slot", {"job_id": slot.job_id, "scheduled_at": slot.scheduled_at})
    if row is None:
        return None
    if locked is None or row["start_at"] > now:
        return KeepWaiting()
    stored = job_from_row(locked)
    waiting = WaitingSlot(slot=slot, attempt=row["attempt"], origin=row["origin"], start_at=row["start_at"])
    running = [
        Slot(one["job_id"], one["scheduled_at"]) for one in database.rows("schedule.running", {"job_id": slot.job_id})
    ]
    answer = may_start(stored.job, waiting, runs=stored.runs, running=running, now=now, is_removed=stored.is_removed)
    key = key_of(slot, waiting.attempt)
    if isinstance(answer, KeepWaiting):
        return answer
    if isinstance(answer, SkippedSlot):
        database.run("schedule.skip_slot", {**key, "now": now, "reason": answer.reason})
        return answer
    claim = SlotClaim(slot, owner, now + lease_seconds, waiting.attempt)
    if not database.run("schedule.claim_slot", {**key, "owner": owner, "lease_until": claim.lease_until, "now": now}):
        return None
    if waiting.origin in ("slot", "late"):
        _count(database, stored)
    return StartedRun(stored.job, claim)


def _count(database: Database, stored: StoredJob) -> None:
    database.run("schedule.count_run", {"id": stored.job.id})
    if stored.job.repeat is not None and stored.runs + 1 >= stored.job.repeat:
        database.run("schedule.end_job", {"id": stored.job.id})


def renew(
    database: Database, claims: Iterable[SlotClaim], *, now: float, lease_seconds: float = LEASE_SECONDS
) -> tuple[list[SlotClaim], list[SlotClaim]]:
    """Renew leases; returns the claims that are still valid, and those whose runs were marked unknown meanwhile."""
    held: list[SlotClaim] = []
    lost: list[SlotClaim] = []
    until = now + lease_seconds
    with database.write():
        for claim in sorted(claims, key=lambda one: (one.slot, one.attempt)):
            key = key_of(claim.slot, claim.attempt)
            if database.run("schedule.renew", {**key, "owner": claim.owner, "lease_until": until}):
                held.append(msgspec.structs.replace(claim, lease_until=until))
            else:
                lost.append(claim)
    return held, lost


def recover(database: Database, *, now: float) -> list[JobRun]:
    """Mark runs of dead schedulers as unknown; they are tried again only if a second run does no harm."""
    dead = database.rows("schedule.dead_runs", {"now": now, "limit": JOBS_AT_ONCE})
    found: list[JobRun] = []
    if not dead:
        return found
    with database.write():
        for row in dead:
            slot, attempt = Slot(row["job_id"], row["scheduled_at"]), int(row["attempt"])
            reason = f"The scheduler {row['owner']!r} died during the run. It is not known whether the run finished."
            locked = database.row("schedule.lock_job", {"id": slot.job_id})
            job = None if locked is None else job_from_row(locked).job
            delivery = "none" if job is None or not is_delivered(job) else "pending"
            lost = {**key_of(slot, attempt), "owner": row["owner"], "now": now, "reason": reason, "delivery": delivery}
            # Its scheduler renewed the lease or ended the run meanwhile.
            if not database.run("schedule.lose_run", lost):
                continue
            record = JobRun(
                job_id=slot.job_id,
                scheduled_at=slot.scheduled_at,
                attempt=attempt,
                started_at=row["started_at"],
                ended_at=now,
                outcome="unknown",
                reason=reason,
                delivery="pending" if delivery == "pending" else "none",
            )
            found.append(record)
            if job is not None:
                _retry(database, job, record, now)
    return found


def shorten_leases(database: Database, *, now: float, lease_seconds: float = LEASE_SECONDS) -> int:
    """Shorten leases that are too long after the clock was set back; schedulers that are alive renew them."""
    until = now + lease_seconds
    with database.write():
        return database.run("schedule.shorten_leases", {"lease_until": until, "too_late": until + lease_seconds})


def finish(database: Database, job: Job, claim: SlotClaim, record: JobRun, *, now: float) -> bool:
    """Store the result of a run. False: it had been given up before; the late end is only noted."""
    ended_at = now if record.ended_at is None else record.ended_at
    named = msgspec.structs.replace(
        record,
        job_id=claim.slot.job_id,
        scheduled_at=claim.slot.scheduled_at,
        attempt=claim.attempt,
        ended_at=ended_at,
    )
    values = {name: getattr(named, name) for name in JobRun.__struct_fields__} | {"owner": claim.owner}
    with database.write():
        if database.run("schedule.finish", {**values, "was": "running"}):
            _retry(database, job, named, now)
            return True
        # The scheduler was only slow, so what it knows replaces `unknown`.
        late = f"{named.note} Reported after the lease had ended.".strip()
        if database.run("schedule.finish", {**values, "was": "unknown", "note": late}):
            return True
        key = key_of(claim.slot, claim.attempt)
        state = database.row("schedule.run_state", {**key, "owner": claim.owner})
        if state is None:
            return False
        # The same report again, because the store's answer to the first one was lost.
        if (state["outcome"], state["ended_at"]) == (named.outcome, ended_at):
            return True
        database.run("schedule.add_note", {**key, "note": f"The run ended later after all: {named.outcome}."})
        return False


def next_wake(database: Database, *, now: float) -> float | None:
    """When the next slot is due or may start; None if nothing is planned."""
    job = database.row("schedule.next_due")
    slot = database.row("schedule.next_slot", {"now": now})
    found = [job["next_at"] if job else None, slot["start_at"] if slot else None]
    return min((one for one in found if one is not None), default=None)


def _retry(database: Database, job: Job, record: JobRun, now: float) -> None:
    is_worth_it = record.outcome == "unknown" or (record.outcome == "failed" and record.fault in _RETRIED_FAULTS)
    # Asked once more here: a document could have been written by another version, and a second run cannot be undone.
    if not is_worth_it or job.has_side_effects or record.attempt > job.retries:
        return
    note = f"Attempt {record.attempt + 1}: the one before ended {record.outcome}."
    start_at = retry_time(record.attempt, now)
    add_slot(database, record.slot, origin="retry", start_at=start_at, attempt=record.attempt + 1, note=note)
