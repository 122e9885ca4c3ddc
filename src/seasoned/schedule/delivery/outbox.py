"""Answers that still have to be delivered: claimed by one scheduler at a time, retried, given up after a while."""

from __future__ import annotations

import msgspec

from seasoned.schedule.job import DeliveryResult, Job, JobRun
from seasoned.schedule.job_table import job_from_row, key_of, run_from_row
from seasoned.store import Database

TRIES = 8
FIRST_WAIT_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 3600.0
# How long one try may take before another scheduler tries.
HOLD_SECONDS = 300.0


class PendingDelivery(msgspec.Struct, frozen=True):
    """An answer that this scheduler has claimed for delivery."""

    job: Job
    record: JobRun
    # Including this one.
    tries: int


def claim_deliveries(database: Database, *, now: float, limit: int = 10) -> list[PendingDelivery]:
    """Claim the answers that are due; no other scheduler gets them for a while."""
    due = database.rows("schedule.due_deliveries", {"now": now, "limit": limit})
    found: list[PendingDelivery] = []
    if not due:
        return found
    with database.write():
        for row in due:
            record = run_from_row(row)
            key = key_of(record.slot, record.attempt)
            # Changes a row only if no other scheduler has claimed it since it was read.
            if database.run(
                "schedule.claim_delivery", {**key, "until": now + HOLD_SECONDS, "seen_at": row["delivery_at"]}
            ):
                job = database.row("schedule.job", {"id": record.job_id})
                if job is not None:
                    found.append(PendingDelivery(job_from_row(job).job, record, int(row["delivery_attempts"]) + 1))
    return found


def claim_own(database: Database, job: Job, record: JobRun, *, now: float) -> PendingDelivery | None:
    """Claim the answer of a run that just ended here; None if there is none, or another scheduler has it."""
    values = {**key_of(record.slot, record.attempt), "until": now + HOLD_SECONDS, "seen_at": record.ended_at}
    with database.write():
        is_claimed = bool(database.run("schedule.claim_delivery", values))
    return PendingDelivery(job, record, 1) if is_claimed else None


def settle_delivery(
    database: Database, pending: PendingDelivery, delivered: DeliveryResult, *, now: float
) -> DeliveryResult:
    """Store the result of one try: delivered, to be tried again later, or given up."""
    settled = delivered
    if delivered.state == "pending" and pending.tries >= TRIES:
        settled = DeliveryResult("failed", f"given up after {TRIES} tries: {delivered.error}")
    wait = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (pending.tries - 1))
    values = {
        **key_of(pending.record.slot, pending.record.attempt),
        "delivery": settled.state,
        "delivery_error": settled.error,
        "delivery_at": now + wait,
    }
    with database.write():
        database.run("schedule.set_delivery", values)
    return settled


def next_delivery(database: Database) -> float | None:
    """When the next answer is to be delivered; None: there is none."""
    row = database.row("schedule.next_delivery")
    return None if row is None else row["delivery_at"]
