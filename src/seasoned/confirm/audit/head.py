"""Keeps the head of the audit out of an agent's reach, as a line in a file.

The head is the number and hash of the newest row. With such a file, `confirm verify --heads` notices that the audit
was cut off or rewritten as a whole, which the chain alone cannot show.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from seasoned.confirm.audit.chain import FIRST, AuditCheck, AuditHead, read_head, verify_chain
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.audit.verify import CLOCK_SECONDS
from seasoned.errors import CannotDo, UsageError
from seasoned.store import Database


def full_head(database: Database, *, now: float) -> AuditHead:
    """The head, with the keys of the people who decide."""
    keys = RecordedState(database).update().public_keys()
    return msgspec.structs.replace(read_head(database, now=now), keys=keys)


def add_head(present: AuditHead, file: Path) -> None:
    """Append one line to a file of heads; it is on the disk when this returns."""
    line = msgspec.json.encode(present) + b"\n"
    try:
        # One write in append mode: lines of two processes do not mix.
        handle = os.open(file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise CannotDo(f"the head cannot be written to {str(file)!r}: {error.strerror}") from error


def read_heads(file: Path) -> list[AuditHead]:
    """The heads that were exported to a file, oldest first."""
    try:
        return [msgspec.json.decode(line, type=AuditHead) for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise CannotDo(f"{str(file)!r} cannot be read: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"{str(file)!r} has a line that is not an exported head: {error}") from error


def check_heads(database: Database, exported: Iterable[AuditHead]) -> AuditCheck:
    """Whether the audit still contains every exported head, with its keys; the first that does not fit is named."""
    found = verify_chain(database)
    if not found.ok:
        return found
    state = RecordedState(database).update()
    for one in exported:
        if (wrong := _head_problem(database, state, one, found.rows)) is not None:
            seq, reason = wrong
            return AuditCheck(False, found.rows, seq, reason, problems=(reason,))
    return found


def _head_problem(database: Database, state: RecordedState, exported: AuditHead, rows: int) -> tuple[int, str] | None:
    """The row and the reason why an exported head does not belong to the audit; None if it does."""
    row = database.row("confirm.audit_row", {"seq": exported.seq})
    if row is None and exported.seq > 0:
        return rows + 1, f"the exported head is row {exported.seq}, the audit ends at {rows}: its end was cut off"
    if exported.hash != (FIRST if row is None else row["hash"]):
        reason = f"row {exported.seq} is not the one that was exported: the audit was rewritten at or before it"
        return exported.seq, reason
    for name, public in exported.keys.items():
        key = state.keys.get(public)
        if key is None or key.name != name or key.since > exported.seq:
            reason = f"the key that was exported for {name!r} is not in the audit: it was replaced outside the service"
            return exported.seq, reason
    # A row that follows the export cannot be older than it: the clock was wrong.
    early = database.row("confirm.audit_earlier", {"seq": exported.seq, "at": exported.at - CLOCK_SECONDS})
    if early is None:
        return None
    reason = f"row {early['seq']} says that it is older than the head of row {exported.seq}: the clock was set back"
    return int(early["seq"]), reason
