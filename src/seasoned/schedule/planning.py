"""Decides which slots run, which are skipped and why, and which waiting slot may start. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain, groupby
from typing import Literal

import msgspec

from seasoned.schedule.job import Job, Slot
from seasoned.schedule.times import local, span_in_words, times
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
    """A slot that does not run, with the reason; after a long sleep one may stand for many."""

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
        # A slot that is on time stands for the missed ones before it.
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
            skipped.append(SkippedSlot(slot, "Missed: a later run of this job stands for it."))
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
