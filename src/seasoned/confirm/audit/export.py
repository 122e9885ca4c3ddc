"""Exports the head of the audit out of an agent's reach: as a line in a file, or as a signed webhook.

The head is the number and hash of the newest row. With an exported head, `confirm verify` notices that the audit was
cut off or rewritten as a whole, which the chain alone cannot show.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import msgspec

from seasoned.confirm.audit.chain import FIRST, AuditCheck, AuditHead, read_head, verify_chain
from seasoned.confirm.audit.ledger import UsedLedger
from seasoned.confirm.audit.recorded import RecordedState
from seasoned.confirm.policy import AuditRule, check_export
from seasoned.errors import CannotDo, SeasonedError, UsageError
from seasoned.store import Database

SCHEMA = "seasoned/confirm-head/1"
# How soon a changed policy is noticed.
_LOOK_SECONDS = 0.25
_log = logging.getLogger("seasoned.confirm")


# Clocks of machines that share a database may differ by this much.
_CLOCK_SECONDS = 30.0


def full_head(database: Database, used: UsedLedger | None, *, now: float) -> AuditHead:
    """The head with everything that an export proves: the keys of the people who decide, and the used requests."""
    head = read_head(database, now=now)
    count, last = (None, None) if used is None else used.head()
    keys = RecordedState(database).update().public_keys()
    return msgspec.structs.replace(head, keys=keys, used=count, used_hash=last)


def send_head(present: AuditHead, to: str, *, secret: str | None) -> None:
    """Append the head to a file, or post it as a signed webhook; CannotDo if it was not accepted.

    A receiver that writes each body as one line has a file that `confirm verify --heads` reads.
    """
    if "://" not in to:
        add_head(present, Path(to))
        return
    # Here, so that `confirm verify` and exports to files work without the HTTP client.
    from seasoned.confirm.notify.http import call, check, open_client
    from seasoned.confirm.notify.webhook import sign

    if (wrong := check_export(to)) is not None:
        raise UsageError(f"the head cannot be sent to {to!r}: {wrong}")
    if secret is None:
        raise CannotDo("the head is not sent without a signature: set the secret 'webhook_secret'.")
    body = msgspec.json.encode({"schema": SCHEMA, **msgspec.structs.asdict(present)})
    # The same head has the same id, so a receiver recognises a copy.
    headers = sign(secret, message_id=f"head-{present.seq}-{present.hash[:16]}", now=present.at, body=body)
    with open_client() as client:
        check(call(client, "POST", to, body=body, headers=headers, hide=secret), hide=secret)


def add_head(present: AuditHead, file: Path) -> None:
    """Append one line to a file of heads; it is on the disk when this returns."""
    line = msgspec.json.encode(present) + b"\n"
    try:
        # One write in append mode: lines of two services do not mix.
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


def check_heads(database: Database, exported: Iterable[AuditHead], used: UsedLedger | None = None) -> AuditCheck:
    """Whether the audit still contains every exported head, with its keys, and the ledger of used requests its own.

    The first head that does not fit is named.
    """
    found = verify_chain(database)
    if not found.ok:
        return found
    state = RecordedState(database).update()
    for one in exported:
        check = _check_head(database, one, found)
        if check.ok:
            check = _check_exported(database, state, one, found, used)
        if not check.ok:
            return msgspec.structs.replace(check, problems=(check.reason,))
    return found


def _check_exported(
    database: Database, state: RecordedState, exported: AuditHead, found: AuditCheck, used: UsedLedger | None
) -> AuditCheck:
    """Whether the keys, ledger and time in an exported head still fit."""
    for name, public in exported.keys.items():
        key = state.keys.get(public)
        if key is None or key.name != name or key.since > exported.seq:
            reason = f"the key that was exported for {name!r} is not in the audit: it was replaced outside the service"
            return AuditCheck(False, found.rows, exported.seq, reason)
    if used is not None and exported.used is not None:
        wrong = used.head_problem(exported.used, exported.used_hash or "")
        if wrong is not None:
            return AuditCheck(False, found.rows, found.rows + 1, wrong)
    # A row that follows the export cannot be older than it: the clock was wrong.
    early = database.row("confirm.audit_earlier", {"seq": exported.seq, "at": exported.at - _CLOCK_SECONDS})
    if early is not None:
        reason = f"row {early['seq']} says that it is older than the head of row {exported.seq}: the clock was set back"
        return AuditCheck(False, found.rows, int(early["seq"]), reason)
    return found


def _check_head(database: Database, exported: AuditHead, found: AuditCheck) -> AuditCheck:
    if exported.seq == 0:
        if exported.hash == FIRST:
            return found
        return AuditCheck(False, found.rows, 1, "the exported head does not belong to this audit")
    row = database.row("confirm.audit_row", {"seq": exported.seq})
    if row is None:
        reason = f"the exported head is row {exported.seq}, the audit ends at {found.rows}: its end was cut off"
        return AuditCheck(False, found.rows, found.rows + 1, reason)
    if row["hash"] != exported.hash:
        reason = f"row {exported.seq} is not the one that was exported: the audit was rewritten at or before it"
        return AuditCheck(False, found.rows, exported.seq, reason)
    return found


class AuditExporter:
    """Exports the head while the service runs, to where the policy says. Health and metrics show the result."""

    def __init__(
        self,
        read_head: Callable[[], Awaitable[AuditHead]],
        rule: Callable[[], AuditRule],
        secret: Callable[[], str | None],
    ) -> None:
        self._read_head = read_head
        self._rule = rule
        self._secret = secret
        self.exported: AuditHead | None = None
        self.problem: str | None = None
        self.failures = 0

    async def run(self) -> None:
        """Export at once and then at every interval; failures are retried sooner, with growing pauses."""
        # The notifier loads the HTTP client.
        from seasoned.confirm.notify.notifier import DEFAULT_RETRIES

        last: AuditRule | None = None
        attempts, due = 0, 0.0
        while True:
            rule = self._rule()
            if rule != last:
                # A new destination has nothing yet.
                last, attempts, due, self.problem = rule, 0, 0.0, None
            if rule.export is not None and time.monotonic() >= due:
                attempts = 0 if await self._export(rule.export) else attempts + 1
                wait = rule.every_seconds
                due = time.monotonic() + (min(wait, DEFAULT_RETRIES.wait_seconds(attempts)) if attempts else wait)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _export(self, to: str) -> bool:
        try:
            present = await self._read_head()
            await asyncio.to_thread(lambda: send_head(present, to, secret=self._secret()))
        except SeasonedError as error:
            self.failures += 1
            self.problem = str(error)
            _log.warning("the head of the audit was not exported, trying again: %s", error)
            return False
        self.exported, self.problem = present, None
        return True
