"""The outbox: notifications that were stored together with what they report, sent until they arrive or are given up."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import msgspec

from seasoned.confirm.notify.http import NotSent
from seasoned.redact.redactor import Redactor
from seasoned.store import Database
from seasoned.store.interface import DatabaseRow

_MOST_ERROR = 300
_log = logging.getLogger("seasoned.confirm")


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often a delivery is tried, and how long to wait in between."""

    # Then it is given up, and its last error is kept and shown.
    attempts: int = 12
    first_seconds: float = 2.0
    most_seconds: float = 300.0
    # How long a claimed row belongs to one sender; after a crash another one takes it. Longer than any attempt lasts.
    lease_seconds: float = 60.0

    def wait_seconds(self, attempts: int, asked: float = 0.0) -> float:
        """How long to wait after so many attempts: doubled each time, and at least what the receiver asks for."""
        # Bounded, since a float overflows after a thousand doublings.
        doubled = self.first_seconds * 2.0 ** min(attempts - 1, 60)
        return max(min(doubled, self.most_seconds), asked)


DEFAULT_RETRIES = RetryPolicy()


class UnsentNotification(msgspec.Struct, frozen=True, kw_only=True):
    """A notification that has not arrived, and why."""

    id: str
    request_id: str
    event: str
    channel: str
    attempts: int
    next_at: float
    created_at: float
    last_error: str | None
    is_given_up: bool


def unsent(database: Database, *, limit: int = 50, retries: RetryPolicy = DEFAULT_RETRIES) -> list[UnsentNotification]:
    """Notifications that have not arrived, newest first, including those that were given up."""
    names = [name for name in UnsentNotification.__struct_fields__ if name != "is_given_up"]
    return [
        UnsentNotification(**{name: row[name] for name in names}, is_given_up=row["attempts"] >= retries.attempts)
        for row in database.rows("notify.unsent", {"limit": limit})
    ]


class Outbox:
    """Sends the due rows of one channel. No transaction is open while it waits for the receiver.

    `deliver` sends one row or raises NotSent; it returns a note if there was nothing to send.
    """

    def __init__(
        self,
        database: Database,
        channel: str,
        deliver: Callable[[DatabaseRow], str | None],
        *,
        redactor: Redactor,
        clock: Callable[[], float] = time.time,
        retries: RetryPolicy = DEFAULT_RETRIES,
    ) -> None:
        self._database = database
        self._channel = channel
        self._deliver = deliver
        self._redactor = redactor
        self._clock = clock
        self._retries = retries

    def send_due(self) -> int:
        """Try every row that is due now, once. Returns the number of attempts."""
        count = 0
        while (row := self._claim()) is not None:
            count += 1
            self._try(row)
        return count

    def _claim(self) -> DatabaseRow | None:
        """Take one row. Its next time is moved by the lease, so no other sender sees it before."""
        now = self._clock()
        key = {"channel": self._channel, "most": self._retries.attempts}
        with self._database.write():
            # Counts the attempt as well: a row that kills its sender every time is given up in the end.
            return self._database.row("notify.claim", {**key, "now": now, "until": now + self._retries.lease_seconds})

    def _try(self, row: DatabaseRow) -> None:
        try:
            note = self._deliver(row)
        except NotSent as error:
            self._keep_failure(row, error)
            return
        self._run("notify.sent", {"id": row["id"], "sent_at": self._clock(), "note": note})

    def _keep_failure(self, row: DatabaseRow, error: NotSent) -> None:
        attempts, most = row["attempts"], self._retries.attempts
        wait = self._retries.wait_seconds(attempts, error.wait_seconds)
        reason = self._redactor.text(str(error))[:_MOST_ERROR]
        values = {"next_at": self._clock() + wait, "last_error": reason, "is_final": int(error.is_final)}
        self._run("notify.failed", {"id": row["id"], "attempts": attempts, "most": most, **values})
        what_next = "given up" if error.is_final or attempts >= most else f"trying again in {wait:g} s"
        _log.warning("channel %r, request %r: %s (%s)", self._channel, row["request_id"], reason, what_next)

    def _run(self, query: str, params: dict[str, Any]) -> None:
        with self._database.write():
            self._database.run(query, params)
