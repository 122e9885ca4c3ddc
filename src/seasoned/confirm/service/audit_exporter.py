"""Beside the service: the head of the audit, exported again and again where the policy says."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from seasoned.config import Config, secret
from seasoned.confirm.audit.chain import AuditHead, read_head
from seasoned.confirm.audit.export import send_head
from seasoned.confirm.notify.outbox import DEFAULT_RETRIES
from seasoned.confirm.policy import AuditRule
from seasoned.confirm.request.book import Book
from seasoned.confirm.service.store_threads import StoreThreads
from seasoned.errors import SeasonedError

_LOOK_SECONDS = 0.25
"""How soon a changed policy is noticed."""
_log = logging.getLogger("seasoned.confirm")


class AuditExporter:
    """What was exported last, and why nothing was where that failed; health and counters show both."""

    def __init__(
        self,
        config: Config,
        store: StoreThreads,
        wished: Callable[[], AuditRule],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._store = store
        self._wished = wished
        self._clock = clock
        self.exported: AuditHead | None = None
        self.problem: str | None = None
        self.failures = 0

    async def run(self) -> None:
        """Export at once and then at every interval; what failed is tried again sooner, and ever more slowly."""
        last: AuditRule | None = None
        attempts, due = 0, 0.0
        while True:
            wish = self._wished()
            if wish != last:
                # Another place, or the first: it has nothing yet.
                last, attempts, due, self.problem = wish, 0, 0.0, None
            if wish.export is not None and time.monotonic() >= due:
                attempts = 0 if await self._export(wish.export) else attempts + 1
                wait = wish.every_seconds
                due = time.monotonic() + (min(wait, DEFAULT_RETRIES.wait_seconds(attempts)) if attempts else wait)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _export(self, to: str) -> bool:
        def read(book: Book) -> AuditHead:
            return read_head(book.database, now=self._clock())

        def send(present: AuditHead) -> None:
            send_head(present, to, secret=secret("webhook_secret", self._config.home))

        try:
            present = await self._store.read(read)
            await asyncio.to_thread(send, present)
        except SeasonedError as error:
            self.failures += 1
            self.problem = str(error)
            _log.warning("the head of the audit was not exported, and is tried again: %s", error)
            return False
        self.exported, self.problem = present, None
        return True
