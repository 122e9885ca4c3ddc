"""Errands: what is done beside Hermes' own threads, so that none of them waits longer than it must."""

from __future__ import annotations

import logging
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Full, Queue
from typing import TypeVar

from seasoned.errors import SeasonedError

log = logging.getLogger("seasoned.hermes_plugin")
_QUIET_SECONDS = 60.0


class ErrorBoundary:
    """Around every part that Hermes calls. A part that goes on failing is told once a minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, float] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What fails inside is left undone."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - one call of Hermes: no part of ours may stop it
            self._tell(name, error)

    def _tell(self, name: str, error: Exception) -> None:
        now = self._clock()
        if now - self._told.get(name, float("-inf")) < _QUIET_SECONDS:
            return
        self._told[name] = now
        log.warning("%s was left out: %s", name, words_of(error))


def words_of(error: Exception) -> str:
    """An error of ours in its own words. Of any other only kind and place: its text may hold what somebody said."""
    if isinstance(error, SeasonedError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
    return f"{type(error).__name__} at {place}"


_T = TypeVar("_T")
_MOST = 2000


class _BackgroundTask:
    """One thing to do; `result` is set when it was done."""

    def __init__(self, part: str, work: Callable[[], object]) -> None:
        self.part = part
        self.work = work
        self.result: object = None
        self.done = threading.Event()


class BackgroundThread:
    """One thread that does one thing after the other. It never keeps Hermes from ending."""

    def __init__(self, name: str, shield: ErrorBoundary) -> None:
        self._name = name
        self._shield = shield
        self._lock = threading.Lock()
        self._queue: Queue[_BackgroundTask] = Queue(_MOST)
        self._process: int | None = None

    def tell(self, part: str, work: Callable[[], object]) -> bool:
        """Have something done some time; False where so much waits already that it is left undone."""
        return self._put(_BackgroundTask(part, work))

    def ask(self, part: str, work: Callable[[], _T], *, seconds: float) -> _T | None:
        """What it came to; None where it failed or took longer."""
        errand = _BackgroundTask(part, work)
        if self._put(errand) and errand.done.wait(seconds):
            return errand.result  # type: ignore[return-value]  # what `work` returned
        return None

    def flush(self, seconds: float) -> bool:
        """Wait until all is done that was told so far; whether it was."""
        if self._process != os.getpid():
            return True
        last = _BackgroundTask("flush", lambda: None)
        return self._put(last) and last.done.wait(seconds)

    def _put(self, errand: _BackgroundTask) -> bool:
        with self._lock:
            # After a fork the thread is not there any more.
            if self._process != os.getpid():
                self._queue = Queue(_MOST)
                self._process = os.getpid()
                threading.Thread(target=self._run, args=(self._queue,), name=self._name, daemon=True).start()
            try:
                self._queue.put_nowait(errand)
            except Full:
                return False
        return True

    def _run(self, queue: Queue[_BackgroundTask]) -> None:
        while True:
            errand = queue.get()
            try:
                with self._shield.part(errand.part):
                    errand.result = errand.work()
            finally:
                errand.done.set()
