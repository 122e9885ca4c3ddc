"""The clerk in a process of its own, so that what it reads and writes never keeps the event loop waiting."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable

from seasoned.config import Config
from seasoned.errors import StoreError
from seasoned.gateway.account.journal import Journal, UsageEntry
from seasoned.gateway.account.totals import RecordedCounts
from seasoned.gateway.failures import Failures
from seasoned.gateway.proxy.exchange import Exchange, FinishedExchange
from seasoned.gateway.record.recorder import MOST_BYTES, MOST_WAITING, WINDOW_SECONDS, StoreCache, worth_writing
from seasoned.gateway.record.recorder_pipe import Given, Opening, Unwritten, frame, read_told
from seasoned.gateway.settings import GatewaySettings
from seasoned.store import Database, open_database

_SEND_SECONDS = 0.05
_AGAIN_SECONDS = 1.0
_STOP_SECONDS = 15.0
_log = logging.getLogger("seasoned.gateway")


class RecorderProcess:
    """Hands exchanges to a clerk elsewhere. One that ends is started again; what it had in hand may be lost."""

    def __init__(
        self,
        config: Config,
        settings: GatewaySettings,
        *,
        journal: Journal,
        lookout: StoreCache,
        failures: Failures,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config = config
        self._settings = settings
        self._journal = journal
        self._lookout = lookout
        self._failures = failures
        self._clock = clock
        self._given: deque[FinishedExchange] = deque()
        # Each is changed by one thread alone: of two that add to one number at once, one is lost.
        self._given_bytes = self._sent_bytes = 0
        self._sent = 0
        self._done = 0
        self.tally = RecordedCounts()
        self._counted = RecordedCounts()
        """By clerks that have ended."""
        self._unwritten: list[UsageEntry] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._ended_at = float("-inf")
        self._database: Database | None = None
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def waiting(self) -> int:
        return len(self._given) + max(self._sent - self._done, 0)

    def give(self, exchange: Exchange) -> None:
        """Have a turn written down; where the clerk is far behind it is lost, and counted."""
        finished = worth_writing(exchange, records=self._settings.record)
        if finished is None:
            return
        if len(self._given) >= MOST_WAITING or self._given_bytes - self._sent_bytes > MOST_BYTES:
            self._failures.counts["record"] += 1
            return
        self._given_bytes += len(finished.body)
        self._given.append(finished)

    def start(self, *, needs_keys: bool = False) -> None:
        """Load what is known, start the clerk, and look every moment what has changed."""
        self._lookout.open(self._config, self._failures, needs_keys=needs_keys, records=self._settings.record)
        with self._failures.shield("journal"):
            self._journal.prepare()
        self._begin("seasoned-clerk-sending", self._send)
        self._begin("seasoned-lookout", self._look)

    def stop(self) -> None:
        """Hand over what is left, and wait until it is written."""
        self._stopping.set()
        for thread in self._threads[:2]:
            thread.join(_STOP_SECONDS)
        if self._process is None:
            return
        with self._failures.shield("record"):
            self._close_line(self._process)
            self._process.wait(_STOP_SECONDS)

    def _begin(self, name: str, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _look(self) -> None:
        """What the event loop knows from the store, kept fresh; and the journal handed on."""
        while not self._stopping.wait(WINDOW_SECONDS):
            with self._failures.shield("journal"):
                self._unwritten += self._journal.turn()
            with self._failures.shield("store"):
                self._look_once()
        if self._database is not None:
            self._database.close()

    def _look_once(self) -> None:
        try:
            if self._database is None:
                self._database = open_database(self._config)
            self._lookout.look(self._database, now=self._clock())
        except StoreError:
            # A connection that failed is not used again.
            if self._database is not None:
                database, self._database = self._database, None
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
        if process is None:
            return
        try:
            if self._unwritten:
                entries, self._unwritten = self._unwritten, []
                try:
                    self._write(process, frame(Unwritten(entries)))
                except OSError:
                    self._unwritten = entries + self._unwritten
                    raise
            while self._given:
                one = self._given.popleft()
                self._sent_bytes += len(one.body)
                self._sent += 1
                self._write(process, _framed(one))
            if process.stdin is not None:
                process.stdin.flush()
        except OSError:
            self._ended(process)
            raise

    def _write(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(data)

    def _running(self) -> subprocess.Popen[bytes] | None:
        """The process, started where there is none; one that ended is not started again at once."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._process is not None:
            self._ended(self._process)
        if time.monotonic() - self._ended_at < _AGAIN_SECONDS:
            return None
        command = [sys.executable, "-m", "seasoned.gateway.record.recorder_program"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process = process
        self._write(process, frame(Opening(self._config, self._settings)))
        self._begin("seasoned-clerk-hearing", lambda: self._hear(process))
        return process

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """What it had in hand is lost but for its tokens; the next request of a conversation tells most of it again."""
        if process is not self._process:
            return
        lost = max(self._sent - self._done, 0)
        self._process, self._ended_at, self._sent, self._done = None, time.monotonic(), 0, 0
        self._counted = self.tally
        self._failures.counts["record"] += max(lost, 1)
        _log.error("the clerk ended (%s); it is started again", process.poll())
        with self._failures.shield("record"):
            self._close_line(process)

    def _hear(self, process: subprocess.Popen[bytes]) -> None:
        """What the clerk tells."""
        assert process.stdout is not None
        known: dict[str, int] = {}
        with self._failures.shield("record"), process.stdout:
            while (told := read_told(process.stdout)) is not None:
                if process is self._process:
                    self._done = told.done
                    self.tally = _sum(self._counted, told.tally)
                for part, count in told.failed.items():
                    self._failures.counts[part] += count - known.get(part, 0)
                known = told.failed
                for level, line in told.log:
                    _log.log(level, "%s", line)

    def _close_line(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None and not process.stdin.closed:
            try:
                process.stdin.close()
            except BrokenPipeError:
                _log.info("the clerk had ended before its line was closed")


def _sum(one: RecordedCounts, other: RecordedCounts) -> RecordedCounts:
    return RecordedCounts(*[getattr(one, name) + getattr(other, name) for name in RecordedCounts.__struct_fields__])


def _framed(finished: FinishedExchange) -> bytes:
    try:
        return frame(Given(finished))
    except UnicodeEncodeError:
        # Half a character in an answer cannot be sent: the next request says what it was.
        finished.answer = None
        return frame(Given(finished))
