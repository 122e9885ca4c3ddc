"""The text of a delivered answer."""

from __future__ import annotations

from typing import Any

import msgspec

from seasoned.schedule.job import Job, JobRun
from seasoned.schedule.times import local

_TAIL_CHARACTERS = 1_500
_SAID = {
    "ok": "",
    "empty": "The run ended without an answer.",
    "failed": "The run failed.",
    "unknown": "It is not known how the run ended.",
}


class DeliveryMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The text of an answer, for people and for programs."""

    # The same for every try, so that the other side can know a copy.
    id: str
    title: str
    text: str
    # The same for programs.
    data: dict[str, Any]


def message_of(job: Job, record: JobRun) -> DeliveryMessage:
    """The message about a run: its answer alone if it went well, else first what went wrong."""
    parts = [_SAID.get(record.outcome, f"The run is {record.outcome}."), record.reason, record.output.strip()]
    if record.outcome == "failed" and record.fault in ("script", "timeout") and record.script_output.strip():
        tail = record.script_output.strip()[-_TAIL_CHARACTERS:]
        parts.append(f"The script printed:\n{tail}")
    if record.outcome in ("ok", "silent"):
        parts = [record.output.strip()]
    time = local(record.scheduled_at, job.zone)
    state = "" if record.outcome == "ok" else f" – {record.outcome}{f' ({record.fault})' if record.fault else ''}"
    return DeliveryMessage(
        id=record.slot.session_id(record.attempt),
        title=f"{job.name}{state} – {time:%Y-%m-%d %H:%M}",
        text="\n\n".join(part for part in parts if part),
        data={
            "job": {"id": job.id, "name": job.name},
            "scheduled_at": record.scheduled_at,
            "attempt": record.attempt,
            "outcome": record.outcome,
            "fault": record.fault,
            "reason": record.reason,
            "output": record.output,
            "session": record.session,
        },
    )
