"""The recorder's process: receives finished exchanges over a pipe, writes them, and reports back.

Both sides send MessagePack over the pipes of the child's stdin and stdout; `multiprocessing.connection` frames it.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import IO

import msgspec

from seasoned.config import Config
from seasoned.gateway.account.journal import FOLDER, UsageEntry, UsageJournal
from seasoned.gateway.account.totals import RecordedCounts, pricing
from seasoned.gateway.failures import Failures
from seasoned.gateway.proxy.exchange import FinishedExchange
from seasoned.gateway.record.example_watch import ExampleWatch
from seasoned.gateway.record.recorder import GatewayRecorder
from seasoned.gateway.settings import GatewaySettings
from seasoned.redact.key import Secrecy, load_key

# Requests come first: the recorder may be late, the event loop may not.
_NICE = 5
_REPORT_SECONDS = 0.2
_FULL_SECONDS = 0.02
_STOP_SECONDS = 60.0


class RecorderStart(msgspec.Struct, tag=True):
    """The first message: what the recorder works with."""

    config: Config
    settings: GatewaySettings


class RecordExchange(msgspec.Struct, tag=True):
    """An exchange to record."""

    finished: FinishedExchange


class AddEntries(msgspec.Struct, tag=True):
    """Journal entries that could not be written to disk."""

    entries: list[UsageEntry]


class RecorderReport(msgspec.Struct, tag=True):
    """What the recorder has done so far, what failed, and what belongs in the log."""

    done: int
    counts: RecordedCounts
    failed: dict[str, int]
    log: list[tuple[int, str]]


ToRecorder = RecorderStart | RecordExchange | AddEntries
# Paths and the like have no form of their own in MessagePack: they go as text.
_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode_message = msgspec.msgpack.Decoder(ToRecorder, dec_hook=lambda kind, value: kind(value)).decode
_decode_report = msgspec.msgpack.Decoder(RecorderReport).decode


def open_pipe(file: IO[bytes], *, readable: bool) -> Connection:
    """A framed connection over one end of a pipe; the file itself is closed."""
    connection = Connection(os.dup(file.fileno()), readable=readable, writable=not readable)
    file.close()
    return connection


def send(pipe: Connection, message: ToRecorder | RecorderReport) -> None:
    """Send a message; OSError if the other side is gone."""
    pipe.send_bytes(_encode(message))


def receive(pipe: Connection) -> ToRecorder | None:
    """The next message to the recorder; None at the end, also if it ends in the middle of one."""
    data = _receive_bytes(pipe)
    return None if data is None else _decode_message(data)


def receive_report(pipe: Connection) -> RecorderReport | None:
    """The recorder's next report; None at the end."""
    data = _receive_bytes(pipe)
    return None if data is None else _decode_report(data)


def _receive_bytes(pipe: Connection) -> bytes | None:
    try:
        return pipe.recv_bytes()
    except (EOFError, OSError):
        return None


class _LogLines(logging.Handler):
    """Collects log lines until the next report."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.levelno, record.getMessage()))

    def take(self) -> list[tuple[int, str]]:
        taken, self._lines = self._lines, []
        return taken


def main() -> None:
    """Record until the gateway closes the pipe or is killed; everything received until then is written."""
    # The end of the pipe stops this process. A signal to the whole process group must not come before it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    incoming = open_pipe(sys.stdin.buffer, readable=True)
    outgoing = open_pipe(sys.stdout.buffer, readable=False)
    # Nothing else may write into the pipe.
    sys.stdout = sys.stderr
    start = receive(incoming)
    if not isinstance(start, RecorderStart):
        return
    config, settings, failures = start.config, start.settings, Failures()
    lines = _LogLines()
    ours = logging.getLogger("seasoned")
    ours.addHandler(lines)
    ours.propagate = False
    journal = UsageJournal(config.home / FOLDER)
    recorder = GatewayRecorder(
        config,
        secrecy=Secrecy(load_key(config.home), config.redact),
        journal=journal,
        failures=failures,
        price=pricing(settings),
        records=settings.record,
        watch=ExampleWatch(settings.experiment),
        pause_seconds=0.0,
        stop_seconds=_STOP_SECONDS,
    )
    # The recorded objects contain no reference cycles, and looking for them takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    recorder.start()
    reporter = _Reporter(outgoing, recorder, failures, lines)
    reporter.start()
    while (message := receive(incoming)) is not None:
        if isinstance(message, RecordExchange):
            while recorder.is_full:
                time.sleep(_FULL_SECONDS)
            recorder.take(message.finished)
            reporter.taken += 1
        elif isinstance(message, AddEntries):
            recorder.add(message.entries)
    # A gateway that was killed left its last lines in the journal.
    with failures.shield("journal"):
        journal.open()
    recorder.stop()
    reporter.stop()


class _Reporter:
    """Reports several times a second what is done, as long as the gateway listens."""

    def __init__(self, pipe: Connection, recorder: GatewayRecorder, failures: Failures, lines: _LogLines) -> None:
        self.taken = 0
        self._pipe = pipe
        self._recorder = recorder
        self._failures = failures
        self._lines = lines
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="seasoned-recorder-report", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopping.wait(_REPORT_SECONDS):
            self._report()
        self._report()

    def _report(self) -> None:
        done = self.taken - self._recorder.waiting
        counts, failed = self._recorder.counts, dict(self._failures.counts)
        try:
            send(self._pipe, RecorderReport(done, counts, failed, self._lines.take()))
        except OSError:
            self._stopping.set()


if __name__ == "__main__":
    main()
