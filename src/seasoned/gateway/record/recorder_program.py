"""The program of a clerk that works in a process of its own: takes frames, writes, and tells what became of them."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import time
from typing import IO

from seasoned.gateway.account.cost import pricing
from seasoned.gateway.account.journal import FOLDER, Journal
from seasoned.gateway.failures import Failures
from seasoned.gateway.record.example_watch import ExampleWatch
from seasoned.gateway.record.recorder import GatewayRecorder
from seasoned.gateway.record.recorder_pipe import Given, Opening, Told, Unwritten, frame, read_given
from seasoned.redact.key import Secrecy, load_key

_NICE = 5
_TELL_SECONDS = 0.2
_FULL_SECONDS = 0.02
_STOP_SECONDS = 60.0


class _Lines(logging.Handler):
    """Keeps what is for the log, until the gateway is told."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._lines: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.levelno, record.getMessage()))

    def take(self) -> list[tuple[int, str]]:
        taken, self._lines = self._lines, []
        return taken


def main() -> None:
    """Work until the gateway closes the line, or is killed; what came until then is written."""
    # Who stops the gateway stops this too, by the end of the line: a signal to all must not come before it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICE)
    given, told = sys.stdin.buffer, sys.stdout.buffer
    # Nothing else may write between two frames.
    sys.stdout = sys.stderr
    opening = read_given(given)
    if not isinstance(opening, Opening):
        return
    config, settings, failures = opening.config, opening.settings, Failures()
    lines = _Lines()
    ours = logging.getLogger("seasoned")
    ours.addHandler(lines)
    ours.propagate = False
    journal = Journal(config.home / FOLDER)
    clerk = GatewayRecorder(
        config,
        secrecy=Secrecy(load_key(config.home), config.redact),
        journal=journal,
        failures=failures,
        price=pricing(settings),
        records=settings.record,
        watch=ExampleWatch(settings.experiment),
        breath_seconds=0.0,
        stop_seconds=_STOP_SECONDS,
    )
    # What is written holds no circles, and looking for them again and again takes a tenth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    clerk.start()
    telling = _Telling(told, clerk, failures, lines)
    telling.start()
    while (message := read_given(given)) is not None:
        if isinstance(message, Given):
            while clerk.is_full:
                time.sleep(_FULL_SECONDS)
            clerk.take(message.finished)
            telling.taken += 1
        elif isinstance(message, Unwritten):
            clerk.add(message.entries)
    # A gateway that was killed left the lines of its last moment.
    with failures.shield("journal"):
        journal.open()
    clerk.stop()
    telling.stop()


class _Telling:
    """Says every moment what is done; a gateway that is gone need not be told."""

    def __init__(self, told: IO[bytes], clerk: GatewayRecorder, failures: Failures, lines: _Lines) -> None:
        self.taken = 0
        self._told = told
        self._clerk = clerk
        self._failures = failures
        self._lines = lines
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="seasoned-telling", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._stopping.wait(_TELL_SECONDS):
            self._tell()
        self._tell()

    def _tell(self) -> None:
        done = self.taken - self._clerk.waiting
        try:
            self._told.write(frame(Told(done, self._clerk.tally, dict(self._failures.counts), self._lines.take())))
            self._told.flush()
        except (OSError, ValueError):
            self._stopping.set()


if __name__ == "__main__":
    main()
