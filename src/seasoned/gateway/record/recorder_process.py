"""Recording in a second process, so that reading and writing conversations never delays the event loop.

At 200 requests a second a thread in the same process loses nothing, but requests wait for it:
docs/design/gateway.md has the figures.
"""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection

from seasoned.config import Config
from seasoned.errors import StoreError
from seasoned.gateway.account.journal import UsageEntry, UsageJournal
from seasoned.gateway.account.totals import RecordedCounts
from seasoned.gateway.failures import Failures
from seasoned.gateway.proxy.exchange import Exchange, FinishedExchange
from seasoned.gateway.record.recorder import MOST_BYTES, MOST_WAITING, WINDOW_SECONDS, StoreCache, worth_writing
from seasoned.gateway.record.recorder_program import (
    AddEntries,
    RecorderStart,
    RecordExchange,
    open_pipe,
    receive_report,
    send,
)
from seasoned.gateway.settings import GatewaySettings
from seasoned.store import Database, open_database

_SEND_SECONDS = 0.05
# A recorder that cannot start would otherwise be started in an endless loop.
_RESTART_SECONDS = 1.0
_STOP_SECONDS = 15.0
_log = logging.getLogger("seasoned.gateway")


class RecorderProcess:
    """Sends exchanges to a recorder process, and restarts it if it ends; what it held then may be lost."""

    def __init__(
        self,
        config: Config,
        settings: GatewaySettings,
        *,
        journal: UsageJournal,
        cache: StoreCache,
        failures: Failures,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._settings = settings
        self._journal = journal
        self._cache = cache
        self._failures = failures
        self._clock = clock
        self._given: deque[FinishedExchange] = deque()
        # Each counter is changed by one thread only: if two add at the same time, one addition is lost.
        self._given_bytes = self._sent_bytes = 0
        self._sent = 0
        self._done = 0
        self.counts = RecordedCounts()
        # Of processes that have ended.
        self._earlier_counts = RecordedCounts()
        self._unwritten: list[UsageEntry] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._ended_at = float("-inf")
        self._database: Database | None = None
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def waiting(self) -> int:
        return len(self._given) + max(self._sent - self._done, 0)

    def give(self, exchange: Exchange) -> None:
        """Have an exchange recorded. If the recorder is far behind it is dropped, and counted."""
        finished = worth_writing(exchange, records=self._settings.record)
        if finished is None:
            return
        if len(self._given) >= MOST_WAITING or self._given_bytes - self._sent_bytes > MOST_BYTES:
            self._failures.counts["record"] += 1
            return
        self._given_bytes += len(finished.body)
        self._given.append(finished)

    def start(self, *, needs_keys: bool = False) -> None:
        """Load what the event loop must know, start the recorder, and keep both up to date."""
        self._cache.open(self._config, self._failures, needs_keys=needs_keys, records=self._settings.record)
        with self._failures.shield("journal"):
            self._journal.prepare()
        self._start_thread("seasoned-recorder-send", self._send)
        self._start_thread("seasoned-store-cache", self._refresh)

    def stop(self) -> None:
        """Send what is left, and wait until it is written."""
        self._stopping.set()
        # The first two send and refresh. The others end by themselves when their process does.
        for thread in self._threads[:2]:
            thread.join(_STOP_SECONDS)
        if self._process is None:
            return
        with self._failures.shield("record"):
            self._close_pipe()
            self._process.wait(_STOP_SECONDS)

    def _start_thread(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _refresh(self) -> None:
        """Keep what the event loop knows of the store fresh, and hand the journal over."""
        while not self._stopping.wait(WINDOW_SECONDS):
            with self._failures.shield("journal"):
                self._unwritten += self._journal.turn()
            with self._failures.shield("store"):
                self._refresh_once()
        if self._database is not None:
            self._database.close()

    def _refresh_once(self) -> None:
        try:
            if self._database is None:
                self._database = open_database(self._config)
            self._cache.refresh(self._database, now=self._clock())
        except StoreError:
            # A connection that failed is not used again.
            database, self._database = self._database, None
            if database is not None:
                database.close()
            raise

    def _send(self) -> None:
        while not self._stopping.wait(_SEND_SECONDS):
            with self._failures.shield("record"):
                self._send_all()
        with self._failures.shield("journal"):
            self._unwritten += self._journal.turn()
        with self._failures.shield("record"):
            self._send_all()

    def _send_all(self) -> None:
        process = self._running()
        if process is None or self._pipe is None:
            return
        try:
            if self._unwritten:
                entries, self._unwritten = self._unwritten, []
                try:
                    send(self._pipe, AddEntries(entries))
                except OSError:
                    # Put back in front: entries are tokens that were paid for, and none may be lost.
                    self._unwritten = entries + self._unwritten
                    raise
            while self._given:
                one = self._given.popleft()
                self._sent_bytes += len(one.body)
                self._sent += 1
                _send_exchange(self._pipe, one)
        except OSError:
            self._ended(process)
            raise

    def _running(self) -> subprocess.Popen[bytes] | None:
        """The process, started if there is none; None for a second after one has ended."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._process is not None:
            self._ended(self._process)
        if time.monotonic() - self._ended_at < _RESTART_SECONDS:
            return None
        command = [sys.executable, "-m", "seasoned.gateway.record.recorder_program"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self._pipe = open_pipe(process.stdin, readable=False)
        reports = open_pipe(process.stdout, readable=True)
        send(self._pipe, RecorderStart(self._config, self._settings))
        self._start_thread("seasoned-recorder-reports", lambda: self._receive_reports(process, reports))
        return process

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """Count what the process held as lost. Its tokens are not, and the next request repeats most of its words."""
        if process is not self._process:
            return
        lost = max(self._sent - self._done, 0)
        self._process, self._ended_at, self._sent, self._done = None, time.monotonic(), 0, 0
        self._earlier_counts = self.counts
        self._failures.counts["record"] += max(lost, 1)
        _log.error("the recorder process ended (%s); it is restarted", process.poll())
        with self._failures.shield("record"):
            self._close_pipe()

    def _receive_reports(self, process: subprocess.Popen[bytes], reports: Connection) -> None:
        known: dict[str, int] = {}
        with self._failures.shield("record"), reports:
            while (report := receive_report(reports)) is not None:
                if process is self._process:
                    self._done = report.done
                    self.counts = _sum(self._earlier_counts, report.counts)
                for part, count in report.failed.items():
                    # A report has totals, so only the difference is added.
                    self._failures.counts[part] += count - known.get(part, 0)
                known = report.failed
                for level, line in report.log:
                    _log.log(level, "%s", line)

    def _close_pipe(self) -> None:
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.close()


def _sum(one: RecordedCounts, other: RecordedCounts) -> RecordedCounts:
    fields = RecordedCounts.__struct_fields__
    return RecordedCounts(*[getattr(one, name) + getattr(other, name) for name in fields])


def _send_exchange(pipe: Connection, finished: FinishedExchange) -> None:
    try:
        send(pipe, RecordExchange(finished))
    except UnicodeEncodeError:
        # An answer that was cut in the middle of a character cannot be sent; the next request repeats it.
        finished.answer = None
        send(pipe, RecordExchange(finished))
